package catalog

import (
	"go.yaml.in/yaml/v3"

	"sextant/schema/wire"
)

// metric reads one row and adds it, even if it has faults: a later row of the same name
// is a fault of its own.
func (l *loader) metric(n *yaml.Node) {
	keys := l.mapping(n, "name", "kind", "unit", "help", "canonical", "from", "scale", "offset", "min", "max", "blank", "evidence",
		"scope", "raw", "aliases", "when", "add", "rename", "drop", "rank", "fold", "steps_back", "events")
	if keys == nil {
		return
	}
	m := &Metric{Source: l.source.name, Vendor: l.source.vendor, source: l.source, Evidence: l.grade, Scope: l.scope, Newest: l.newest, File: l.file, Line: n.Line}
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
	for _, key := range []string{"canonical", "from", "scale", "offset", "unit", "help", "min", "max", "blank", "add", "rename", "drop", "rank", "fold", "steps_back", "events"} {
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
	l.time(m, keys)
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
