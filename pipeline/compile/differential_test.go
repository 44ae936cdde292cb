package compile_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"sextant/features"
	"sextant/pipeline/compile"
	"sextant/pipeline/window"
)

const lookback = 30 * time.Second

// world is one window store, read by the engine and by compiled expressions.
type world struct {
	t      testing.TB
	store  *window.Store
	set    *compile.Set
	engine *promql.Engine
	texts  []string
	progs  []*compile.Program

	compared, failed int // evaluations with equal numbers, and with an error on both sides
}

func newWorld(t testing.TB, texts []string) *world {
	w := &world{t: t, store: window.NewStore(3), engine: promql.NewEngine(promql.EngineOpts{
		MaxSamples: math.MaxInt, Timeout: time.Hour, LookbackDelta: lookback})}
	w.set = compile.NewSet(w.store, lookback)
	for _, text := range texts {
		expr, err := features.Parse(text)
		if err != nil {
			continue // the grammar knows no types of labels: "multiple matches" and the like
		}
		if err := w.store.Keep(expr, lookback); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		p, err := w.set.Compile(expr)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		w.texts, w.progs = append(w.texts, text), append(w.progs, p)
	}
	return w
}

// compare evaluates every expression over every group both ways.
func (w *world) compare(at int64) {
	reader := w.store.NewReader()
	for g := range w.store.Groups() {
		w.set.Begin(g, at)
		reader.Use(g, "")
		for i, text := range w.texts {
			q, err := w.engine.NewInstantQuery(context.Background(), reader, nil, text, time.UnixMilli(at))
			if err != nil {
				w.t.Fatal(err)
			}
			want := q.Exec(context.Background())
			got, err := w.progs[i].Eval()
			if (err != nil) != (want.Err != nil) {
				w.t.Fatalf("group %d at %d: %s\ngot error %v, want %v", g, at, text, err, want.Err)
			}
			if err != nil {
				w.failed++
			} else if diff := w.difference(w.progs[i], got, want.Value); diff != "" {
				w.t.Fatalf("group %d at %d: %s\n%s", g, at, text, diff)
			} else {
				w.compared++
			}
			q.Close()
		}
	}
}

func (w *world) difference(p *compile.Program, got compile.Vector, want parser.Value) string {
	if s, ok := want.(promql.Scalar); ok {
		if !p.Scalar() || len(got.Value) != 1 || !same(got.Value[0], s.V) {
			return fmt.Sprintf("got %v, want %v", got, s)
		}
		return ""
	}
	vec := want.(promql.Vector)
	if p.Scalar() || len(got.Slot) != len(vec) || len(got.Value) != len(vec) {
		return fmt.Sprintf("got %v, want %v", got, vec)
	}
	ls := p.Labels()
	for i, s := range vec {
		if !labels.Equal(ls[got.Slot[i]], s.Metric) || !same(got.Value[i], s.F) {
			return fmt.Sprintf("result %d: got %s %x, want %s %x", i, ls[got.Slot[i]], got.Value[i], s.Metric, s.F)
		}
	}
	return ""
}

// same compares bits. Which of two NaNs an addition hands on is for the compiler to
// choose, and a feature that is NaN is NULL.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// life is a series that may come, go, stand still, be reset and be wrong.
type life struct {
	node   string
	labels labels.Labels
	window *window.Series
	value  float64
	kind   int
	phase  int64 // ms after a tick; 9,999 hits the bounds of ranges and of the lookback
}

// run compares random expressions while random series live.
func run(t testing.TB, seed uint64, exprs, ticks int) *world {
	r := rand.New(rand.NewPCG(seed, 1))
	g := grammar{r}
	texts := make([]string, exprs)
	for i := range texts {
		texts[i] = g.vector(1 + r.IntN(4))
		if r.IntN(20) == 0 {
			texts[i] = g.scalar(3)
		}
	}
	w := newWorld(t, texts)
	w.live(r, ticks)
	return w
}

func (w *world) live(r *rand.Rand, ticks int) {
	var all []*life
	for _, m := range []string{"m0", "m1", "m2", "m3"} {
		for n := range 4 {
			for range 1 + r.IntN(4) {
				l := &life{node: fmt.Sprintf("n%d", n), kind: r.IntN(5), value: r.NormFloat64(), phase: []int64{622, 0, 9_999}[r.IntN(3)]}
				l.labels = labels.FromMap(map[string]string{"__name__": m, "node": l.node, "x": fmt.Sprint(r.IntN(3)), "y": []string{"", "a", "b"}[r.IntN(3)], "z": fmt.Sprint(r.IntN(2))})
				if !known(all, l.labels) {
					all = append(all, l)
				}
			}
		}
	}
	for _, l := range all {
		l.labels = l.labels.WithoutEmpty()
		l.window = w.store.NewSeries(l.node, l.labels)
	}
	now := int64(1_000_000)
	for range ticks {
		now += 10_000
		w.store.SetNext(now)
		for _, l := range all {
			if l.window != nil {
				l.step(r, w.store, now)
			}
		}
		if r.IntN(4) == 0 {
			w.store.Sweep()
		}
		w.compare(now - 1)
	}
}

func known(all []*life, ls labels.Labels) bool {
	for _, l := range all {
		if labels.Equal(l.labels, ls) {
			return true
		}
	}
	return false
}

// step adds the samples of ten seconds.
func (l *life) step(r *rand.Rand, st *window.Store, now int64) {
	at := now - 10_000 + l.phase
	switch r.IntN(24) {
	case 0, 1, 2:
		return // a gap
	case 3:
		l.window.Add(st, at, math.Float64frombits(value.StaleNaN))
		return
	case 4:
		l.window.Add(st, at, []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e308, -1e308}[r.IntN(6)])
		return
	case 5: // out of order, some of them twice
		for range 3 {
			l.window.Add(st, at-int64(r.IntN(12))*1_000, float64(r.IntN(9)))
		}
		return
	case 6:
		l.value = 0
	case 7: // newer than the tick
		l.window.Add(st, now+int64(r.IntN(3_000)), l.value)
	}
	switch l.kind {
	case 0:
		l.value += float64(r.IntN(1000)) / 7
	case 1:
		l.value = r.NormFloat64() * 1e3
	case 2:
		l.value = float64(r.IntN(3) - 1)
	case 3:
		l.value += 1
	}
	l.window.Add(st, at, l.value)
}

// TestEqualsEngine compares random expressions over random series with the engine, bit
// by bit.
func TestEqualsEngine(t *testing.T) {
	deadline := time.Now().Add(4 * time.Second)
	compared, failed, exprs := 0, 0, 0
	for seed := uint64(1); time.Now().Before(deadline) || seed < 8; seed++ {
		w := run(t, seed, 30, 20)
		compared, failed, exprs = compared+w.compared, failed+w.failed, exprs+len(w.texts)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d expressions: %d evaluations with equal bits, %d with an error on both sides", exprs, compared, failed)
	if compared < 10*failed {
		t.Errorf("%d of %d evaluations are errors: they prove little", failed, compared+failed)
	}
}

func FuzzEqualsEngine(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { run(t, seed, 10, 12) })
}
