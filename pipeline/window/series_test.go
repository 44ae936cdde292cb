package window

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

func newStore(t *testing.T, expr string) *Store {
	t.Helper()
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Fatal(err)
	}
	st := NewStore(2)
	if err := st.Keep(e, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	return st
}

type point struct {
	t int64
	v float64
}

func pointsOf(w Span) []point {
	var out []point
	for i, v := range w.V {
		out = append(out, point{w.Time(i), v})
	}
	return out
}

// TestSeriesAgainstSet adds points in any order while time goes on, and compares what
// the series shows with a plain set.
func TestSeriesAgainstSet(t *testing.T) {
	st := newStore(t, `rate(m[1m])`)
	s := st.NewSeries("n", labels.FromStrings("__name__", "m", "node", "n"))
	st.Buffers([]*Series{s}, 10_000)
	r := rand.New(rand.NewPCG(1, 1))
	set := map[int64]float64{}
	now := int64(1_000_000)
	for range 5_000 {
		now += int64(r.IntN(4_000))
		st.SetNext(now/10_000*10_000 + 10_000)
		at := now - int64(r.IntN(9_000))/500*500
		_, had := set[at]
		if s.Has(at) != had {
			t.Fatalf("has %d: %v, want %v", at, !had, had)
		}
		if s.Add(st, at, float64(now)) == had {
			t.Fatalf("added %d: %v, want %v", at, had, !had)
		}
		if !had {
			set[at] = float64(now)
		}
		lo := st.next - 60_000 + int64(r.IntN(50_000))
		hi := lo + int64(r.IntN(60_000))
		var want []point
		for t, v := range set {
			if t >= lo && t <= hi {
				want = append(want, point{t, v})
			}
		}
		slices.SortFunc(want, func(a, b point) int { return int(a.t - b.t) })
		if got := pointsOf(s.span(lo, hi)); !slices.Equal(got, want) {
			t.Fatalf("[%d, %d]: got %v, want %v", lo, hi, got, want)
		}
	}
	if len(s.values) > 200 {
		t.Errorf("%d points are held for a range of 1 min", len(s.values))
	}
}

// TestSeriesForMonths lets time go on for longer than 32 bits of milliseconds, in steps
// and in one leap.
func TestSeriesForMonths(t *testing.T) {
	st := newStore(t, `rate(m[1h])`)
	s := st.NewSeries("n", labels.FromStrings("__name__", "m", "node", "n"))
	st.Buffers([]*Series{s}, 10_000)
	r := rand.New(rand.NewPCG(2, 1))
	const day = 24 * 3_600_000
	now, value := int64(1_796_083_200_000), 0.0
	var all []point
	for end := now + 100*day; now < end; {
		now += 60_000 + int64(r.IntN(600_000))
		if r.IntN(3_000) == 0 {
			now += 40 * day
		}
		value += 1
		if r.IntN(50) == 0 {
			value = 0
		}
		st.SetNext(now)
		s.Add(st, now, value)
		all = append(all, point{now, value})
		if len(all) > 100 {
			all = all[1:]
		}
		lo := now - int64(r.IntN(3_600_000))
		var want []point
		rising := true
		for i, p := range all {
			if p.t < lo {
				continue
			}
			want = append(want, p)
			rising = rising && (len(want) == 1 || p.v >= all[i-1].v)
		}
		w := s.Window(lo, now)
		if got := pointsOf(w); !slices.Equal(got, want) {
			t.Fatalf("[%d, %d]: got %v, want %v", lo, now, got, want)
		}
		if w.Rising != rising {
			t.Fatalf("[%d, %d] rises: %v, want %v", lo, now, w.Rising, rising)
		}
	}
}

// TestSeriesLeapsBack is what no accepted event time does.
func TestSeriesLeapsBack(t *testing.T) {
	st := newStore(t, `rate(m[1h])`)
	s := st.NewSeries("n", labels.FromStrings("__name__", "m", "node", "n"))
	for _, at := range []int64{1 << 40, 1 << 30, 1<<30 + 1_000} {
		if !s.Add(st, at, float64(at)) {
			t.Fatalf("point at %d: taken for a duplicate", at)
		}
	}
	if got, want := pointsOf(s.Window(0, 1<<50)), []point{{1 << 30, 1 << 30}, {1<<30 + 1_000, 1<<30 + 1_000}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestStoreKeepsWhatIsRead(t *testing.T) {
	st := newStore(t, `sum by (node) (rate(m{a=~"x|y",b=""}[2m] offset 1m)) + max by (node) (max_over_time(k[1m:10s]))`)
	if h := st.History(); h != 180_000 {
		t.Errorf("history is %d ms, want the range and its offset", h)
	}
	for text, want := range map[string]int64{
		`m{a="x",node="n"}`:       180_000,
		`m{a="x",b="1",node="n"}`: 0,
		`m{a="z",node="n"}`:       0,
		`k{node="n"}`:             90_000, // the subquery's range and the lookback
		`other{node="n"}`:         0,
	} {
		ls, err := parser.NewParser(parser.Options{}).ParseMetric(text)
		if err != nil {
			t.Fatal(err)
		}
		got := int64(0)
		if s := st.NewSeries("n", ls); s != nil {
			got = s.kind.keep
		}
		if got != want {
			t.Errorf("%s is kept for %d ms, want %d", text, got, want)
		}
	}
}

// TestSweep takes out what no tick reads any more, and takes it in again when it returns.
func TestSweep(t *testing.T) {
	st := newStore(t, `m`)
	var all []*Series
	for _, node := range []string{"a", "b", "c"} {
		all = append(all, st.NewSeries(node, labels.FromStrings("__name__", "m", "node", node)))
	}
	st.Buffers(all, 10_000)
	for i, s := range all {
		s.Add(st, 100_000+int64(i)*20_000, 1)
	}
	if st.Groups() != 2 || st.Len() != 3 {
		t.Fatalf("%d groups and %d series, want 2 and 3", st.Groups(), st.Len())
	}
	st.SetNext(160_000)
	st.Sweep()
	if st.Len() != 1 || !st.Empty(0) || st.Empty(1) {
		t.Errorf("%d series are left, want c's", st.Len())
	}
	if all[0].Add(st, 155_000, 2); st.Len() != 2 || st.Empty(0) {
		t.Errorf("%d series after a came back, want 2", st.Len())
	}
	st.Forget("b")
	if s := st.NewSeries("d", labels.FromStrings("__name__", "m", "node", "d")); s.node.group != st.groups[0] {
		t.Error("the place of a forgotten node is not used again")
	}
}
