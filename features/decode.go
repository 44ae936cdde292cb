package features

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	yaml "go.yaml.in/yaml/v3"
)

// Limits of a definition.
const (
	maxName     = 63
	maxText     = 1000
	maxFeatures = 500
	maxKeys     = 4
	maxVersion  = 9999
	maxTTL      = 30 * 24 * time.Hour
	step        = 10 * time.Second // ticks are multiples of it
)

var (
	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	syntaxLine = regexp.MustCompile(`line (\d+): `)

	tiers = []string{"static", "monitoring", "business"}
	units = []string{"none", "ratio", "count", "count_per_second", "seconds", "bytes", "bytes_per_second",
		"hertz", "celsius", "watts", "joules", "volts", "amperes"}

	// A view is also the name of an SQL view in the database of these tables and views.
	reservedViews = []string{"accelerators", "agents", "agents_of_ledger", "backfills", "dead_letters", "devices", "feature_history", "feature_registry", "feature_services", "feature_views", "freshness", "ingest_audit",
		"ingest_ledger", "late_records", "late_records_of_ledger", "repairs", "repairs_pending", "inventories", "inventory_changes", "inventory_links", "inventory_parts", "ledger", "links", "kubernetes_nodes", "kubernetes_nodes_at", "nics", "node_records", "tasks_allocation", "nodes", "nodes_at", "quality",
		"feature_baselines", "feature_changes", "feature_drift", "feature_faults", "feature_profiles", "feature_quality", "feature_skew", "feature_skews",
		"samples", "samples_labelled", "schema_versions", "series", "served_features", "slices",
		"derived_ticks", "sla_events", "task_events", "task_log", "task_log_of_events", "task_snapshots", "tasks", "tasks_at", "tasks_running", "tasks_sla", "tasks_times", "tasks_usage", "unknown_names",
		"rolled_hours", "rolled_tasks", "rolled_allocations", "rolled_devices", "rolled_nodes", "rollup_slots", "prices", "slo_targets", "devices_at", "device_hours",
		"node_hours", "task_hours", "utilization", "utilization_costs", "sample_panes", "pane_fills", "sla_violations", "error_budgets", "regressions", "line_health"}
	reservedFeatures = []string{"tick", "known", "flags", "origin"}
)

// sourcePush is the source of a view whose rows somebody else computes.
const sourcePush = "push"

// decoder reads one file. It goes on after a fault, so that one run shows them all.
type decoder struct {
	file   string
	faults *Faults
}

func (d *decoder) fault(n *yaml.Node, format string, args ...any) {
	d.faults.add(d.file, n.Line, format, args...)
}

// parseDocument reads one YAML document, or notes why it cannot be read.
func parseDocument(file string, text []byte, faults *Faults) document {
	d := &decoder{file: file, faults: faults}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		faults.add(file, 1, "the file is empty")
		return document{file: file}
	case err != nil:
		d.syntax(err)
		return document{file: file}
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		d.fault(&second, "a second document: one file holds one view or service")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
	}
	return document{file, doc.Content[0]}
}

func (d *decoder) syntax(err error) {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = strings.Replace(text, m[0], "", 1)
	}
	d.faults.add(d.file, line, "yaml: %s", text)
}

func (d *decoder) view(n *yaml.Node) *View {
	m, ok := d.mapping(n, "view", "version", "entity", "keys", "tier", "interval", "ttl", "owner", "description", "let", "source", "sql", "features")
	if !ok {
		return nil
	}
	v := &View{File: d.file, Line: n.Line}
	if name := m["view"]; d.required(n, name, "view") {
		v.Name, v.Line = d.name(name, "view"), name.Line
		if base := strings.TrimSuffix(v.Name, "_local"); slices.Contains(reservedViews, base) ||
			strings.HasPrefix(v.Name, "features_") || strings.HasSuffix(v.Name, CorrectedSuffix) {
			d.fault(name, "view: the name %q is taken by a table", v.Name)
		}
	}
	if version := m["version"]; d.required(n, version, "version") {
		v.Version = d.version(version)
	}
	if entity := m["entity"]; d.required(n, entity, "entity") {
		v.Entity = d.name(entity, "entity")
	}
	v.Keys = d.keys(m["keys"], v.Entity)
	if tier := m["tier"]; d.required(n, tier, "tier") {
		v.Tier = d.oneOf(tier, "tier", tiers)
	}
	if interval := m["interval"]; d.required(n, interval, "interval") {
		v.Interval = d.duration(interval, "interval")
		if v.Interval%step != 0 || v.Interval > 24*time.Hour {
			d.fault(interval, "interval: %s is not a multiple of %s up to 24h", interval.Value, step)
		}
	}
	if ttl := m["ttl"]; d.required(n, ttl, "ttl") {
		v.TTL = d.duration(ttl, "ttl")
		if v.TTL > 0 && v.TTL < v.Interval || v.TTL > maxTTL {
			d.fault(ttl, "ttl: %s is not between the interval and 30d", ttl.Value)
		}
	}
	if owner := m["owner"]; d.required(n, owner, "owner") {
		v.Owner = d.text(owner, "owner")
	}
	if desc := m["description"]; d.required(n, desc, "description") {
		v.Description = d.text(desc, "description")
	}
	let := d.let(m["let"])
	if source := m["source"]; source != nil {
		v.Push = d.oneOf(source, "source", []string{sourcePush}) != ""
	}
	if v.Push && m["sql"] != nil {
		d.fault(m["sql"], "sql: has no meaning beside source: %s", sourcePush)
	}
	if sql := m["sql"]; sql != nil {
		v.SQL = d.sql(sql)
	}
	if list := m["features"]; d.required(n, list, "features") {
		v.Features = d.features(list, v, let)
		if v.PromQL() {
			d.long(v)
		}
	}
	for _, x := range let {
		if !x.used {
			d.fault(x.node, "let: %s is never used", x.name)
		}
	}
	return v
}

func (d *decoder) version(n *yaml.Node) int {
	i, err := strconv.Atoi(d.scalar(n, "version"))
	if err != nil || i < 1 || i > maxVersion {
		d.fault(n, "version: %q is not a number from 1 to %d", n.Value, maxVersion)
	}
	return i
}

// keys defaults to the entity's own name: a node is joined on "node".
func (d *decoder) keys(n *yaml.Node, entity string) []string {
	if n == nil {
		return []string{entity}
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || len(n.Content) > maxKeys {
		d.fault(n, "keys: want a list of 1 to %d labels", maxKeys)
		return nil
	}
	var keys []string
	for _, c := range n.Content {
		key := d.name(c, "keys")
		if slices.Contains(keys, key) {
			d.fault(c, "keys: %s is there twice", key)
		}
		keys = append(keys, key)
	}
	return keys
}

func (d *decoder) features(n *yaml.Node, v *View, let []*fragment) []Feature {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || len(n.Content) > maxFeatures {
		d.fault(n, "features: want a list of 1 to %d features", maxFeatures)
		return nil
	}
	lines := make(map[string]int)
	var fs []Feature
	for _, c := range n.Content {
		f := d.feature(c, v, let)
		if line, ok := lines[f.Name]; ok && f.Name != "" {
			d.fault(c, "feature %s is already defined at line %d", f.Name, line)
		}
		lines[f.Name] = f.Line
		fs = append(fs, f)
	}
	return fs
}

func (d *decoder) feature(n *yaml.Node, v *View, let []*fragment) Feature {
	f := Feature{Line: n.Line, Unit: "none"}
	m, ok := d.mapping(n, "name", "expr", "label", "dtype", "unit", "description", "default", "min", "max")
	if !ok {
		return f
	}
	if name := m["name"]; d.required(n, name, "name") {
		f.Name = d.name(name, "name")
		if slices.Contains(reservedFeatures, f.Name) || slices.Contains(v.Keys, f.Name) {
			d.fault(name, "name: %q is a column of every view", f.Name)
		}
	}
	if dtype := m["dtype"]; d.required(n, dtype, "dtype") {
		var err error
		if f.DType, err = ParseDType(d.scalar(dtype, "dtype")); err != nil {
			d.fault(dtype, "feature %s: %v", f.Name, err)
		}
	}
	if unit := m["unit"]; unit != nil {
		f.Unit = d.oneOf(unit, "unit", units)
	}
	if desc := m["description"]; d.required(n, desc, "description") {
		f.Description = d.text(desc, "description")
	}
	f.Default, f.Min, f.Max = d.number(m["default"], "default"), d.number(m["min"], "min"), d.number(m["max"], "max")
	d.bounds(n, f)
	if !v.PromQL() {
		d.columnOnly(m, f)
		return f
	}
	d.label(n, m["label"], &f)
	if expr := m["expr"]; d.required(n, expr, "expr") {
		f.Expr = d.expr(expr, v, f, let)
	}
	return f
}

// label reads the label of a String feature, and refuses it anywhere else.
func (d *decoder) label(n, label *yaml.Node, f *Feature) {
	switch {
	case label == nil && f.DType == String:
		d.fault(n, "feature %s: a string needs label, the label of the result that holds it", f.Name)
	case label != nil && f.DType != String:
		d.fault(label, "feature %s: label belongs to dtype string, not %s", f.Name, f.DType)
	case label != nil:
		if f.Label = d.scalar(label, "label"); !model.LegacyValidation.IsValidLabelName(f.Label) {
			d.fault(label, "feature %s: %q is no label name", f.Name, f.Label)
		}
	}
}

func (d *decoder) bounds(n *yaml.Node, f Feature) {
	if f.DType == String && (f.Default != nil || f.Min != nil || f.Max != nil) {
		d.fault(n, "feature %s: a string has no default, min or max", f.Name)
	}
	if f.Min != nil && f.Max != nil && *f.Min > *f.Max {
		d.fault(n, "feature %s: min %g is above max %g", f.Name, *f.Min, *f.Max)
	}
	if f.Default != nil && (f.Min != nil && *f.Default < *f.Min || f.Max != nil && *f.Default > *f.Max) {
		d.fault(n, "feature %s: default %g is out of range", f.Name, *f.Default)
	}
}
