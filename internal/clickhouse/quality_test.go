package clickhouse

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/value"

	"sextant/features"
	"sextant/pipeline"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

// TestFlagsOfAnOlderStore migrates a store that eight bits were enough for, with samples
// and a feature table in it.
func TestFlagsOfAnOlderStore(t *testing.T) {
	db := openDB(t)
	exec := func(sql string) {
		t.Helper()
		if err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("DROP DATABASE {db} SYNC")
	exec("CREATE DATABASE {db}")
	p, err := db.migrations()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.UpTo(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	at := func(i int) string { return fmt.Sprintf("fromUnixTimestamp64Milli(toInt64(%d))", t0+int64(i)*1000) }
	exec("INSERT INTO {db}.samples (series, ts, value, flags) VALUES (1, " + at(0) + ", 1, 0), (1, " + at(1) + ", 2, 2), (1, " + at(2) + ", 3, 5)")
	exec("INSERT INTO {db}.series (id, node, name, first_seen) VALUES (1, 'n1', 'm', " + at(0) + ")")
	exec("CREATE TABLE {db}.features_node_test_v1 (node LowCardinality(String), tick DateTime64(3, 'UTC'), known DateTime64(3, 'UTC'), busy Nullable(Float32)) " +
		"ENGINE = ReplacingMergeTree(known) PARTITION BY toYYYYMMDD(tick) ORDER BY (node, tick)")
	exec("INSERT INTO {db}.features_node_test_v1 VALUES ('n1', " + at(0) + ", " + at(5) + ", 0.5)")

	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := text(t, db, "type", "system.columns WHERE database = '"+db.cfg.Database+"' AND table = 'samples' AND name IN ('flags', 'on_time') ORDER BY name"); !slices.Equal(got, []string{"UInt16", "UInt8"}) {
		t.Errorf("flags and on_time are %q", got)
	}
	// A late copy with a high flag does not replace what was in time.
	exec("INSERT INTO {db}.samples (series, ts, value, flags) VALUES (1, " + at(0) + ", 9, 258), (1, " + at(1) + ", 9, 256)")
	got := text(t, db, "value, flags", "{db}.samples FINAL ORDER BY ts")
	if want := []string{"1 0", "9 256", "3 5"}; !slices.Equal(got, want) {
		t.Errorf("samples %q, want %q", got, want)
	}
	v := testView()
	if err := db.ApplyViews(t.Context(), []*features.View{v}); err != nil {
		t.Fatal(err)
	}
	rows := testRows(v, "n2", t0, 1)
	rows.Flags = []uint16{quality.Contradiction | quality.Stale}
	if err := newSink(t, db).Write(t.Context(), &pipeline.Batch{Topic: "t", Rows: []*features.Rows{rows}}); err != nil {
		t.Fatal(err)
	}
	latest, err := db.LatestRows(t.Context(), v, 0)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(latest.Keys[0], latest.Flags) != "[n1 n2] [0 288]" {
		t.Errorf("rows of %v have flags %v", latest.Keys[0], latest.Flags)
	}
	if got := text(t, db, "node, flags", "{db}.node_test ORDER BY node"); !slices.Equal(got, []string{"n1 0", "n2 288"}) {
		t.Errorf("the SQL view says %q", got)
	}
}

// TestQualityView has a flag that is in force, one that has ended, and one of long ago.
func TestQualityView(t *testing.T) {
	db := openDB(t)
	now := time.Now().UnixMilli()
	b := &pipeline.Batch{Topic: "telemetry.samples"}
	add := func(name string, labels string, unknownOf string, ages ...time.Duration) {
		id := uint64(len(b.Series) + 1)
		r := pipeline.SeriesRow{ID: id, Node: "n1", Name: name, FirstSeen: now, UnknownOf: unknownOf}
		for _, l := range strings.Fields(labels) {
			k, v, _ := strings.Cut(l, "=")
			r.Labels = append(r.Labels, wire.Label{Name: k, Value: v})
		}
		b.Series = append(b.Series, r)
		for _, age := range ages {
			v := 1.0
			if age < 0 {
				age, v = -age, math.Float64frombits(value.StaleNaN)
			}
			b.Samples.Series = append(b.Samples.Series, id)
			b.Samples.Time = append(b.Samples.Time, now-age.Milliseconds())
			b.Samples.Value = append(b.Samples.Value, v)
			b.Samples.Flags = append(b.Samples.Flags, 0)
		}
	}
	add(quality.Series, "flag=blank metric=accel_temp_celsius node=n1 uid=G", "", 20*time.Second, 10*time.Second)
	add(quality.Series, "flag=late node=n1 target=dcgm/x", "", time.Hour, -59*time.Minute)
	add(quality.Series, "flag=stale node=n1 target=dcgm/x", "", 25*time.Hour)
	add("DCGM_FI_DEV_OF_TOMORROW", "UUID=G node=n1", "nvidia", time.Second)
	add("DCGM_FI_DEV_OF_TOMORROW", "UUID=H node=n1", "nvidia", time.Second)
	add("node_load1", "node=n1", "", time.Second)
	if err := newSink(t, db).Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	got := text(t, db, "node, uid, metric, target, flag, dateDiff('second', first, last), scrapes, in_force", "{db}.quality")
	want := []string{"n1   dcgm/x late 0 1 0", "n1 G accel_temp_celsius  blank 10 2 1"}
	if !slices.Equal(got, want) {
		t.Errorf("quality %q, want %q", got, want)
	}
	if got := text(t, db, "vendor, name, nodes, series", "{db}.unknown_names"); !slices.Equal(got, []string{"nvidia DCGM_FI_DEV_OF_TOMORROW 1 2"}) {
		t.Errorf("unknown names %q", got)
	}
	if got := text(t, db, "count(), countIf(usable)", "{db}.samples_labelled"); !slices.Equal(got, []string{"8 7"}) {
		t.Errorf("samples and usable ones %q", got)
	}
}
