package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sextant/schema/wire"
)

// Load reads every *.yaml file in the root of fsys:
//
//	source: gpu-exporter       # who exposes these
//	evidence: S                # S, D, 3P or ?; a row may have its own
//	scope: device              # optional default of the rows, see Scope
//	metrics:
//	  - name: gpu_busy_percent
//	    kind: gauge            # gauge, counter, info, stateset, histogram, summary
//	    unit: ratio            # the canonical one; none for bare numbers
//	    help: Busy share.
//	    canonical: accel_busy_ratio  # optional, but for a vendor's metric
//	    from: percent          # optional: the source's unit; or scale: 0.01
//	    offset: 0              # optional, added after scaling
//	    min: 0                 # optional, in the canonical unit
//	    max: 1
//	    blank: [255, int]      # optional, as exposed; a word is a list under blanks
//	    aliases: [gpu_util]    # optional: other names of the same
//	    when: {type: [a, "b*"]}  # optional: the row is for such series only
//	    add: {sensor: core}    # optional: labels of the canonical series
//	    rename: {idx: sensor}  # optional
//	    drop: [err_msg]        # optional
//	    rank: 1                # optional: a fallback for rows of a lower rank
//	    fold: max              # optional: series that differ in nothing else are parts
//	  - {name: gpu_odd, kind: gauge, raw: "unit unknown"}  # a vendor's metric, kept as exposed
//
// A file with a vendor says how its labels name a device:
//
//	vendor: acme
//	claims: [acme_, {prefix: hw_, label: hw_id}]  # unknown names that are this vendor's
//	prefixes: ["", amd_]       # put before every name of the file
//	blanks: {int: [2147483632, 2147483633]}
//	identity:
//	  uid: [UUID, uuid]        # the first that is a value is the device
//	  place: [pci=pci_bus_id, index=gpu]  # for want of a uid
//	  apart: [pci_bus_id]      # differs between two devices that claim one uid
//	  slice: [GPU_I_ID]
//	  split: {mode: [dpx]}     # optional: only then is there a slice
//	  whole: {part: ["", "0"]}  # optional: else a row of scope device tells nothing of it
//	  port: [port]
//	  link: [nvlink]
//	  void: [NA]               # values that are none
//	  not_uid: ["gpu-[0-9]"]   # ids that are but an index
//	  owner: {pod: [exported_pod, pod]}
//	  facts: {model: [modelName]}
//	  parts: {profile: [GPU_I_PROFILE]}
//	  drop: [hostname]
//	  class: accel             # or nic
//
// Rows of one name stand in one file and are tried in its order. Load is strict: an
// unknown or repeated key, a bad value, a row that cannot be reached, or a canonical name
// with two units is a fault. The error holds all of them, each as `file:line: message`.
func Load(fsys fs.FS) (*Catalog, error) {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list catalogue files: %w", err)
	}
	if len(names) == 0 {
		return nil, errors.New("no *.yaml file in the catalogue")
	}
	l := loader{catalog: &Catalog{byName: make(map[string][]*Metric)}, meanings: make(map[string]*Metric)}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read catalogue: %w", err)
		}
		l.load(name, text)
	}
	if len(l.faults) > 0 {
		return nil, errors.Join(l.faults...)
	}
	return l.catalog, nil
}

type loader struct {
	catalog  *Catalog
	faults   []error
	meanings map[string]*Metric // the first row of each canonical name

	// The current file, and its defaults.
	file     string
	source   *source
	grade    Evidence
	scope    Scope
	prefixes []string
	blanks   map[string][]float64
}

func (l *loader) fault(n *yaml.Node, format string, args ...any) {
	l.faults = append(l.faults, fmt.Errorf("%s:%d: %s", l.file, n.Line, fmt.Sprintf(format, args...)))
}

func (l *loader) load(file string, text []byte) {
	l.file, l.grade = file, Unproven
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		l.faults = append(l.faults, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: ")))
		return
	}
	if len(doc.Content) == 0 {
		l.faults = append(l.faults, fmt.Errorf("%s:1: the file is empty", file))
		return
	}
	root := doc.Content[0]
	keys := l.mapping(root, "source", "evidence", "metrics", "vendor", "scope", "claims", "prefixes", "blanks", "identity")
	if keys == nil {
		return
	}
	l.head(keys, root)
	rows, ok := keys["metrics"]
	if !ok || rows.Kind != yaml.SequenceNode {
		l.fault(root, "metrics is missing, or no list")
		return
	}
	for _, row := range rows.Content {
		l.metric(row)
	}
}

// metric reads one row and adds it, even if it has faults: a later row of the same name
// is a fault of its own.
func (l *loader) metric(n *yaml.Node) {
	keys := l.mapping(n, "name", "kind", "unit", "help", "canonical", "from", "scale", "offset", "min", "max", "blank", "evidence",
		"scope", "raw", "aliases", "when", "add", "rename", "drop", "rank", "fold")
	if keys == nil {
		return
	}
	m := &Metric{Source: l.source.name, Vendor: l.source.vendor, source: l.source, Evidence: l.grade, Scope: l.scope, File: l.file, Line: n.Line}
	m.Name = l.name(keys, n, "name")
	m.Canonical = m.Name
	m.Kind = l.kind(keys, n)
	if _, raw := keys["raw"]; raw {
		l.raw(m, keys, n)
	} else {
		l.meaning(m, keys, n)
	}
	m.rule = m.newRule()
	l.labels(m, keys)
	if grade, ok := keys["evidence"]; ok {
		m.Evidence = l.evidence(grade)
	}
	for _, prefix := range l.prefixes {
		for _, name := range append([]string{m.Name}, l.texts(keys["aliases"], "aliases")...) {
			named := *m
			named.Name = prefix + name
			if m.Canonical == m.Name {
				named.Canonical = named.Name
			}
			l.add(&named, n)
		}
	}
}

// raw reads a row that is kept as exposed. Its unit is the source's affair.
func (l *loader) raw(m *Metric, keys map[string]*yaml.Node, n *yaml.Node) {
	m.Raw, m.Scale = l.text(keys, n, "raw"), 1
	m.Help = m.Raw
	for _, key := range []string{"canonical", "from", "scale", "offset", "unit", "help", "min", "max", "blank", "add", "rename", "drop", "rank", "fold"} {
		if k, ok := keys[key]; ok {
			l.fault(k, "raw and %s exclude each other", key)
		}
	}
	if l.source.vendor == "" {
		l.fault(keys["raw"], "raw is for vendors' metrics: the others are kept as exposed anyway")
	}
}

// meaning reads what the values of a row are.
func (l *loader) meaning(m *Metric, keys map[string]*yaml.Node, n *yaml.Node) {
	if _, ok := keys["canonical"]; ok {
		m.Canonical = l.name(keys, n, "canonical")
	} else if l.source.vendor != "" {
		l.fault(n, "%s has neither a canonical name nor raw", m.Name)
	}
	m.Help = l.text(keys, n, "help")
	m.Unit, m.Scale = l.unit(keys, n)
	if k, ok := keys["offset"]; ok {
		if v := l.number(k); v != nil {
			m.Offset = *v
		}
	}
	m.Min, m.Max = l.limits(keys, n, m.Kind)
	m.Blank = l.numbers(keys["blank"])
	if (m.Scale != 1 || m.Offset != 0) && m.Canonical == m.Name {
		l.fault(n, "%s is scaled, so it needs a canonical name: one name must not have two units", m.Name)
	}
	if k, ok := keys["scope"]; ok {
		m.Scope = l.scopeOf(k)
	}
	if other, ok := l.meanings[m.Canonical]; !ok {
		l.meanings[m.Canonical] = m
	} else if other.Unit != m.Unit || other.Kind != m.Kind {
		l.fault(n, "%s is a %s in %q here and a %s in %q at %s:%d", m.Canonical, m.Kind, m.Unit, other.Kind, other.Unit, other.File, other.Line)
	}
}

// add puts a row behind those of its name. A row without conditions ends them.
func (l *loader) add(m *Metric, n *yaml.Node) {
	rows := l.catalog.byName[m.Name]
	if len(rows) > 0 {
		if last := rows[len(rows)-1]; last.File != m.File || len(last.When) == 0 {
			l.fault(n, "%s is in the catalogue already, at %s:%d", m.Name, last.File, last.Line)
			return
		}
	}
	l.catalog.byName[m.Name] = append(rows, m)
}

// mapping returns the values of n by key, or nil if n is no mapping.
func (l *loader) mapping(n *yaml.Node, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		l.fault(n, "want a mapping with keys %s", strings.Join(known, ", "))
		return nil
	}
	keys := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case !slices.Contains(known, key.Value):
			l.fault(key, "unknown key %q, want one of %s", key.Value, strings.Join(known, ", "))
		case keys[key.Value] != nil:
			l.fault(key, "key %s is given twice", key.Value)
		default:
			keys[key.Value] = n.Content[i+1]
		}
	}
	return keys
}

func (l *loader) kind(keys map[string]*yaml.Node, n *yaml.Node) Kind {
	text := l.text(keys, n, "kind")
	if i := slices.Index(kindTexts[1:], text); i >= 0 {
		return Kind(i + 1)
	}
	if text != "" {
		l.fault(keys["kind"], "unknown kind %q, want one of %s", text, strings.Join(kindTexts[1:], ", "))
	}
	return Unknown
}

func (l *loader) evidence(n *yaml.Node) Evidence {
	switch grade := Evidence(n.Value); grade {
	case FromSource, FromDocs, FromThirdParty, Unproven:
		return grade
	}
	l.fault(n, "unknown evidence %q, want S, D, 3P or ?", n.Value)
	return Unproven
}

// unit returns the canonical unit and the scale that leads to it.
func (l *loader) unit(keys map[string]*yaml.Node, n *yaml.Node) (unit string, scale float64) {
	unit, scale = l.text(keys, n, "unit"), 1
	if unit != "" && !units[unit] {
		l.fault(keys["unit"], "unknown unit %q, want one of %s", unit, strings.Join(slices.Sorted(maps.Keys(units)), ", "))
	}
	from, hasFrom := keys["from"]
	factor, hasScale := keys["scale"]
	switch {
	case hasFrom && hasScale:
		l.fault(factor, "from and scale exclude each other")
	case hasFrom:
		c, ok := conversions[from.Value]
		if !ok {
			l.fault(from, "unknown source unit %q, want one of %s", from.Value, strings.Join(slices.Sorted(maps.Keys(conversions)), ", "))
		} else if c.unit != unit {
			l.fault(from, "%s converts to %s, not to %s", from.Value, c.unit, unit)
		} else {
			scale = c.scale
		}
	case hasScale:
		if v := l.number(factor); v != nil && *v != 0 {
			scale = *v
		} else if v != nil {
			l.fault(factor, "scale is 0")
		}
	}
	if unit == "none" {
		unit = ""
	}
	return unit, scale
}

// labels reads which series a row is for and what becomes of their labels.
func (l *loader) labels(m *Metric, keys map[string]*yaml.Node) {
	m.When = l.conditions(keys["when"], "when")
	for _, c := range m.When {
		if c.exact() {
			m.consumedBy = append(m.consumedBy, c.Label)
		}
	}
	l.pairs(keys["add"], "add", func(name, value string) { m.Add = append(m.Add, wire.Label{Name: name, Value: value}) })
	l.pairs(keys["rename"], "rename", func(name, value string) { m.rename = append(m.rename, wire.Label{Name: name, Value: value}) })
	m.drop = l.texts(keys["drop"], "drop")
	if k, ok := keys["rank"]; ok {
		v := l.number(k)
		if v != nil && (*v < 0 || *v > 9 || *v != float64(int(*v))) {
			l.fault(k, "rank %v is no digit", *v)
		} else if v != nil {
			m.Rank = int(*v)
		}
	}
	if k, ok := keys["fold"]; ok {
		if k.Value != "max" {
			l.fault(k, "unknown fold %q, want max", k.Value)
		}
		m.Fold = FoldMax
	}
}
