package evaluate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"sextant/features"
)

// TestBuiltinCompiles wants no built-in feature to be slow.
func TestBuiltinCompiles(t *testing.T) {
	e := builtin(t, false)
	e.Paths(func(v *features.View, feature string, why error) {
		if why != nil {
			t.Errorf("%s:%s is left to the engine: %v", v.Ref(), feature, why)
		}
	})
}

func TestPaths(t *testing.T) {
	v := &features.View{Name: "v", Keys: []string{"node"}, Interval: 10 * time.Second, Features: []features.Feature{
		{Name: "a", Expr: "max by (node) (m)"}, {Name: "b", Expr: "max by (node) (topk(3, m))"}}}
	e, err := New([]*features.View{v}, Options{Lookback: time.Minute, GroupSize: 2})
	if err != nil {
		t.Fatal(err)
	}
	e.Store().NewSeries("n", labels.FromStrings("__name__", "m", "node", "n")).Add(e.Store(), 15_000, 7)
	rows := e.Tick(20_000, 20_000)
	if len(rows) != 1 || rows[0].Cols[0].Num[0] != 7 || rows[0].Cols[1].Num[0] != 7 {
		t.Fatalf("got %v, want a row of 7 and 7", rows)
	}
	var got []string
	e.Paths(func(_ *features.View, feature string, why error) { got = append(got, fmt.Sprint(feature, ": ", why)) })
	if want := []string{"a: <nil>", "b: aggregation topk"}; !slices.Equal(got, want) {
		t.Errorf("paths %q, want %q", got, want)
	}
	got = nil
	e.Counts(func(_, feature string, c Counts) { got = append(got, fmt.Sprint(feature, c.Compiled, c.Engine)) })
	if want := []string{"a1 0", "b0 1"}; !slices.Equal(got, want) {
		t.Errorf("counts %q, want %q", got, want)
	}
}

func builtin(t *testing.T, reference bool) *Evaluator {
	t.Helper()
	views, err := features.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(views, Options{Lookback: time.Minute, GroupSize: 3, Reference: reference})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestBuiltinEqualsEngine runs the built-in views over series that come, go, lack samples
// and are reset, compiled and by the engine, and wants the same rows to the last bit.
func TestBuiltinEqualsEngine(t *testing.T) {
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 7))
		fast, slow := builtin(t, false), builtin(t, true)
		ts := telemetry(t, r)
		values, rows, has := make([]float64, len(ts)), 0, map[string]bool{}
		for tick := int64(10_000); tick <= 450_000; tick += 10_000 {
			for i := range ts {
				v, ok := step(r, &values[i])
				if !ok {
					continue
				}
				v = ts[i].plausible(v)
				at := tick - 10_000 + ts[i].phase
				for k, e := range []*Evaluator{fast, slow} {
					e.Store().SetNext(tick)
					if w := ts[i].window(e, k); w != nil {
						w.Add(e.Store(), at, v)
					}
				}
			}
			got, want := fast.Tick(tick, tick), slow.Tick(tick, tick)
			if diff := difference(got, want); diff != "" {
				t.Fatalf("seed %d, tick %d: %s", seed, tick, diff)
			}
			for _, r := range want {
				rows += len(r.Tick)
				noteValues(r, has)
			}
			if tick%60_000 == 0 {
				fast.Store().Sweep()
				slow.Store().Sweep()
			}
		}
		if rows < 200 {
			t.Errorf("seed %d: %d rows were compared: too few", seed, rows)
		}
		fast.Counts(func(view, feature string, c Counts) {
			if c.Compiled == 0 {
				t.Errorf("seed %d: %s:%s was not evaluated by its compiled expression", seed, view, feature)
			}
			if !has[view+":"+feature] {
				t.Errorf("seed %d: %s:%s had no value: NULL was compared with NULL", seed, view, feature)
			}
		})
	}
}

// noteValues marks the features that have a value in some row.
func noteValues(r *features.Rows, has map[string]bool) {
	for c, f := range r.View.Features {
		there := func(v float64) bool { return !math.IsNaN(v) }
		if slices.ContainsFunc(r.Cols[c].Num, there) || slices.ContainsFunc(r.Cols[c].Str, func(s string) bool { return s != "" }) {
			has[r.View.Name+":"+f.Name] = true
		}
	}
}

// step moves a value on, or says that there is no sample.
func step(r *rand.Rand, v *float64) (float64, bool) {
	switch r.IntN(40) {
	case 0, 1:
		return 0, false
	case 2:
		return math.Float64frombits(value.StaleNaN), true
	case 3:
		*v = 0
	case 4:
		return []float64{math.NaN(), math.Inf(1), -1}[r.IntN(3)], true
	}
	*v += r.ExpFloat64() * 3
	return *v, true
}

func difference(got, want []*features.Rows) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d views have rows, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.View.Name != w.View.Name || !slices.Equal(g.Tick, w.Tick) || !slices.EqualFunc(g.Keys, w.Keys, slices.Equal) {
			return fmt.Sprintf("rows of %s: %v, want of %s: %v", g.View.Name, g.Keys, w.View.Name, w.Keys)
		}
		for c := range w.Cols {
			f := w.View.Features[c].Name
			if !slices.Equal(g.Cols[c].Str, w.Cols[c].Str) {
				return fmt.Sprintf("%s: %q, want %q", f, g.Cols[c].Str, w.Cols[c].Str)
			}
			for k, v := range w.Cols[c].Num {
				if math.Float64bits(g.Cols[c].Num[k]) != math.Float64bits(v) && !(math.IsNaN(v) && math.IsNaN(g.Cols[c].Num[k])) {
					return fmt.Sprintf("%s of %s: %x, want %x", f, w.Keys[0][k], g.Cols[c].Num[k], v)
				}
			}
		}
	}
	return ""
}
