package lineage

import (
	"fmt"
	"slices"
	"strings"
)

// Unknown is the error of a name that is not there.
type Unknown struct{ text string }

func (e *Unknown) Error() string { return e.text }

func unknown(format string, args ...any) error { return &Unknown{fmt.Sprintf(format, args...)} }

// Feature finds one feature: view:name, or view@v2:name.
func (g *Graph) Feature(ref string) (*Feature, error) {
	view, name, ok := strings.Cut(ref, ":")
	if !ok {
		return nil, unknown("%.100q has no view: want view:feature", ref)
	}
	v, ok := g.set.View(view)
	if !ok {
		return nil, unknown("view %.100q is not defined", view)
	}
	f, ok := g.byRef[v.Ref()+":"+name]
	if !ok {
		return nil, unknown("view %s has no feature %.100q", v.Ref(), name)
	}
	return f, nil
}

// Metric finds a canonical metric and the features that read it. One that is only exposed, and
// stored under another name, is named with that.
func (g *Graph) Metric(name string) (*Metric, error) {
	m := &Metric{Name: name, Origins: g.originsOf(name), Features: []Feature{}}
	for _, f := range g.order {
		if slices.ContainsFunc(f.Reads, func(r Read) bool { return r.Metric == name }) {
			m.Features = append(m.Features, *f)
		}
	}
	if len(m.Origins) > 0 || len(m.Features) > 0 {
		return m, nil
	}
	for _, canonical := range g.names {
		for _, o := range g.origins[canonical] {
			if o.Exposed() == name {
				return nil, unknown("metric %.100q of %s is stored as %s", name, o.Exporter, canonical)
			}
		}
	}
	return nil, unknown("metric %.100q is not in the catalogue, and no feature reads it", name)
}

// Service finds a service, by name or name@v1.
func (g *Graph) Service(ref string) (*Service, error) {
	s, ok := g.set.Service(ref)
	if !ok {
		return nil, unknown("service %.100q is not defined", ref)
	}
	out := &Service{Ref: s.Ref(), Model: s.Model, Features: make([]Feature, 0, len(s.Columns))}
	for _, c := range s.Columns {
		out.Features = append(out.Features, *g.byRef[c.Ref()])
	}
	return out, nil
}

// All is every feature, by view and in the order of its definition.
func (g *Graph) All() []*Feature { return g.order }
