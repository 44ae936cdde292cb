package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"sextant/features"
)

// rewrite parses an expression, puts the expressions of recorded series where they are read,
// since what a rule records is no series of ours, and renames labels.
func rewrite(text string, rename, records map[string]string) (parser.Expr, error) {
	text, err := inline(text, records)
	if err != nil {
		return nil, err
	}
	expr, err := features.Parse(text)
	if err != nil {
		return nil, err
	}
	var failed error
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.AggregateExpr:
			renameAll(n.Grouping, rename)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				renameAll(n.VectorMatching.MatchingLabels, rename)
				renameAll(n.VectorMatching.Include, rename)
			}
		case *parser.VectorSelector:
			for _, m := range n.LabelMatchers {
				if to, ok := rename[m.Name]; ok {
					m.Name = to
				}
			}
		case *parser.Call:
			if n.Func.Name == "label_replace" || n.Func.Name == "label_join" {
				failed = fmt.Errorf("%s makes labels: aggregate by those that the series have", n.Func.Name)
			}
		}
		return nil
	})
	return expr, failed
}

// inline writes recorded expressions out. Only a plain selector of the latest value can be
// written out: matchers, ranges and offsets speak of a series that is stored.
func inline(text string, records map[string]string) (string, error) {
	expr, err := features.Parse(text)
	if err != nil {
		return "", err
	}
	var failed error
	var at []*parser.VectorSelector
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		n, ok := node.(*parser.VectorSelector)
		if !ok || !strings.Contains(n.Name, ":") {
			return nil
		}
		if _, ok := records[n.Name]; !ok {
			failed = fmt.Errorf("it reads %s, which another rule records and no target exposes", n.Name)
		} else if len(n.LabelMatchers) > 1 || n.OriginalOffset != 0 || n.Timestamp != nil || n.StartOrEnd != 0 || ranged(path) {
			failed = fmt.Errorf("it reads %s, which another rule records, and not just its latest value", n.Name)
		}
		at = append(at, n)
		return nil
	})
	if failed != nil {
		return "", failed
	}
	slices.SortFunc(at, func(a, b *parser.VectorSelector) int { return int(b.PosRange.Start - a.PosRange.Start) })
	for _, n := range at { // from the end, so that positions before stay right
		text = text[:n.PosRange.Start] + "(" + records[n.Name] + ")" + text[n.PosRange.End:]
	}
	return text, nil
}

// ranged says whether a selector is read over a range.
func ranged(path []parser.Node) bool {
	return slices.ContainsFunc(path, func(n parser.Node) bool {
		switch n.(type) {
		case *parser.MatrixSelector, *parser.SubqueryExpr:
			return true
		}
		return false
	})
}

func renameAll(labels []string, rename map[string]string) {
	for i, l := range labels {
		if to, ok := rename[l]; ok {
			labels[i] = to
		}
	}
}
