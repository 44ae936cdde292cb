package features

import (
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
)

// ResultLabels is the set of labels that expr's series have, besides the name, and whether
// the text alone decides it.
func ResultLabels(expr parser.Expr) ([]string, bool) {
	labels, decided := resultLabels(expr)
	return slices.Clone(labels), decided
}

// resultLabels is the set of labels that expr's series have, where the text alone decides
// it. The name of the metric does not count. It says false rather than guess.
func resultLabels(expr parser.Expr) ([]string, bool) {
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return resultLabels(e.Expr)
	case *parser.UnaryExpr:
		return resultLabels(e.Expr)
	case *parser.AggregateExpr:
		return aggregateLabels(e)
	case *parser.Call:
		return callLabels(e)
	case *parser.BinaryExpr:
		return binaryLabels(e)
	}
	return nil, false
}

func aggregateLabels(e *parser.AggregateExpr) ([]string, bool) {
	switch e.Op {
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return resultLabels(e.Expr) // these choose among series and keep their labels
	case parser.COUNT_VALUES:
		return nil, false
	}
	return e.Grouping, !e.Without
}

// keepLabels are functions of one vector that change values and leave labels alone.
var keepLabels = []string{"abs", "ceil", "floor", "round", "clamp", "clamp_min", "clamp_max", "exp", "ln", "log2", "log10",
	"sqrt", "sgn", "sort", "sort_desc", "timestamp"}

func callLabels(e *parser.Call) ([]string, bool) {
	switch {
	case e.Func.Name == "vector":
		return nil, true
	case slices.Contains(keepLabels, e.Func.Name):
		return resultLabels(e.Args[0])
	}
	return nil, false
}

func binaryLabels(e *parser.BinaryExpr) ([]string, bool) {
	switch {
	case e.VectorMatching == nil && e.LHS.Type() == parser.ValueTypeScalar:
		return resultLabels(e.RHS)
	case e.VectorMatching == nil:
		return resultLabels(e.LHS)
	}
	left, known := resultLabels(e.LHS)
	switch m := e.VectorMatching; {
	case e.Op == parser.LOR:
		// Series of both sides pass. One side that is decided decides: where the sides
		// differ, the other one would be wrong instead.
		if !known {
			return resultLabels(e.RHS)
		}
		return left, true
	case m.Card == parser.CardManyToMany: // and, unless
		return left, known
	case m.Card != parser.CardOneToOne:
		return nil, false
	case m.On && known:
		return intersect(left, m.MatchingLabels), true
	case m.On:
		return nil, false
	default:
		return subtract(left, m.MatchingLabels), known
	}
}

func intersect(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

func subtract(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
