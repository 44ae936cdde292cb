package pane

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"sextant/features"
	"sextant/pipeline/evaluate"
)

// Selector is a set of matchers, with a text that is the same for equal sets.
type Selector struct {
	Text     string
	Matchers []*labels.Matcher
}

// Call is a range function over a long range.
type Call struct {
	Func    string
	Seconds float64 // the argument of predict_linear
	Offset  int64   // ms
	window  int     // of Plan.Windows
	of      Selector
}

// Window is a range relative to a tick, [tick − From, tick − To), ms, and what is read of it.
type Window struct {
	From, To  int64
	Whole     bool // the panes of a series are needed one by one; else one for all of a span will do
	Sums      bool // Sum is needed
	Selectors []Selector
}

// Plan is a view that the store computes, taken apart: the calls over long ranges, which are
// computed from panes; and the expressions around them, in which each call is a selector of
// its results. Those are evaluated as in the stream.
type Plan struct {
	View    *features.View
	Windows []Window // that panes fill
	Samples []Window // that are read sample by sample: what else the expressions select

	calls   []Call
	around  *features.View
	options evaluate.Options
}

// resultLabel tells the results of one call from those of others, and noResult from samples.
const resultLabel = "__call__"

var noResult = labels.MustNewMatcher(labels.MatchEqual, resultLabel, "")

// NewPlan takes a view apart. The options are those of the stream.
func NewPlan(v *features.View, o evaluate.Options) (*Plan, error) {
	around := *v
	around.Long, around.Features = false, slices.Clone(v.Features)
	p := &Plan{View: v, around: &around, options: o}
	for i := range around.Features {
		f := &around.Features[i]
		expr, err := features.Parse(f.Expr)
		if err != nil {
			return nil, fmt.Errorf("feature %s: %w", f.Name, err)
		}
		p.read(expr)
		if expr, err = p.replace(expr); err != nil {
			return nil, fmt.Errorf("feature %s: %w", f.Name, err)
		}
		f.Expr = expr.String()
	}
	_, err := evaluate.New([]*features.View{p.around}, o)
	return p, err
}

// read notes what of an expression is read sample by sample.
func (p *Plan) read(expr parser.Expr) {
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		vs, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		near := vs.OriginalOffset
		for _, n := range path {
			switch n := n.(type) {
			case *parser.Call:
				if features.IsLong(n) {
					return nil
				}
			case *parser.SubqueryExpr:
				near += n.OriginalOffset
			}
		}
		far := features.SelectorReach(vs, path, p.options.Lookback)
		p.Samples, _ = note(p.Samples, Window{From: far.Milliseconds(), To: near.Milliseconds()}, selector(vs.LabelMatchers))
		return nil
	})
}

// note adds a selector to the window like w, and returns its index.
func note(list []Window, w Window, s Selector) ([]Window, int) {
	i := slices.IndexFunc(list, func(o Window) bool { return o.From == w.From && o.To == w.To && o.Whole == w.Whole })
	if i < 0 {
		i = len(list)
		list = append(list, w)
	}
	list[i].Sums = list[i].Sums || w.Sums
	if w := &list[i]; !slices.ContainsFunc(w.Selectors, func(o Selector) bool { return o.Text == s.Text }) {
		w.Selectors = append(w.Selectors, s)
	}
	return list, i
}

func selector(ms []*labels.Matcher) Selector {
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = m.String()
	}
	slices.Sort(parts)
	return Selector{strings.Join(parts, ","), ms}
}

// replace puts a selector of results in the place of each long call, and keeps other selectors
// from seeing results.
func (p *Plan) replace(expr parser.Expr) (parser.Expr, error) {
	var err error
	in := func(e *parser.Expr) {
		if *e != nil && err == nil {
			*e, err = p.replace(*e)
		}
	}
	switch n := expr.(type) {
	case *parser.Call:
		if features.IsLong(n) {
			return p.call(n)
		}
		for i := range n.Args {
			in(&n.Args[i])
		}
	case *parser.AggregateExpr:
		in(&n.Expr)
		in(&n.Param)
	case *parser.BinaryExpr:
		in(&n.LHS)
		in(&n.RHS)
	case *parser.ParenExpr:
		in(&n.Expr)
	case *parser.UnaryExpr:
		in(&n.Expr)
	case *parser.SubqueryExpr:
		in(&n.Expr)
	case *parser.MatrixSelector:
		in(&n.VectorSelector)
	case *parser.VectorSelector:
		n.LabelMatchers = append(slices.Clone(n.LabelMatchers), noResult)
	}
	return expr, err
}

// call notes a long call and returns the selector of its results, without the label that
// tells them from others.
func (p *Plan) call(n *parser.Call) (parser.Expr, error) {
	if !slices.Contains(features.PaneFunctions, n.Func.Name) {
		return nil, fmt.Errorf("%s is not computed from panes", n.Func.Name)
	}
	m := n.Args[0].(*parser.MatrixSelector)
	vs := m.VectorSelector.(*parser.VectorSelector)
	c := Call{Func: n.Func.Name, Offset: vs.OriginalOffset.Milliseconds(), of: selector(vs.LabelMatchers)}
	if c.Func == "predict_linear" {
		var ok bool
		if c.Seconds, ok = features.Forecast(n); !ok {
			return nil, fmt.Errorf("%s: its time is no number", n)
		}
	}
	w := Window{From: c.Offset + m.Range.Milliseconds(), To: c.Offset, Whole: !slices.Contains(unordered, c.Func), Sums: slices.Contains(ofSums, c.Func)}
	p.Windows, c.window = note(p.Windows, w, c.of)
	p.calls = append(p.calls, c)
	return features.Parse(fmt.Sprintf(`label_replace({%s="%d"}, "%s", "", "", "")`, resultLabel, len(p.calls)-1, resultLabel))
}

// unordered are the functions that need N, First, Last, Min, Max and Sum of a pane, and nothing
// else; ofSums those of them that need Sum.
var (
	unordered = []string{"avg_over_time", "count_over_time", "first_over_time", "last_over_time", "max_over_time", "min_over_time", "present_over_time", "sum_over_time"}
	ofSums    = []string{"avg_over_time", "sum_over_time"}
)

// keepsName says whether results have the name of the series: of all calls, those that give a
// sample as it is.
func (c *Call) keepsName() bool { return c.Func == "first_over_time" || c.Func == "last_over_time" }

// results are the labels of what call i gives of a series.
func (p *Plan) results(b *labels.Builder, i int, ls labels.Labels) labels.Labels {
	b.Reset(ls)
	if !p.calls[i].keepsName() {
		b.Del(labels.MetricName)
	}
	return b.Set(resultLabel, strconv.Itoa(i)).Labels()
}
