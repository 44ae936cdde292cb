package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/features"
	"sextant/features/statistics"
	"sextant/pipeline"
	"sextant/pipeline/profile"
)

// probe is a view of each type, with ranges.
func probe() *features.View {
	low, high, tenth := 0.0, 10.0, 0.1
	return &features.View{Name: "probe", Version: 1, Entity: "node", Keys: []string{"node"}, Tier: "monitoring", Interval: 10 * time.Second, TTL: time.Minute, Push: true,
		Features: []features.Feature{
			{Name: "x", DType: features.Float64, Min: &low, Max: &high}, {Name: "share", DType: features.Float32, Max: &tenth},
			{Name: "up", DType: features.Bool}, {Name: "name", DType: features.String},
		}}
}

var none = math.NaN()

// probed is rows of nodes n0, n1, … at a second of an hour after t0. up is whether x is above 1.
func probed(v *features.View, hour, second int64, xs ...float64) *features.Rows {
	r := &features.Rows{View: v, Keys: make([][]string, len(v.Keys)), Cols: make([]features.Column, len(v.Features))}
	for i, x := range xs {
		tick := t0 + hour*3600_000 + second*1000
		r.Tick, r.Known = append(r.Tick, tick), append(r.Known, tick+5000)
		r.Keys[0] = append(r.Keys[0], fmt.Sprintf("n%d", i))
		name := ""
		if x > 0 {
			name = fmt.Sprint(x)
		}
		for f, y := range []float64{x, 0.1, max(min(x-1, 1), 0)} {
			r.Cols[f].Num = append(r.Cols[f].Num, y)
		}
		r.Cols[3].Str = append(r.Cols[3].Str, name)
	}
	return r
}

func profileHours(t *testing.T, s *ProfileStore, v *features.View, hours ...int64) {
	t.Helper()
	for _, h := range hours {
		if err := s.Measure(t.Context(), v, t0+h*3600_000, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func measured(t *testing.T, db *DB, hour int64) []string {
	t.Helper()
	return told(t, db, "feature; rows; entities; ticks; nulls; null_ratio; out_of_range; round(out_of_range_ratio, 4); freshness_seconds; min; max; round(mean, 4); round(p50, 3); round(p95, 3)",
		fmt.Sprintf("feature_quality WHERE hour = toDateTime(%d, 'UTC') ORDER BY feature", t0/1000+hour*3600))
}

// The figures are worked out by hand. 1 and 2 are the upper bounds of their buckets, so the
// middle of the bucket of 2 is 2 * 2 / (1 + 2^(1/32)) = 1.978; min and max bound it. 3 is in the
// bucket that ends at 2^(51/32), whose middle is 2.986, and 12 in that to 2^(115/32), 11.943.
func TestProfileOfAnHour(t *testing.T) {
	db := openDB(t)
	v := probe()
	apply(t, db, v)
	sink, s := newSink(t, db), db.NewProfileStore(5*time.Second)
	rows := probed(v, 2, 0, 1, 1, 2, none)
	writeRows(t, sink, rows, probed(v, 2, 30, 4, none), probed(v, 3, 0, 7), probed(v, 1, 3590, 9))
	profileHours(t, s, v, 2)
	want := []string{
		"name 6 4 2 2 0.3333333333333333 0 0 3570 - - - - -",
		"share 6 4 2 0 0 0 0 3570 0.10000000149011612 0.10000000149011612 0.1 0.1 0.1",
		"up 6 4 2 2 0.3333333333333333 0 0 3570 0 1 0.5 0 0.989",
		"x 6 4 2 2 0.3333333333333333 0 0 3570 1 4 2 1 3.957",
	}
	if got := measured(t, db, 2); !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}

	// A replay with another cut writes copies, and measuring again counts nothing twice.
	sink2 := newSink(t, db)
	writeRows(t, sink2, rows)
	profileHours(t, s, v, 2)
	if got := measured(t, db, 2); !slices.Equal(got, want) {
		t.Errorf("after a replay %q\nwant\n%q", got, want)
	}

	// A repair of n0 at the first tick: 1 becomes 12, which is out of range, and n3 gets a value.
	repair := probed(v, 2, 0, 12, 1, 2, 3)
	repair.Keep([]bool{true, false, false, true})
	repair.Origin = features.Repair
	writeRows(t, sink, repair)
	profileHours(t, s, v, 2)
	if got, want := measured(t, db, 2)[3], "x 6 4 2 1 0.16666666666666666 1 0.2 3570 1 12 4.4 2.986 11.943"; got != want {
		t.Errorf("repaired %q, want %q", got, want)
	}
}

// Values that were refused at the tick are counted beside those that are stored, once.
func TestRefusedValuesAreInTheProfile(t *testing.T) {
	db := openDB(t)
	v := probe()
	apply(t, db, v)
	sink, s := newSink(t, db), db.NewProfileStore(5*time.Second)
	rows := probed(v, 2, 0, 1, 1, none)
	rows.OutOfRange = []uint64{1, 0, 0, 0}
	for range 2 {
		b := &pipeline.Batch{Topic: "telemetry.samples", Partition: 3, First: 1, Last: 1, Rows: []*features.Rows{rows}}
		if err := sink.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	profileHours(t, s, v, 2)
	if got, want := told(t, db, "feature; nulls; out_of_range; round(out_of_range_ratio, 4)", "feature_quality WHERE feature = 'x'"), []string{"x 1 1 0.3333"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The baseline is 1, 1, 1, 2; the hour is 1, 2, 2 and a NULL. With half a row in each of the five
// bins, those of what is far out among them, the shares are 3.5, 1.5, 0.5 and 1.5, 2.5, 1.5 of 6.5, and
// PSI = 2/6.5 ln(3.5/1.5) + 1/6.5 ln(2.5/1.5) + 1/6.5 ln 3 = 0.508313.
func TestDriftByHand(t *testing.T) {
	db := openDB(t)
	v := probe()
	apply(t, db, v)
	sink, s := newSink(t, db), db.NewProfileStore(5*time.Second)
	writeRows(t, sink, probed(v, 1, 0, 1, 1, 1, 2), probed(v, 2, 0, 1, 2, 2, none))
	now := t0 + 5*3600_000
	if n, err := profile.Fill(t.Context(), s, []*features.View{v}, t0, t0+3*3600_000, now); n != 2 || err != nil {
		t.Fatalf("%d hours are measured, %v", n, err)
	}
	if n, err := profile.Fill(t.Context(), s, []*features.View{v}, t0, t0+3*3600_000, now); n != 0 || err != nil {
		t.Errorf("%d hours are measured again, %v", n, err)
	}
	hour := func(h int64) time.Time { return time.UnixMilli(t0 + h*3600_000).UTC() }
	if n, err := db.SetBaseline(t.Context(), "train", []*features.View{v}, hour(1), hour(2), "me"); n != 4 || err != nil {
		t.Fatalf("%d features, %v", n, err)
	}
	got := told(t, db, "hour = min(hour) OVER (); round(psi, 6); arrayStringConcat(actual, '+'); arrayStringConcat(expected, '+')", "feature_drift WHERE feature = 'x' ORDER BY hour")
	if want := []string{"1 0 0+3+1+0+0 0+3+1+0+0", "0 0.508313 0+1+2+0+1 0+3+1+0+0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := db.SetBaseline(t.Context(), "other", []*features.View{v}, hour(8), hour(9), "me"); err == nil {
		t.Error("a baseline of no hours is set")
	}
	if _, err := db.SetBaseline(t.Context(), "Bad name", []*features.View{v}, hour(1), hour(2), "me"); err == nil {
		t.Error("a baseline may be called anything")
	}
	list, err := db.Baselines(t.Context())
	if err != nil || len(list) != 1 || list[0].Name != "train" || list[0].Features != 4 || list[0].Rows != 4 || !list[0].From.Equal(hour(1)) || list[0].Views[0] != "probe@v1" {
		t.Errorf("%+v, %v", list, err)
	}
	q := statistics.Question{View: "probe@v1", Feature: "x", From: hour(0), To: hour(9)}
	all, err := db.Quality(t.Context(), q)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if f := all[0]; f.Hours != 2 || f.Rows != 8 || f.NullRatio != 0.125 || *f.Min != 1 || *f.Max != 2 || *f.P50 != 1 || len(f.PSI) != 1 || math.Abs(f.PSI[0].PSI-0.508313) > 1e-6 {
		t.Errorf("%+v", f)
	}
	hours, err := db.QualityHours(t.Context(), q)
	if err != nil || len(hours) != 2 || !hours[1].Hour.Equal(hour(2)) || hours[1].NullRatio != 0.25 || *hours[0].Mean != 1.25 {
		t.Errorf("%+v, %v", hours, err)
	}
	latest, err := s.Latest(t.Context())
	if err != nil || len(latest) != 0 && latest[0].View != "probe@v1" {
		t.Errorf("%+v, %v", latest, err)
	}
	if err := db.RemoveBaseline(t.Context(), "train", "me"); err != nil {
		t.Fatal(err)
	}
	if err := db.RemoveBaseline(t.Context(), "train", "me"); err == nil {
		t.Error("a baseline is removed twice")
	}
	var n uint64
	if one(t, db, "SELECT count() FROM {db}.feature_drift", &n); n != 0 {
		t.Errorf("%d rows of drift against a baseline that is gone", n)
	}
}

// A baseline of one value tells that it is another one, of numbers when they are not as near as its
// bucket: 4.5, 0.5, 0.5, 0.5 of 6 against 0.5, 0.5, 4.5, 0.5 is 8/6 ln 9, and 4.5, 0.5, 0.5 of 5.5
// against 0.5, 4.5, 0.5 is 8/5.5 ln 9.
func TestDriftOfWhatWasAlwaysTheSame(t *testing.T) {
	db := openDB(t)
	v := probe()
	apply(t, db, v)
	sink, s := newSink(t, db), db.NewProfileStore(5*time.Second)
	writeRows(t, sink, probed(v, 1, 0, 5, 5, 5, 5), probed(v, 2, 0, 7, 7, 7, 7), probed(v, 3, 0, 5.02, 5.02, 5.02, 5.02), probed(v, 4, 0, 5))
	profileHours(t, s, v, 1, 2, 3, 4)
	from := time.UnixMilli(t0 + 3600_000)
	if n, err := db.SetBaseline(t.Context(), "train", []*features.View{v}, from, from.Add(time.Hour), "me"); n != 4 || err != nil {
		t.Fatalf("%d features, %v", n, err)
	}
	got := told(t, db, "feature; round(psi, 4)", "feature_drift ORDER BY hour, feature")
	if want := []string{
		"name 0", "share 0", "up 0", "x 0",
		"name 3.196", "share 0", "up 0", "x 2.9296",
		"name 3.196", "share 0", "up 0", "x 0",
		"name 0", "share 0", "up 0", "x 0", // fewer rows are no drift
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What was served: as it is stored; filled in since; changed by a repair; never stored.
func TestSkewOfWhatWasServed(t *testing.T) {
	db := openDB(t)
	v := probe()
	apply(t, db, v)
	sink, s := newSink(t, db), db.NewProfileStore(5*time.Second)
	stored := probed(v, 2, 0, 1, 2, 3)
	repair := probed(v, 2, 0, 1, 2, 3.5)
	repair.Keep([]bool{false, false, true})
	repair.Origin = features.Repair
	writeRows(t, sink, stored, repair)
	served := func(node string, x float64, status, name string) features.Served {
		tick := stored.Tick[0]
		return features.Served{Time: tick + 20_000, View: v, Keys: []string{node}, Tick: tick, Known: tick + 5000, Features: []string{"x", "name"},
			Values: []float64{x, none}, Texts: []string{"", name}, Statuses: []string{status, "PRESENT"}}
	}
	if err := db.WriteServed(t.Context(), []features.Served{
		served("n0", 1, "PRESENT", "1"), served("n1", 7, "NULL_VALUE", "2"), served("n2", 3, "PRESENT", "3"), served("gone", 1, "PRESENT", "1"), served("n0", 0, "NOT_FOUND", "1"),
	}); err != nil {
		t.Fatal(err)
	}
	profileHours(t, s, v, 2)
	got := told(t, db, "feature; compared; different; corrected; missing; largest; skew_ratio", "feature_skew ORDER BY feature")
	if want := []string{"name 5 0 1 1 0 0.2", "x 4 1 2 1 0.5 0.5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A backfill or repair tells of the hours that it changed, and where nothing is told the count of
// rows shows what came later.
func TestChangedHoursAreKnown(t *testing.T) {
	db := openDB(t)
	v := probe()
	apply(t, db, v)
	sink, s := newSink(t, db), db.NewProfileStore(5*time.Second)
	writeRows(t, sink, probed(v, 2, 0, 1, 2))
	stored, err := s.Stored(t.Context(), v, t0)
	if h := t0 + 2*3600_000; err != nil || len(stored) != 1 || stored[h] != 2 {
		t.Fatalf("%v, %v", stored, err)
	}
	repair := probed(v, 3, 0, 1)
	repair.Origin = features.Repair
	if err := db.NewBackfillStore(sink).Write(t.Context(), "test", []*features.Rows{repair}, nil); err != nil {
		t.Fatal(err)
	}
	changed, err := s.Changed(t.Context())
	if h := t0 + 3*3600_000; err != nil || len(changed["probe@v1"]) != 1 || time.Since(time.UnixMilli(changed["probe@v1"][h])) > time.Minute {
		t.Errorf("%v, %v", changed, err)
	}
	if stored, err = s.Stored(t.Context(), v, t0); err != nil || stored[t0+3*3600_000] != 1 {
		t.Errorf("%v, %v: corrected rows count, too", stored, err)
	}
	ticks, err := s.Newest(t.Context(), v, t0)
	if want := t0 + 2*3600_000; err != nil || !slices.Equal(ticks, []int64{want, want, want, want}) {
		t.Errorf("%v, %v", ticks, err)
	}
	if ticks, err = s.Newest(t.Context(), v, t0+4*3600_000); err != nil || ticks[0] != 0 {
		t.Errorf("%v, %v", ticks, err)
	}
}

// The buckets of the store are those of the program.
func TestBucketsOfTheStore(t *testing.T) {
	db := openDB(t)
	v := probe()
	apply(t, db, v)
	sink, s := newSink(t, db), db.NewProfileStore(5*time.Second)
	xs := []float64{0, 1, 2, 0.5, -1, -2, 3, 1e-300, -1e300, 1e300, 12345.678, 0.1}
	writeRows(t, sink, probed(v, 2, 0, append(xs, math.Inf(1))...))
	profileHours(t, s, v, 2)
	var want []int16
	for _, x := range xs {
		want = append(want, statistics.Bucket(x))
	}
	slices.Sort(want)
	var got []int16
	one(t, db, "SELECT buckets FROM {db}.feature_profiles FINAL WHERE feature = 'x'", &got)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The runner over the engine: an hour that is closed is measured, its rows come late and it is
// measured again, and the metrics are those of the newest hour.
func TestRunOverTheEngine(t *testing.T) {
	db := openDB(t)
	v := probe()
	apply(t, db, v)
	sink, s := newSink(t, db), db.NewProfileStore(5*time.Second)
	hour := (time.Now().UnixMilli()/3600_000 - 2) * 3600_000
	since := (hour - t0) / 3600_000
	writeRows(t, sink, probed(v, since, 0, 1, none))
	round := func() map[string]float64 {
		reg := prometheus.NewRegistry()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan error)
		go func() {
			done <- profile.Run(ctx, s, profile.Config{Views: []*features.View{v}, Metrics: profile.NewMetrics(reg)})
		}()
		out := map[string]float64{}
		for len(out) < 3 && ctx.Err() == nil {
			time.Sleep(50 * time.Millisecond)
			families, err := reg.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				for _, m := range f.GetMetric() {
					if labels := m.GetLabel(); len(labels) > 1 && labels[0].GetValue() == "x" {
						out[f.GetName()] = m.GetGauge().GetValue()
					}
				}
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return out
	}
	if got := round(); got["sextant_feature_null_ratio"] != 0.5 || got["sextant_feature_freshness_seconds"] < 3600 || got["sextant_feature_out_of_range_ratio"] != 0 {
		t.Errorf("%v", got)
	}
	writeRows(t, sink, probed(v, since, 10, 2, 11))
	if got := round(); got["sextant_feature_null_ratio"] != 0.25 || math.Abs(got["sextant_feature_out_of_range_ratio"]-1./3) > 1e-9 {
		t.Errorf("after late rows %v", got)
	}
}
