package clickhouse

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sextant/features"
	"sextant/pipeline"
)

func apply(t *testing.T, db *DB, vs ...*features.View) {
	t.Helper()
	if err := db.ApplyViews(t.Context(), vs); err != nil {
		t.Fatal(err)
	}
}

func writeRows(t *testing.T, s *Sink, rows ...*features.Rows) {
	t.Helper()
	b := &pipeline.Batch{Topic: "telemetry.samples", First: 1, Last: 1, Rows: rows}
	if err := s.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func TestViewGainsAFeature(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	v := testView()
	apply(t, db, v)
	writeRows(t, s, testRows(v, "n1", t0, 0.5))

	v2 := testView()
	v2.Features[0].Description = "share of busy time"
	v2.Features = append([]features.Feature{{Name: "new_one", DType: features.Float64, Unit: "bytes"}}, v2.Features...)
	apply(t, db, v2)
	apply(t, db, v2) // a second start changes nothing
	r := testRows(v, "n1", t0+10_000, 0.25)
	r.View, r.Cols = v2, append([]features.Column{{Num: []float64{7}}}, r.Cols...)
	writeRows(t, s, r)

	if got, want := text(t, db, "tick, ifNull(toString(new_one), 'null'), ifNull(toString(busy), 'null'), ifNull(toString(load), 'null'), kernel", "{db}.node_test ORDER BY tick"),
		[]string{dateText(t0) + " null 0.5 null 6.1", dateText(t0+10_000) + " 7 0.25 null 6.1"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	comments := text(t, db, "name, type, comment", "system.columns WHERE database = '"+db.cfg.Database+"' AND table = 'features_node_test_v1' AND name IN ('busy', 'new_one', 'kernel') ORDER BY name")
	if want := []string{"busy Nullable(Float32) ratio: share of busy time", "kernel LowCardinality(Nullable(String)) ", "new_one Nullable(Float64) bytes"}; !slices.Equal(comments, want) {
		t.Errorf("columns %q, want %q", comments, want)
	}
	if got, want := text(t, db, "feature, position, dtype, unit, keys[1], interval_ms", "{db}.feature_views FINAL WHERE position < 2 ORDER BY position"),
		[]string{"new_one 0 Float64 bytes node 10000", "busy 1 Float32 ratio node 10000"}; !slices.Equal(got, want) {
		t.Errorf("registry %q, want %q", got, want)
	}
}

func dateText(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000")
}

func TestViewThatCannotBeApplied(t *testing.T) {
	db := openDB(t)
	apply(t, db, testView())
	for _, c := range []struct {
		want   string
		change func(*features.View)
	}{
		{"feature view node_test version 1: feature load is a Nullable(Int64), and its column is a Nullable(Float64)", func(v *features.View) { v.Features[1].DType = features.Int64 }},
		{"keys are node, gpu, and the table's are node", func(v *features.View) { v.Keys = append(v.Keys, "gpu") }},
		{`"samples" cannot name a view`, func(v *features.View) { v.Name = "samples" }},
		{`feature "tick" has the name of a column of every view`, func(v *features.View) { v.Features[0].Name = "tick" }},
		{`feature "a b" cannot name a column`, func(v *features.View) { v.Features[0].Name = "a b" }},
		{`feature "node" has the name of a key`, func(v *features.View) { v.Features[0].Name = "node" }},
	} {
		v := testView()
		c.change(v)
		if err := db.ApplyViews(t.Context(), []*features.View{v}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestPlainNameIsTheNewestVersion(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	v1, v2 := testView(), testView()
	v2.Version = 2
	apply(t, db, v1, v2)
	apply(t, db, v1) // an old program starts again
	writeRows(t, s, testRows(v1, "n1", t0, 0.5), testRows(v2, "n2", t0, 0.5))
	if got, want := text(t, db, "node", "{db}.node_test"), []string{"n2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestReadRows(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	v := testView()
	apply(t, db, v)
	ctx := context.Background()
	writeRows(t, s, testRows(v, "n1", t0, 0.1), testRows(v, "n1", t0+10_000, 0.2), testRows(v, "n2", t0, 0.3))
	late := testRows(v, "n1", t0+10_000, 0.9) // the same tick, known later: it wins
	late.Known[0]++
	late.Cols[2].Num[0], late.Cols[4].Str[0] = math.Inf(1), ""
	writeRows(t, s, late)

	type row struct {
		node string
		tick int64
		busy float32
	}
	list := func(r *features.Rows, err error) (out []row) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Tick {
			out = append(out, row{r.Keys[0][i], r.Tick[i] - t0, float32(r.Cols[0].Num[i])})
		}
		return out
	}
	for _, c := range []struct {
		what string
		got  []row
		want []row
	}{
		{"latest", list(db.LatestRows(ctx, v, 0)), []row{{"n1", 10_000, 0.9}, {"n2", 0, 0.3}}},
		{"latest after a tick", list(db.LatestRows(ctx, v, t0)), []row{{"n1", 10_000, 0.9}}},
		{"latest after the last", list(db.LatestRows(ctx, v, t0+10_000)), nil},
		{"between", list(db.RowsBetween(ctx, v, t0, t0+10_001)), []row{{"n1", 0, 0.1}, {"n1", 10_000, 0.9}, {"n2", 0, 0.3}}},
		{"between, without its end", list(db.RowsBetween(ctx, v, t0, t0+10_000)), []row{{"n1", 0, 0.1}, {"n2", 0, 0.3}}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	r, err := db.LatestRows(ctx, v, t0)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(r.Cols[2].Num[0]) || r.Cols[4].Str[0] != "" || r.Known[0] != t0+15_001 {
		t.Errorf("infinite as Int64, empty string and known: %v %q %d", r.Cols[2].Num[0], r.Cols[4].Str[0], r.Known[0]-t0)
	}
	gone := testView()
	gone.Version = 9
	if _, err := db.LatestRows(ctx, gone, 0); err == nil || !strings.Contains(err.Error(), "read features_node_test_v9: ") {
		t.Errorf("a view without a table: %v", err)
	}
}

func BenchmarkLatestRows(b *testing.B) {
	db := openDB(b)
	v := testView()
	if err := db.ApplyViews(context.Background(), []*features.View{v}); err != nil {
		b.Fatal(err)
	}
	mustExec(b, db, "INSERT INTO {db}.features_node_test_v1 SELECT 'n' || toString(number % 10000), now64(3) - INTERVAL intDiv(number, 10000) * 10 SECOND, now64(3), 0.5, 1, 2, true, 'k' FROM numbers(100000)")
	b.ReportAllocs()
	for b.Loop() {
		r, err := db.LatestRows(context.Background(), v, 0)
		if err != nil || len(r.Tick) != 10_000 {
			b.Fatal(len(r.Tick), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/row")
}
