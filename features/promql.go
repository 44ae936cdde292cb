package features

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// Parse reads one expression with the parser that definitions are checked with. Whoever
// evaluates them uses it too, so that what loads also runs.
func Parse(expr string) (parser.Expr, error) { return NewParser().ParseExpr(expr) }

// NewParser returns the parser of definitions: PromQL without what Prometheus calls
// experimental, but with forecasts.
func NewParser() parser.Parser { return parser.NewParser(parser.Options{Functions: functions}) }

// functions are Prometheus' own. Smoothing with a trend is marked experimental there for
// its name; it has been what it is since holt_winters.
var functions = func() map[string]*parser.Function {
	all := maps.Clone(parser.Functions)
	smoothing := *all["double_exponential_smoothing"]
	smoothing.Experimental = false
	all[smoothing.Name] = &smoothing
	return all
}()

// Window is how far before a tick the view reads: the longest range with its offset, or
// lookback for an expression that takes the latest sample.
func (v *View) Window(lookback time.Duration) (time.Duration, error) {
	var w time.Duration
	if !v.PromQL() {
		return 0, nil // it reads the store, or nothing
	}
	for i := range v.Features {
		reach, err := v.Features[i].Reach(lookback)
		if err != nil {
			return 0, err
		}
		w = max(w, reach)
	}
	return w, nil
}

// Reach is how far before a tick the feature reads: see View.Window.
func (f *Feature) Reach(lookback time.Duration) (time.Duration, error) {
	expr, err := Parse(f.Expr)
	if err != nil {
		return 0, fmt.Errorf("feature %s: %w", f.Name, err)
	}
	return window(expr, lookback), nil
}

// window adds up, for each selector, its own range or the lookback, its offset, and the
// ranges and offsets of the subqueries around it.
func window(expr parser.Expr, lookback time.Duration) time.Duration {
	var w time.Duration
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		vs, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		w = max(w, SelectorReach(vs, path, lookback))
		return nil
	})
	return w
}

// SelectorReach is how far before a tick one selector reads, path being the nodes around it.
func SelectorReach(vs *parser.VectorSelector, path []parser.Node, lookback time.Duration) time.Duration {
	reach := vs.OriginalOffset + lookback
	for _, p := range path {
		switch p := p.(type) {
		case *parser.MatrixSelector:
			reach += p.Range - lookback
		case *parser.SubqueryExpr:
			reach += p.Range + p.OriginalOffset
		}
	}
	return reach
}

// check says what keeps expr from being feature f of v.
func check(expr parser.Expr, v *View, f Feature) []string {
	var faults []string
	switch t := expr.Type(); {
	case t != parser.ValueTypeVector && t != parser.ValueTypeScalar:
		return []string{fmt.Sprintf("gives %s: want an instant vector or a scalar", parser.DocumentedType(t))}
	case t == parser.ValueTypeScalar && f.DType == String:
		return []string{"gives a scalar, which has no label to take a string from"}
	case t == parser.ValueTypeVector:
		want := slices.Clone(v.Keys)
		if f.DType == String {
			want = append(want, f.Label)
		}
		if got, known := resultLabels(expr); known && !sameSet(got, want) {
			faults = append(faults, fmt.Sprintf("gives the labels (%s): want (%s)", strings.Join(got, ", "), strings.Join(want, ", ")))
		}
	}
	faults = append(faults, checkLong(expr)...)
	return append(faults, checkTime(expr)...)
}

// checkTime refuses what would make a row depend on more than the samples before its
// tick, and rates over ranges that can hold one sample only.
func checkTime(expr parser.Expr) []string {
	var faults []string
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			faults = append(faults, timeFaults(n.Timestamp != nil || n.StartOrEnd != 0, n.OriginalOffset)...)
			if n.Anchored || n.Smoothed {
				faults = append(faults, "anchored and smoothed read samples outside the range")
			}
		case *parser.SubqueryExpr:
			faults = append(faults, timeFaults(n.Timestamp != nil || n.StartOrEnd != 0, n.OriginalOffset)...)
		case *parser.DurationExpr:
			faults = append(faults, "a duration that is an expression hides how far back it looks: write it out")
		case *parser.MatrixSelector:
			if call := caller(path); n.Range < minRate && slices.Contains(needTwo, call) {
				faults = append(faults, fmt.Sprintf("%s over %s holds fewer than two samples: at least %s", call, n.Range, minRate))
			}
		}
		return nil
	})
	return faults
}

var needTwo = []string{"rate", "irate", "increase", "delta", "idelta", "deriv", "predict_linear", "double_exponential_smoothing"}

func caller(path []parser.Node) string {
	if len(path) > 0 {
		if call, ok := path[len(path)-1].(*parser.Call); ok {
			return call.Func.Name
		}
	}
	return ""
}

func timeFaults(pinned bool, offset time.Duration) []string {
	var faults []string
	if pinned {
		faults = append(faults, "the @ modifier pins a time: a feature is relative to its tick")
	}
	if offset < 0 {
		faults = append(faults, "a negative offset reads the time after the tick")
	}
	return faults
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}
