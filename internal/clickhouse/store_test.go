package clickhouse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sextant/features"
	"sextant/pipeline"
	"sextant/schema/wire"
)

// t0 is the start of a day, a day and a half before now: nothing has expired, nothing is
// in the future.
var t0 = time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour).UnixMilli()

func testView() *features.View {
	return &features.View{
		Name: "node_test", Version: 1, Entity: "node", Keys: []string{"node"}, Tier: "monitoring",
		Interval: 10 * time.Second, TTL: time.Minute, Description: `it's a "test" \ view`,
		Features: []features.Feature{
			{Name: "busy", DType: features.Float32, Unit: "ratio", Description: "busy share", Expr: "a"},
			{Name: "load", DType: features.Float64, Expr: "b"},
			{Name: "cores", DType: features.Int64, Unit: "cores", Expr: "c"},
			{Name: "up", DType: features.Bool, Expr: "d"},
			{Name: "kernel", DType: features.String, Label: "release", Expr: "e"},
		},
	}
}

func testRows(v *features.View, node string, tick int64, x float64) *features.Rows {
	return &features.Rows{
		View: v, Tick: []int64{tick}, Known: []int64{tick + 5000}, Keys: [][]string{{node}},
		Cols: []features.Column{{Num: []float64{x}}, {Num: []float64{math.NaN()}}, {Num: []float64{8}}, {Num: []float64{1}}, {Str: []string{"6.1"}}},
	}
}

func newSink(t testing.TB, db *DB, change ...func(*SinkConfig)) *Sink {
	t.Helper()
	c := DefaultSinkConfig()
	c.MaxDelay = 20 * time.Millisecond
	for _, f := range change {
		f(&c)
	}
	s, err := db.NewSink(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// testBatch is one record of one node with n series.
func testBatch(node uint64, seq uint64, n int) *pipeline.Batch {
	b := &pipeline.Batch{Topic: "telemetry.samples", Partition: int32(node), First: int64(seq), Last: int64(seq)}
	name := fmt.Sprintf("n%d", node)
	scrape := t0 + int64(seq)*10_000
	for i := n; i > 0; i-- { // not in the order of the table
		id := node<<48 | uint64(i)
		b.Samples.Series = append(b.Samples.Series, id)
		b.Samples.Time = append(b.Samples.Time, scrape)
		b.Samples.Value = append(b.Samples.Value, float64(seq)+float64(i)/1000)
		b.Samples.Flags = append(b.Samples.Flags, 0)
		b.Series = append(b.Series, pipeline.SeriesRow{ID: id, Node: name, Name: fmt.Sprintf("metric_%d", i),
			Labels: []wire.Label{{Name: "z", Value: "1"}, {Name: "job", Value: "test"}, {Name: "node", Value: name}},
			Kind:   "gauge", Unit: "ratio", Source: "raw", FirstSeen: scrape})
	}
	b.Ledger = []pipeline.LedgerRow{{Agent: "agent-" + name, Node: name, Target: "test/x", Seq: seq, Oldest: seq, Partition: int32(node),
		Offset: int64(seq), Scrape: scrape, Ingest: scrape + 100, Rows: uint32(n)}}
	return b
}

// one scans the only row of a query.
func one(t testing.TB, db *DB, sql string, dest ...any) {
	t.Helper()
	rows, err := db.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatalf("no row: %s: %v", sql, rows.Err())
	}
	if err := rows.Scan(dest...); err != nil {
		t.Fatal(err)
	}
}

// text returns the rows of a query, values joined by blanks.
func text(t testing.TB, db *DB, columns, from string) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), "SELECT arrayStringConcat(arrayMap(x -> toString(x), ["+columns+"]), ' ') FROM "+from)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMigrateTwice(t *testing.T) {
	db := openDB(t)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestConcurrentWritesBecomeOneInsert(t *testing.T) {
	db := openDB(t)
	v := testView()
	if err := db.ApplyViews(t.Context(), []*features.View{v}); err != nil {
		t.Fatal(err)
	}
	s := newSink(t, db, func(c *SinkConfig) { c.MaxDelay = 200 * time.Millisecond })
	var wg sync.WaitGroup
	for node := uint64(1); node <= 8; node++ {
		wg.Go(func() {
			b := testBatch(node, 1, 100)
			b.Rows = []*features.Rows{testRows(v, fmt.Sprintf("n%d", node), t0+10_000, float64(node)/10)}
			b.Dead = []pipeline.DeadLetter{{Record: wire.Record{Partition: int32(node), Offset: 7, Ingest: t0, Key: []byte("k"), Value: []byte{0, 1, 0xff},
				Headers: []wire.Header{{Key: "sx-v", Value: []byte("1")}}}, Reason: "byte 0: not a request"}}
			if err := s.Write(t.Context(), b); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var rows, parts uint64
	one(t, db, "SELECT count(), uniqExact(_part) FROM {db}.samples", &rows, &parts)
	if rows != 800 || parts != 1 {
		t.Errorf("%d rows in %d parts, want 800 in 1", rows, parts)
	}
	if got, want := text(t, db, "node, name, labels['job'], mapKeys(labels)[1], unit, kind, value", "{db}.samples_labelled WHERE name = 'metric_3' ORDER BY node LIMIT 1"),
		[]string{"n1 metric_3 test z ratio gauge 1.003"}; !slices.Equal(got, want) {
		t.Errorf("labelled: %q, want %q", got, want)
	}
	if got, want := text(t, db, "topic, partition, offset, reason, key, headers[1].1, hex(value)", "{db}.dead_letters FINAL WHERE partition = 3"),
		[]string{"telemetry.samples 3 7 byte 0: not a request k sx-v 0001FF"}; !slices.Equal(got, want) {
		t.Errorf("dead: %q, want %q", got, want)
	}
	r, err := db.LatestRows(t.Context(), v, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Tick) != 8 || r.Keys[0][2] != "n3" || float32(r.Cols[0].Num[2]) != 0.3 || !math.IsNaN(r.Cols[1].Num[2]) ||
		r.Cols[2].Num[2] != 8 || r.Cols[3].Num[2] != 1 || r.Cols[4].Str[2] != "6.1" || r.Tick[2] != t0+10_000 || r.Known[2] != t0+15_000 {
		t.Errorf("rows: %+v", r)
	}
}

func TestWriteAgainLeavesOneRow(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	ctx := context.Background()
	for range 2 { // the same cut
		for seq := uint64(1); seq <= 4; seq++ {
			if err := s.Write(ctx, testBatch(1, seq, 10)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Write(ctx, recordsOf(1, 2, 3, 10)); err != nil { // another cut: 2..4 in one batch
		t.Fatal(err)
	}
	var visible, physical, ledger uint64
	one(t, db, "SELECT (SELECT count() FROM {db}.samples FINAL), (SELECT count() FROM {db}.samples), (SELECT count() FROM {db}.ingest_ledger FINAL)", &visible, &physical, &ledger)
	if visible != 40 || ledger != 4 {
		t.Errorf("visible %d, ledger %d, want 40 and 4", visible, ledger)
	}
	if physical != 70 {
		t.Errorf("physical %d, want 70: the token of an equal batch must stop its copy, and the other cut adds 30", physical)
	}
	if got, want := text(t, db, "records, expected, visible, lost, duplicate", "{db}.ingest_audit"), []string{"4 40 40 0 0"}; !slices.Equal(got, want) {
		t.Errorf("audit: %q, want %q", got, want)
	}
}

func TestOneBadBatchDoesNotHoldUpOthers(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db, func(c *SinkConfig) { c.MaxDelay = 200 * time.Millisecond })
	lost := testView() // never applied: its table does not exist
	errs := make([]error, 6)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			b := testBatch(uint64(i+1), 1, 10)
			if i == 4 {
				b.Rows = []*features.Rows{testRows(lost, "n5", t0, 1)}
			}
			errs[i] = s.Write(context.Background(), b)
		})
	}
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 4) {
			t.Errorf("batch %d: %v", i, err)
		}
	}
	if errs[4] == nil || !strings.Contains(errs[4].Error(), "write telemetry.samples/5@1-1: 1 rows to features_node_test_v1: ") {
		t.Errorf("error does not say which: %v", errs[4])
	}
	var nodes uint64
	one(t, db, "SELECT uniqExact(node) FROM {db}.ingest_ledger", &nodes)
	if nodes != 5 {
		t.Errorf("%d nodes in the ledger, want 5", nodes)
	}
}
