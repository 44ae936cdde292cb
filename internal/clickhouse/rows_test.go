package clickhouse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"sextant/features"
	"sextant/pipeline"
	"sextant/schema/wire"
)

// deviceRowsOf are rows of every type, of several devices and ticks, in an order that is not the
// table's.
func deviceRowsOf(v *features.View, tick int64, nodes ...string) *features.Rows {
	r := &features.Rows{View: v, Keys: make([][]string, 2), Cols: make([]features.Column, len(v.Features))}
	for i, n := range nodes {
		for d := range 2 {
			x := float64(i*2 + d)
			r.Tick, r.Known, r.Flags = append(r.Tick, tick), append(r.Known, tick+5000), append(r.Flags, uint16(x))
			r.Keys[0], r.Keys[1] = append(r.Keys[0], n), append(r.Keys[1], fmt.Sprintf("%s-%d", n, 9-d))
			for f, value := range []float64{x / 8, -x, 1 << 62, x - math.Floor(x/2)*2} {
				r.Cols[f].Num = append(r.Cols[f].Num, value)
			}
			r.Cols[4].Str = append(r.Cols[4].Str, n+"é")
		}
	}
	last := len(r.Tick) - 1
	r.Cols[0].Num[0], r.Cols[1].Num[0], r.Cols[3].Num[0], r.Cols[4].Str[0] = math.NaN(), math.Inf(1), math.NaN(), ""
	r.Cols[2].Num[0], r.Cols[2].Num[last] = math.NaN(), math.MaxFloat64 // which no int64 holds
	return r
}

// TestRowsBothWays stores the same rows as a ready block and as columns of the client.
func TestRowsBothWays(t *testing.T) {
	var answers [2][]string
	for i, compression := range []string{"none", "lz4"} {
		db := openDB(t, func(c *Config) { c.Compression = compression })
		if db.cfg.takesBlocks() != (i == 0) {
			t.Fatalf("compression %s: takes blocks: %v", compression, i != 0)
		}
		v := testView()
		v.Keys = []string{"node", "uid"}
		if err := db.ApplyViews(t.Context(), []*features.View{v}); err != nil {
			t.Fatal(err)
		}
		b := testBatch(1, 1, 2)
		b.Rows = []*features.Rows{deviceRowsOf(v, t0+10_000, "n2", "n1"), deviceRowsOf(v, t0, "n2", "n1", "n0"), deviceRowsOf(v, t0+20_000, "n9")}
		if err := newSink(t, db).Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		answers[i] = text(t, db, "toString(tuple(*))", "{db}.node_test")
	}
	if len(answers[0]) != 12 || !slices.Equal(answers[0], answers[1]) {
		t.Errorf("as a block\n%q\nas columns\n%q", answers[0], answers[1])
	}
	if !slices.IsSorted(answers[0]) {
		t.Errorf("rows are not in the order of the table: %q", answers[0])
	}
}

// TestSeriesAndLedgerBothWays stores the same series and ledger rows as ready blocks and as
// columns of the client. A series is there twice, an agent's numbers come in no order, and a
// record was sent twice.
func TestSeriesAndLedgerBothWays(t *testing.T) {
	var answers [2][]string
	for i, compression := range []string{"none", "lz4"} {
		db := openDB(t, func(c *Config) { c.Compression = compression })
		b := testBatch(1, 1, 1)
		b.Series = []pipeline.SeriesRow{
			{ID: 9, Node: "n2", Name: "a", Kind: "gauge", Unit: "bytes", Source: "vendor_a", FirstSeen: t0,
				Labels: []wire.Label{{Name: "disk", Value: "é"}, {Name: "node", Value: "n2"}}},
			{ID: 3, Node: "n1", Name: "b", Kind: "counter", Source: "b", UnknownOf: "nvidia", FirstSeen: t0 + 1},
			{ID: 9, Node: "n2", Name: "a", Kind: "gauge", Unit: "bytes", Source: "vendor_a", FirstSeen: t0 + 5,
				Labels: []wire.Label{{Name: "disk", Value: "é"}, {Name: "node", Value: "n2"}}},
		}
		b.Ledger = nil
		for k, agent := range []string{"z", "a", "z", "a", "z"} {
			b.Ledger = append(b.Ledger, pipeline.LedgerRow{Agent: agent, Node: "node of " + agent, Target: "t", Seq: uint64(10 - k), Oldest: 1, Dropped: 2,
				Partition: 3, Offset: int64(7 + k), Scrape: t0, Ingest: t0 + 20, Rows: uint32(k), Late: 1, Duplicates: 4, State: uint8(k % 3)})
		}
		again := b.Ledger[0]
		again.Offset = 5
		b.Ledger = append(b.Ledger, again)
		if err := newSink(t, db).Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		answers[i] = append(text(t, db, "toString(tuple(*))", "{db}.series FINAL ORDER BY id"),
			text(t, db, "toString(tuple(* EXCEPT written))", "{db}.ingest_ledger FINAL ORDER BY agent, seq, offset")...)
	}
	if len(answers[0]) != 2+6 || !slices.Equal(answers[0], answers[1]) {
		t.Errorf("as blocks\n%q\nas columns\n%q", answers[0], answers[1])
	}
}

// BenchmarkSinkRows writes the rows of a wide view, 1,000 nodes and ten ticks a batch, as a
// backlog gives them. The engine runs in this process, so CPU is that of both sides.
func BenchmarkSinkRows(b *testing.B) {
	for _, way := range []string{"none", "lz4"} {
		b.Run("compression="+way, func(b *testing.B) {
			db := openDB(b, func(c *Config) { c.Compression = way })
			v, batch := wideBatch()
			if err := db.ApplyViews(b.Context(), []*features.View{v}); err != nil {
				b.Fatal(err)
			}
			sink := newSink(b, db, func(c *SinkConfig) { c.MaxDelay = time.Millisecond })
			measure(b, 40*10_000, func() {
				if err := sink.Write(context.Background(), batch); err != nil {
					b.Fatal(err)
				}
				batch.First++
			})
		})
	}
}

func wideBatch() (*features.View, *pipeline.Batch) {
	v := &features.View{Name: "wide", Version: 1, Entity: "node", Keys: []string{"node"}, Tier: "monitoring", Interval: 10 * time.Second, TTL: time.Minute}
	for f := range 40 {
		v.Features = append(v.Features, features.Feature{Name: fmt.Sprintf("f%d", f), Expr: "a"})
	}
	batch := &pipeline.Batch{Topic: "t", First: 1, Last: 1}
	for tick := range 10 {
		r := &features.Rows{View: v, Keys: make([][]string, 1), Cols: make([]features.Column, 40)}
		for n := range 1000 {
			at := t0 + int64(tick)*10_000
			r.Tick, r.Known, r.Keys[0] = append(r.Tick, at), append(r.Known, at+5000), append(r.Keys[0], fmt.Sprintf("node-%04d", n))
			for f := range r.Cols {
				r.Cols[f].Num = append(r.Cols[f].Num, math.Sin(float64(n*f+tick)))
			}
		}
		batch.Rows = append(batch.Rows, r)
	}
	return v, batch
}
