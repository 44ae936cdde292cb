package lineage

import (
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"sextant/features"
)

// expression notes what the PromQL of a feature reads.
func (g *Graph) expression(f *Feature, def *features.Feature, lookback time.Duration) {
	expr, err := features.Parse(def.Expr)
	if err != nil {
		f.Fault = err.Error()
		return
	}
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		vs, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		s := Selector{Text: textOf(vs, path), Seconds: features.SelectorReach(vs, path, lookback).Seconds()}
		for _, metric := range g.metrics(vs) {
			if r := f.read(g, metric); !slices.Contains(r.Selectors, s) {
				r.Selectors = append(r.Selectors, s)
			}
		}
		return nil
	})
}

// textOf is a selector with its range.
func textOf(vs *parser.VectorSelector, path []parser.Node) string {
	if len(path) > 0 {
		if m, ok := path[len(path)-1].(*parser.MatrixSelector); ok {
			return m.String()
		}
	}
	return vs.String()
}

// metrics are the names that a selector reads: the one that it names, or those of the
// catalogue that its matchers of __name__ let through.
func (g *Graph) metrics(vs *parser.VectorSelector) []string {
	var byName []*labels.Matcher
	for _, m := range vs.LabelMatchers {
		if m.Name == labels.MetricName {
			byName = append(byName, m)
		}
	}
	for _, m := range byName {
		if m.Type == labels.MatchEqual && m.Value != "" {
			return []string{m.Value}
		}
	}
	if len(byName) == 0 {
		return nil // labels alone: any metric may have them
	}
	var names []string
	for _, name := range g.names {
		if !slices.ContainsFunc(byName, func(m *labels.Matcher) bool { return !m.Matches(name) }) {
			names = append(names, name)
		}
	}
	return names
}

// Range is the length of the selector's range; 0: it has none.
func (s Selector) Range() time.Duration {
	expr, err := features.Parse(s.Text)
	if m, ok := expr.(*parser.MatrixSelector); ok && err == nil {
		return m.Range
	}
	return 0
}
