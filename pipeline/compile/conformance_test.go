package compile_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"sextant/pipeline/compile"
	"sextant/pipeline/window"
)

// hybrid is an engine that answers what compiles from a window store, and the rest as
// the engine below it.
type hybrid struct {
	*promql.Engine
	t                 testing.TB
	instant, compiled int // instant queries, and those that were answered here
	reasons           map[string]int
}

// hybridQuery has the warnings of the engine, since the compiled path gives none. The
// scripts allow for a tolerance; here the bits must be those of the engine.
type hybridQuery struct {
	promql.Query
	t     testing.TB
	text  string
	value parser.Value
}

func (q *hybridQuery) Exec(ctx context.Context) *promql.Result {
	res := q.Query.Exec(ctx)
	if res.Err != nil {
		q.t.Errorf("%s: the engine says %v, compiled %v", q.text, res.Err, q.value)
		return res
	}
	if !equal(q.value, res.Value) {
		q.t.Errorf("%s: compiled\n%v, want\n%v", q.text, q.value, res.Value)
	}
	res.Value = q.value
	return res
}

// sorted shows series in the order of their labels, as the window store does. The last
// bit of a sum depends on the order.
type sorted struct{ storage.Queryable }

type sortedQuerier struct{ storage.Querier }

func (s sorted) Querier(mint, maxt int64) (storage.Querier, error) {
	q, err := s.Queryable.Querier(mint, maxt)
	return sortedQuerier{q}, err
}

func (q sortedQuerier) Select(ctx context.Context, _ bool, hints *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	return q.Querier.Select(ctx, true, hints, ms...)
}

func equal(got, want parser.Value) bool {
	if s, ok := got.(promql.Scalar); ok {
		w, ok := want.(promql.Scalar)
		return ok && s.T == w.T && same(s.V, w.V)
	}
	g, w := got.(promql.Vector), want.(promql.Vector)
	return slices.EqualFunc(g, w, func(a, b promql.Sample) bool {
		return labels.Equal(a.Metric, b.Metric) && a.T == b.T && b.H == nil && same(a.F, b.F)
	})
}

// NewInstantQuery implements promql.QueryEngine.
func (h *hybrid) NewInstantQuery(ctx context.Context, q storage.Queryable, opts promql.QueryOpts, text string, ts time.Time) (promql.Query, error) {
	query, err := h.Engine.NewInstantQuery(ctx, sorted{q}, opts, text, ts)
	if err != nil {
		return nil, err
	}
	h.instant++
	value, why := h.answer(ctx, q, opts, text, ts)
	if why != "" {
		h.reasons[why]++
		return query, nil
	}
	h.compiled++
	return &hybridQuery{query, h.t, text, value}, nil
}

// answer evaluates a query by the compiled path, or says why it cannot.
func (h *hybrid) answer(ctx context.Context, q storage.Queryable, opts promql.QueryOpts, text string, ts time.Time) (parser.Value, string) {
	expr, err := parser.NewParser(promqltest.TestParserOpts).ParseExpr(text)
	if err != nil {
		return nil, "does not parse"
	}
	if strings.Contains(text, labels.MetricName) {
		return nil, "the scripts want names dropped at the end only"
	}
	lookback := 5 * time.Minute
	if opts != nil && opts.LookbackDelta() > 0 {
		lookback = opts.LookbackDelta()
	}
	st := window.NewStore(1)
	none, err := parser.NewParser(parser.Options{}).ParseExpr("none")
	if err != nil {
		return nil, err.Error()
	}
	if err := errors.Join(st.Keep(none, lookback), st.Keep(expr, lookback)); err != nil {
		return nil, "reads samples of another time"
	}
	set := compile.NewSet(st, lookback)
	p, err := set.Compile(expr)
	if err != nil {
		return nil, strings.Join(strings.Fields(err.Error() + " x")[:2], " ")
	}
	if why := fill(ctx, st, q, expr, ts); why != "" {
		return nil, why
	}
	set.Begin(0, timestamp.FromTime(ts))
	vec, err := p.Eval()
	if err != nil {
		return nil, err.Error()
	}
	if p.Scalar() {
		return promql.Scalar{T: timestamp.FromTime(ts), V: vec.Value[0]}, ""
	}
	ls := p.Labels()
	out := promql.Vector{}
	for i, slot := range vec.Slot {
		out = append(out, promql.Sample{Metric: ls[slot], T: timestamp.FromTime(ts), F: vec.Value[i]})
	}
	return out, ""
}

// fill copies what an expression reads from a storage into the window store.
func fill(ctx context.Context, st *window.Store, q storage.Queryable, expr parser.Expr, ts time.Time) string {
	st.SetNext(math.MinInt64 / 2) // keep all
	end := timestamp.FromTime(ts)
	querier, err := q.Querier(end-st.History()-1, end)
	if err != nil {
		return err.Error()
	}
	defer querier.Close()
	all := map[string]*window.Series{}
	st.NewSeries("", labels.FromStrings(labels.MetricName, "none")) // so that there is a group
	why := ""
	for _, sel := range parser.ExtractSelectors(expr) {
		set := querier.Select(ctx, true, nil, sel...)
		for set.Next() {
			s := set.At()
			if all[s.Labels().String()] != nil {
				continue
			}
			w := st.NewSeries("", s.Labels())
			all[s.Labels().String()] = w
			it := s.Iterator(nil)
			for v := it.Next(); v != chunkenc.ValNone; v = it.Next() {
				if v != chunkenc.ValFloat {
					return "histograms"
				}
				t, f := it.At()
				if it.AtST() != 0 {
					why = "start timestamps"
				}
				w.Add(st, t, f)
			}
		}
		if set.Err() != nil {
			return set.Err().Error()
		}
	}
	return why
}

// TestConformance runs Prometheus' own scripts. Their range queries go to the engine.
func TestConformance(t *testing.T) {
	h := &hybrid{Engine: promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery), t: t, reasons: map[string]int{}}
	promqltest.RunBuiltinTests(t, h)
	if h.compiled < 700 {
		t.Errorf("%d instant queries were answered by compiled expressions: they were more", h.compiled)
	}
	t.Logf("%d of %d instant queries were answered by compiled expressions", h.compiled, h.instant)
	for why, n := range h.reasons {
		t.Logf("%5d left to the engine: %s", n, why)
	}
}
