package clickhouse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"sextant/features"
	"sextant/pipeline/backfill"
	"sextant/pipeline/derive"
	"sextant/pipeline/evaluate"
	"sextant/schema/quality"
)

// longView is a view of expressions over long ranges, by name.
func longView(interval time.Duration, keys []string, exprs map[string]string) *features.View {
	v := &features.View{Name: "long", Version: 1, Entity: "node", Keys: keys, Tier: "monitoring", Interval: interval, TTL: 10 * time.Minute, Long: true}
	for name, expr := range exprs {
		v.Features = append(v.Features, features.Feature{Name: name, Expr: expr, DType: features.Float64})
	}
	slices.SortFunc(v.Features, func(a, b features.Feature) int { return strings.Compare(a.Name, b.Name) })
	return v
}

// wander makes a series of many hours before a time: with gaps, an unsteady pace, markers of
// staleness, and falls of counters.
func wander(r *rand.Rand, ls labels.Labels, end int64, hours int, counter bool) stored {
	s := stored{labels: ls}
	v, level := 0.0, math.Pow(10, float64(r.IntN(10)))
	for t := end - int64(hours)*time.Hour.Milliseconds(); t < end; t += 30_000 {
		switch x := r.IntN(1000); {
		case x == 0: // away for up to 3 h
			s.times, s.values = append(s.times, t), append(s.values, math.Float64frombits(value.StaleNaN))
			t += int64(r.IntN(360)) * 30_000
			continue
		case x < 30:
			continue
		case x < 34 && counter:
			v = float64(r.IntN(5))
		case counter:
			v += float64(r.IntN(100)) * level / 100
		case x < 700:
			v = level * (10 + r.NormFloat64())
		}
		s.times, s.values = append(s.times, t+int64(r.IntN(3)*r.IntN(5000))), append(s.values, v)
	}
	return s
}

// wanderers are series of three nodes, two of each metric.
func wanderers(seed uint64, end int64, hours int) (all []stored) {
	r := rand.New(rand.NewPCG(seed, 1))
	for _, name := range []string{"m_gauge", "m_total"} {
		for node := range 3 {
			for _, x := range []string{"a", "b"} {
				ls := labels.FromStrings(labels.MetricName, name, "node", fmt.Sprint("n", node), "x", x)
				all = append(all, wander(r, ls, end, hours, name == "m_total"))
			}
		}
	}
	// One that stands still, and one that ended long ago.
	all[0].values = slices.Repeat([]float64{42}, len(all[0].values))
	all[1].times, all[1].values = all[1].times[:200], all[1].values[:200]
	return all
}

// reference evaluates a view by the upstream engine, over all samples at once.
func reference(t *testing.T, v *features.View, all []stored, tick int64) *features.Rows {
	t.Helper()
	near := *v
	near.Long = false
	e, err := evaluate.New([]*features.View{&near}, evaluate.Options{Lookback: time.Minute, GroupSize: 32, Reference: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if w := e.Store().NewSeries(s.labels.Get("node"), s.labels); w != nil {
			for i, at := range s.times {
				if at < tick {
					w.Add(e.Store(), at, s.values[i])
				}
			}
		}
	}
	rows := e.Tick(tick, tick)
	if len(rows) != 1 {
		t.Fatalf("the engine gives %d views", len(rows))
	}
	return rows[0]
}

// byEntity is the values of a feature by entity.
func byEntity(r *features.Rows, feature int) map[string]float64 {
	out := map[string]float64{}
	for row := range r.Tick {
		key := ""
		for k := range r.Keys {
			key += r.Keys[k][row] + " "
		}
		out[key] = r.Cols[feature].Num[row]
	}
	return out
}

// wantNear compares rows with those of the engine. Features whose names begin with "sum" may be
// off by a few ulp, those that begin with "fit" by what a least-squares fit may be; others not.
func wantNear(t *testing.T, got, want *features.Rows) {
	t.Helper()
	if len(got.Tick) != len(want.Tick) {
		t.Errorf("%d rows, want %d", len(got.Tick), len(want.Tick))
	}
	for i, f := range want.View.Features {
		g, values := byEntity(got, i), 0
		for key, w := range byEntity(want, i) {
			x, ok := g[key]
			off := math.Abs(x-w) / max(math.Abs(w), 1e-300)
			limit := 0.0
			switch {
			case strings.HasPrefix(f.Name, "sum"):
				limit = 1e-14
			case strings.HasPrefix(f.Name, "fit"):
				limit = 1e-9
			}
			if w == w {
				values++
			}
			if !ok || (x == x) != (w == w) || off > limit {
				t.Errorf("%s of %s is %v, want %v (%s)", f.Name, key, x, w, f.Expr)
			}
		}
		if values == 0 {
			t.Errorf("%s has no value", f.Name)
		}
	}
}

// longFunctions is every function that panes compute, over ranges whose ends lie anywhere.
func longFunctions() map[string]string {
	exprs := map[string]string{}
	for name, r := range map[string]string{"2h": "[2h]", "24h": "[24h]", "26h30m": "[26h30m]", "90m_3h17s": "[90m] offset 3h17s", "61m": "[61m]"} {
		for _, f := range []string{"count_over_time", "min_over_time", "max_over_time", "last_over_time", "first_over_time", "present_over_time", "changes", "resets"} {
			exprs["exact_"+f+"_"+name] = "max by (node, x) (" + f + "(m_gauge" + r + "))"
			exprs["exact_"+f+"_total_"+name] = "max by (node, x) (" + f + "(m_total" + r + "))"
		}
		for _, f := range []string{"sum_over_time", "avg_over_time"} {
			exprs["sum_"+f+"_"+name] = f + "(m_gauge" + r + ")"
		}
		for _, f := range []string{"stddev_over_time", "stdvar_over_time", "deriv", "delta"} {
			exprs["fit_"+f+"_"+name] = f + "(m_gauge" + r + ")"
		}
		exprs["fit_predict_"+name] = "predict_linear(m_gauge" + r + ", 3600)"
		exprs["fit_increase_"+name] = "increase(m_total" + r + ")"
		exprs["fit_rate_"+name] = "rate(m_total" + r + ")"
	}
	return exprs
}

// TestLongWindowsAgreeWithTheEngine: what is made of panes and of samples at the ends is what the
// upstream engine makes of the samples, at ticks that no pane ends with, too.
func TestLongWindowsAgreeWithTheEngine(t *testing.T) {
	for seed := range uint64(2) {
		db := openDB(t)
		all := wanderers(seed, t0, 30)
		write(t, newSink(t, db), all...)
		v := longView(time.Minute, []string{"node", "x"}, longFunctions())
		for _, minutes := range []int64{0, -7, -60} {
			tick := t0 + minutes*60_000
			s := db.NewDeriveStore()
			if minutes < 0 {
				s.long.series = 5 // the nodes come one by one
			}
			got, err := s.Derive(t.Context(), v, derive.At{Tick: tick, Known: tick + 10_000})
			if err != nil {
				t.Fatal(err)
			}
			wantNear(t, got, reference(t, v, all, tick))
		}
	}
}

// expressions have calls over long ranges in all kinds of places, and selectors beside them.
var expressions = map[string]string{
	"sum_ratio":     `sum by (node) (increase(m_total[3h])) / max by (node) (avg_over_time(m_gauge[2h]))`,
	"exact_week":    `max by (node) (m_gauge - m_gauge offset 5h)`,
	"sum_recent":    `sum by (node) (rate(m_total[5m])) / sum by (node) (rate(m_total[5m] offset 4h))`,
	"exact_names":   `count by (node) (count by (node, __name__) (last_over_time({__name__=~"m_.*"}[2h])))`,
	"exact_others":  `count by (node) ({__name__=~"m_.*"})`,
	"exact_join":    `max by (node) (max_over_time(m_gauge{x="a"}[25h]) and on (node) m_total{x!~"a"})`,
	"exact_replace": `max by (node) (label_replace(max_over_time(m_gauge[2h]), "y", "$1", "x", "(.*)"))`,
	"exact_bool":    `max by (node) (-max_over_time(m_gauge[2h])) or sum by (node) (changes(m_total[2h]) > bool 3)`,
	"exact_missing": `max by (node) (m_gauge) or max by (node) (max_over_time(m_gauge[7d]))`,
	"exact_scalar":  `scalar(vector(7)) + 2`,
	"exact_nested":  `max by (node) (max_over_time(m_gauge[30m:5m])) + 0 * max by (node) (min_over_time(m_gauge[2h]))`,
}

// TestLongExpressionsLiveAndBackfilled: what stands around long ranges is evaluated as in the
// stream; live ticks use the panes of those before; and a backfill gives the same bits. Samples
// that came late are in no window, nor are those without a value.
func TestLongExpressionsLiveAndBackfilled(t *testing.T) {
	db := openDB(t)
	sink := newSink(t, db)
	ctx := t.Context()
	v := longView(5*time.Minute, []string{"node"}, expressions)
	apply(t, db, v)
	all := wanderers(7, t0+3*time.Hour.Milliseconds(), 33)
	schedule := derive.Schedule{Delay: 10 * time.Second}
	store := db.NewDeriveStore()
	var ticks []int64
	for tick := t0 + 105*60_000; tick <= t0+140*60_000; tick += 5 * 60_000 {
		ticks = append(ticks, tick)
	}
	for i, tick := range ticks {
		// What was stored by the tick, and some that came too late or without a value.
		for k, s := range all {
			from := 0
			if i > 0 {
				from, _ = slices.BinarySearch(s.times, ticks[i-1])
			}
			to, _ := slices.BinarySearch(s.times, tick)
			if from < to {
				write(t, sink, stored{labels: s.labels, times: s.times[from:to], values: s.values[from:to]})
			}
			if k%5 == 0 {
				write(t, sink, stored{s.labels, []int64{tick - 4*3_600_000 + 1}, []float64{1e15}, quality.Late},
					stored{s.labels, []int64{tick - 3_600_000 + 1}, []float64{-1e15}, quality.Blank})
			}
		}
		rows, err := store.Derive(ctx, v, schedule.At(tick))
		if err != nil {
			t.Fatal(err)
		}
		wantNear(t, rows, reference(t, v, all, tick))
		rows, counts := derive.Clean(rows)
		if counts.Duplicates+counts.Nameless > 0 {
			t.Errorf("%+v", counts)
		}
		if i%3 != 0 { // a stop left the others out
			if err := store.WriteDerived(ctx, rows, schedule.At(tick)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := map[string]string{}
	for _, tick := range ticks {
		rows, err := db.NewDeriveStore().Derive(ctx, v, schedule.At(tick))
		if err != nil {
			t.Fatal(err)
		}
		rows, _ = derive.Clean(rows)
		addBits(want, rows)
	}
	cfg := backfill.StoreConfig{View: v, Schedule: schedule, From: ticks[0], To: ticks[len(ticks)-1] + 1, Parallel: 2, Segment: 20 * time.Minute}
	p, err := backfill.RunStore(ctx, spanningStore{db.NewDeriveStore().Anew(), db}, db.NewBackfillStore(sink), cfg)
	if err != nil || p.Differ != 0 || p.Filled != 0 || p.Stored == 0 || p.Same == 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	rows, err := db.RowsBetween(ctx, v, ticks[0], ticks[len(ticks)-1]+1)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	addBits(got, rows)
	if len(got) != len(want) || len(got) != 3*len(ticks) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	for key, w := range want {
		if got[key] != w {
			t.Errorf("%s: %s, want %s", key, got[key], w)
		}
	}
	if n := text(t, db, "toString(count() - uniqExact(length, pane, series))", "{db}.sample_panes FINAL"); n[0] != "0" {
		t.Errorf("%s panes are there twice", n)
	}
}

// TestPanesAreMadeOnceAndAnew: a pane that is there is taken as it is, and a backfill makes it again
// of the samples that are stored now. Nodes whose series contradict each other go without.
func TestPanesAreMadeOnceAndAnew(t *testing.T) {
	db := openDB(t)
	sink := newSink(t, db)
	v := longView(5*time.Minute, []string{"node"}, map[string]string{
		"a_max":   `max by (node) (max_over_time(m[2h]))`,
		"b_joint": `max by (node) (max_over_time(m[2h]) * on (node) min_over_time(m[2h]))`,
	})
	series := func(node, x string, value float64) stored {
		return stored{labels: labels.FromStrings(labels.MetricName, "m", "node", node, "x", x), times: []int64{t0 - 3_600_000, t0 - 1_800_000}, values: []float64{1, value}}
	}
	value := func(s *DeriveStore) string {
		t.Helper()
		rows, err := s.Derive(t.Context(), v, derive.At{Tick: t0, Known: t0})
		if err != nil {
			t.Fatal(err)
		}
		return values(t, rows, "n1", "a_max b_joint") + ", " + values(t, rows, "n2", "a_max b_joint")
	}
	write(t, sink, series("n1", "a", 5), series("n2", "a", 6), series("n2", "b", 7))
	if got := value(db.NewDeriveStore()); got != "5 5, 7 -" {
		t.Errorf("%s, want 5 5, 7 -", got)
	}
	write(t, sink, series("n1", "a", 8))
	if got := value(db.NewDeriveStore()); got != "5 5, 7 -" {
		t.Errorf("%s of panes that were there, want 5 5, 7 -", got)
	}
	if got := value(db.NewDeriveStore().Anew()); got != "8 8, 7 -" {
		t.Errorf("%s of panes made again, want 8 8, 7 -", got)
	}
	if got := value(db.NewDeriveStore()); got != "8 8, 7 -" {
		t.Errorf("%s afterwards, want 8 8, 7 -", got)
	}
}

// addBits adds rows, by tick and entity.
func addBits(to map[string]string, r *features.Rows) {
	for row := range r.Tick {
		line := fmt.Sprint(r.Known[row])
		for i := range r.Cols {
			line += fmt.Sprintf(" %b", r.Cols[i].Num[row])
		}
		to[fmt.Sprint(r.Tick[row], r.Keys[0][row])] = line
	}
}
