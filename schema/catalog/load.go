package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Load reads every *.yaml file in the root of fsys:
//
//	source: node_exporter      # who exposes these
//	evidence: S                # S, D, 3P or ?; a row may have its own
//	metrics:
//	  - name: node_gpu_busy_percent
//	    kind: gauge            # gauge, counter, info, stateset, histogram, summary
//	    unit: ratio            # the canonical one; none for bare numbers
//	    help: Busy share.
//	    canonical: gpu_busy_ratio  # optional
//	    from: percent          # optional: the source's unit; or scale: 0.01
//	    min: 0                 # optional, in the canonical unit
//	    max: 1
//	    blank: [255]           # optional, as exposed
//
// It is strict: an unknown or repeated key, a bad value, or a name given twice in any
// file is a fault. The error holds all of them, each as `file:line: message`.
func Load(fsys fs.FS) (*Catalog, error) {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list catalogue files: %w", err)
	}
	if len(names) == 0 {
		return nil, errors.New("no *.yaml file in the catalogue")
	}
	l := loader{catalog: &Catalog{byName: make(map[string]*Metric)}}
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
	catalog *Catalog
	faults  []error
	file    string // the current one, and its defaults
	source  string
	grade   Evidence
}

func (l *loader) fault(n *yaml.Node, format string, args ...any) {
	l.faults = append(l.faults, fmt.Errorf("%s:%d: %s", l.file, n.Line, fmt.Sprintf(format, args...)))
}

func (l *loader) load(file string, text []byte) {
	l.file, l.source, l.grade = file, "", Unproven
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
	keys := l.mapping(root, "source", "evidence", "metrics")
	if keys == nil {
		return
	}
	l.source = l.text(keys, root, "source")
	if n, ok := keys["evidence"]; ok {
		l.grade = l.evidence(n)
	} else {
		l.fault(root, "evidence is missing")
	}
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
	keys := l.mapping(n, "name", "kind", "unit", "help", "canonical", "from", "scale", "min", "max", "blank", "evidence")
	if keys == nil {
		return
	}
	m := &Metric{Source: l.source, Evidence: l.grade, File: l.file, Line: n.Line}
	m.Name = l.name(keys, n, "name")
	m.Canonical = m.Name
	if _, ok := keys["canonical"]; ok {
		m.Canonical = l.name(keys, n, "canonical")
	}
	m.Kind = l.kind(keys, n)
	m.Help = l.text(keys, n, "help")
	m.Unit, m.Scale = l.unit(keys, n)
	m.Min, m.Max = l.limits(keys, n, m.Kind)
	m.Blank = l.numbers(keys["blank"])
	if grade, ok := keys["evidence"]; ok {
		m.Evidence = l.evidence(grade)
	}
	if m.Scale != 1 && m.Canonical == m.Name {
		l.fault(n, "%s is scaled, so it needs a canonical name: one name must not have two units", m.Name)
	}
	if other, ok := l.catalog.byName[m.Name]; ok {
		l.fault(n, "%s is in the catalogue already, at %s:%d", m.Name, other.File, other.Line)
		return
	}
	l.catalog.byName[m.Name] = m
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
		if v := l.number(factor); v != nil && *v > 0 {
			scale = *v
		} else if v != nil {
			l.fault(factor, "scale %v is not above 0", *v)
		}
	}
	if unit == "none" {
		unit = ""
	}
	return unit, scale
}
