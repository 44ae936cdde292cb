package features

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// How far back expressions may look. The stream keeps every sample of StreamWindow in its
// memory. What looks back further is computed in the store, tick by tick, from panes: what
// a range function needs to know of PaneLength of a series, kept beside the samples.
//
// These are no settings: the page of features, the commands and each process of an
// installation must say the same of a definition.
const (
	StreamWindow = time.Hour
	PaneLength   = 5 * time.Minute

	maxWindow    = 30 * 24 * time.Hour // of a range: as long as samples are kept by default
	maxOffset    = 14 * 24 * time.Hour // to the far end of a range that is read sample by sample
	longInterval = time.Minute         // shortest interval of a view that the store computes
)

// PaneFunctions are those that panes are enough for, whatever the length of the range.
var PaneFunctions = []string{"avg_over_time", "changes", "count_over_time", "delta", "deriv", "first_over_time", "increase", "last_over_time", "max_over_time",
	"min_over_time", "predict_linear", "present_over_time", "rate", "resets", "stddev_over_time", "stdvar_over_time", "sum_over_time"}

// IsLong says whether panes compute a call: a function of a range that is longer than the stream
// keeps.
func IsLong(call *parser.Call) bool {
	for _, arg := range call.Args {
		if m, ok := arg.(*parser.MatrixSelector); ok && m.Range > StreamWindow {
			return true
		}
	}
	return false
}

// FromPanes says whether panes compute some window of the feature.
func (f *Feature) FromPanes() bool {
	expr, err := Parse(f.Expr)
	found := false
	if err == nil {
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			call, ok := node.(*parser.Call)
			found = found || ok && IsLong(call)
			return nil
		})
	}
	return found
}

// Forecast is the argument of predict_linear, s: a number that is written out.
func Forecast(call *parser.Call) (seconds float64, ok bool) {
	arg, sign := call.Args[1], 1.0
	for {
		switch x := arg.(type) {
		case *parser.NumberLiteral:
			return sign * x.Val, true
		case *parser.ParenExpr:
			arg = x.Expr
		case *parser.UnaryExpr:
			if arg = x.Expr; x.Op == parser.SUB {
				sign = -sign
			}
		default:
			return 0, false
		}
	}
}

// checkLong says what of an expression neither the stream's memory nor panes can answer.
func checkLong(expr parser.Expr) []string {
	var faults []string
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		vs, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		if reach := SelectorReach(vs, path, 0); reach > StreamWindow {
			if fault := farFault(path, reach); fault != "" {
				faults = append(faults, fault)
			}
		}
		return nil
	})
	return faults
}

// farFault is what is wrong with a selector that reaches further back than the stream does.
func farFault(path []parser.Node, reach time.Duration) string {
	looks := fmt.Sprintf("looks back %s", reach)
	if slices.ContainsFunc(path, func(n parser.Node) bool { _, ok := n.(*parser.SubqueryExpr); return ok }) {
		return fmt.Sprintf("%s in a subquery: at most %s, or a range function over samples in its place", looks, StreamWindow)
	}
	var call *parser.Call
	if n := len(path); n >= 2 {
		call, _ = path[n-2].(*parser.Call)
	}
	switch {
	case call == nil || !IsLong(call):
		if reach > maxOffset {
			return fmt.Sprintf("%s: at most %s with an offset", looks, maxOffset)
		}
	case !slices.Contains(PaneFunctions, call.Func.Name):
		return fmt.Sprintf("%s with %s: over more than %s the store computes %s; shorten the range to %s, or take one of those",
			looks, call.Func.Name, StreamWindow, strings.Join(PaneFunctions, ", "), StreamWindow)
	case reach > maxWindow:
		return fmt.Sprintf("%s: at most %s", looks, maxWindow)
	case call.Func.Name == "predict_linear":
		if _, ok := Forecast(call); !ok {
			return fmt.Sprintf("%s with predict_linear of a time that is no number: write the seconds out", looks)
		}
	}
	return ""
}

// long decides where the view is computed, and whether it can be there. All its features are,
// where one of them must: the rows of a view come from one evaluator.
func (d *decoder) long(v *View) {
	for i := range v.Features {
		f := &v.Features[i]
		if reach, err := f.Reach(0); err != nil || reach <= StreamWindow {
			continue // what cannot be read is blamed already
		}
		if v.Long = true; v.Interval > 0 && v.Interval < longInterval {
			d.faults.add(d.file, f.Line, "feature %s: looks back more than %s, so the store computes its view, every %s at most: give it a view of its own with a longer interval",
				f.Name, StreamWindow, longInterval)
			return
		}
	}
}
