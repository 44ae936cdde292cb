package pane

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sextant/features"
	"sextant/pipeline/evaluate"
)

// TestCut: the spans of a range lie side by side, panes begin and end with multiples of their
// length, and there are no more of samples than at the ends.
func TestCut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		from := 1_700_000_000_000 + r.Int64N(2*Hour)
		to := from + 1 + r.Int64N(4*Hour)
		if r.IntN(2) == 0 {
			from, to = down(from, Short), up(to, Short)
		}
		at, samples := from, int64(0)
		for _, s := range Cut(from, to) {
			if s.From != at || s.To <= s.From || s.Length > 0 && (s.From%s.Length != 0 || s.To%s.Length != 0) {
				t.Fatalf("[%d, %d) is cut into %+v", from, to, Cut(from, to))
			}
			if at = s.To; s.Length == 0 {
				samples += s.To - s.From
			}
		}
		if at != to || samples >= 2*Short {
			t.Fatalf("[%d, %d) is cut into %+v", from, to, Cut(from, to))
		}
	}
}

// paneOf is the pane of samples, each by itself and then side by side.
func paneOf(times []int64, values []float64) Pane {
	var p Pane
	for i, v := range values {
		p.Append(&Pane{N: 1, FirstT: times[i], LastT: times[i], First: v, Last: v, Min: v, Max: v, Sum: v})
	}
	return p
}

// TestAppend: panes of parts make the pane of the whole, wherever it was cut, and a spread that is
// a millionth of the mean keeps its digits.
func TestAppend(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		n := 2 + r.IntN(300)
		times, values := make([]int64, n), make([]float64, n)
		for i := range n {
			times[i], values[i] = 1_700_000_000_000+int64(i)*10_000+r.Int64N(9000), 1e9+1e3*r.NormFloat64()
		}
		var p Pane
		for from := 0; from < n; {
			to := min(from+1+r.IntN(40), n)
			part := paneOf(times[from:to], values[from:to])
			p.Append(&part)
			from = to
		}
		p.Append(&Pane{})
		var sum, mean, spread, meanT, spreadT, both float64
		for i, v := range values {
			sum += v
			mean += (v - 1e9) / float64(n)
			meanT += float64(times[i]-times[0]) / 1e3 / float64(n)
		}
		for i, v := range values {
			dv, dt := v-1e9-mean, float64(times[i]-times[0])/1e3-meanT
			spread, spreadT, both = spread+dv*dv, spreadT+dt*dt, both+dt*dv
		}
		for name, c := range map[string][2]float64{"sum": {p.Sum, sum}, "spread": {p.Spread, spread}, "mean time": {p.MeanT / 1e3, meanT},
			"spread of times": {p.SpreadT, spreadT}, "both": {p.SpanTV / 1e3, both / 1e3}} {
			if math.Abs(c[0]-c[1]) > 1e-6*max(math.Abs(c[1]), 1) {
				t.Fatalf("%s of %d samples is %v, want %v", name, n, c[0], c[1])
			}
		}
		if whole := paneOf(times, values); p.Resets != whole.Resets || p.Changes != whole.Changes || p.Min != whole.Min || p.Last != values[n-1] || p.LastT != times[n-1] {
			t.Fatalf("%+v, want %+v", p, whole)
		}
	}
}

// TestPlan: what is read of a view, and what stands in the place of its calls.
func TestPlan(t *testing.T) {
	v := &features.View{Name: "v", Version: 1, Keys: []string{"node"}, Interval: time.Minute, Long: true, Features: []features.Feature{
		{Name: "a", Expr: `max by (node) (max_over_time(x[2h])) / max by (node) (x)`},
		{Name: "b", Expr: `sum by (node) (increase(y_total{a="b"}[2h] offset 1h)) + max by (node) (avg_over_time(x[2h]) - rate(z[5m] offset 1d))`},
	}}
	p, err := NewPlan(v, evaluate.Options{Lookback: time.Minute, GroupSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range p.around.Features {
		got = append(got, f.Expr)
	}
	for _, list := range [][]Window{p.Windows, p.Samples} {
		for _, w := range list {
			line := time.Duration(w.From*1e6).String() + " to " + time.Duration(w.To*1e6).String()
			for _, s := range w.Selectors {
				line += " {" + s.Text + "}"
			}
			if w.Whole {
				line += " whole"
			}
			if w.Sums {
				line += " sums"
			}
			got = append(got, line)
		}
	}
	want := []string{
		`max by (node) (label_replace({__call__="0"}, "__call__", "", "", "")) / max by (node) (x{__call__=""})`,
		`sum by (node) (label_replace({__call__="1"}, "__call__", "", "", "")) + max by (node) (label_replace({__call__="2"}, "__call__", "", "", "") - rate(z{__call__=""}[5m] offset 1d))`,
		`2h0m0s to 0s {__name__="x"} sums`,
		`3h0m0s to 1h0m0s {__name__="y_total",a="b"} whole`,
		`1m0s to 0s {__name__="x"}`,
		`24h5m0s to 24h0m0s {__name__="z"}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	v.Features[0].Expr = `max by (node) (quantile_over_time(0.5, x[2h]))`
	if _, err := NewPlan(v, evaluate.Options{Lookback: time.Minute, GroupSize: 1}); err == nil || !strings.Contains(err.Error(), "feature a: quantile_over_time") {
		t.Errorf("%v", err)
	}
}
