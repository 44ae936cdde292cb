package clickhouse

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"sextant/features"
	"sextant/pipeline"
)

// The batch of a writer that left may be changing already.
func TestGatherLeavesOutWhoLeft(t *testing.T) {
	requestOf := func(node uint64) *request {
		b := testBatch(node, 1, 2)
		return &request{batch: b, origin: originOf(b)}
	}
	reqs := []*request{requestOf(1), requestOf(2), requestOf(3)}
	reqs[1].gone = true
	g := gather(reqs, &sampleColumns{})
	if want := []uint64{1<<48 + 1, 1<<48 + 2, 3<<48 + 1, 3<<48 + 2}; !slices.Equal(g.samples.Series, want) {
		t.Errorf("series %x, want %x", g.samples.Series, want)
	}
	if want := "telemetry.samples/1@1-1 telemetry.samples/3@1-1"; g.origin != want {
		t.Errorf("origin %q, want %q", g.origin, want)
	}
	if len(g.ledger) != 2 || len(g.series) != 4 {
		t.Errorf("%d ledger rows and %d series, want 2 and 4", len(g.ledger), len(g.series))
	}
}

func TestGatherCopies(t *testing.T) {
	v := testView()
	b := testBatch(1, 1, 2)
	b.Rows = []*features.Rows{testRows(v, "n1", t0, 1), testRows(v, "n2", t0, 2)}
	g := gather([]*request{{batch: b}}, &sampleColumns{})
	g.views[0].sort()
	b.Samples.Value[0], b.Rows[0], b.Ledger[0].Rows, b.Series[0].Name = -1, nil, 99, "changed"
	if slices.Contains(g.samples.Value, -1) || g.views[0].numbers(0)[0] != 1 || g.ledger[0].Rows == 99 || g.series[0].Name == "changed" {
		t.Errorf("the group changes with the batch: %+v", g)
	}
	if len(g.views) != 1 || g.views[0].len() != 2 {
		t.Errorf("rows of one view stay apart: %+v", g.views)
	}
}

// A token is the same for the same rows from the same place, and for nothing else.
func TestToken(t *testing.T) {
	tokenOf := func(table string, change func(*pipeline.Batch)) string {
		b := testBatch(1, 1, 3)
		change(b)
		for _, s := range gather([]*request{{batch: b, origin: originOf(b)}}, &sampleColumns{}).steps() {
			if s.table.name == table {
				return s.token
			}
		}
		t.Fatal("no step", table)
		return ""
	}
	same := func(*pipeline.Batch) {}
	for table, changes := range map[string][]func(*pipeline.Batch){
		"samples": {
			func(b *pipeline.Batch) { b.Partition++ },
			func(b *pipeline.Batch) { b.Last++ },
			func(b *pipeline.Batch) { b.Topic += "x" },
			func(b *pipeline.Batch) { b.Samples.Value[1]++ },
			func(b *pipeline.Batch) { b.Samples.Flags[1]++ },
			func(b *pipeline.Batch) { b.Samples.Time[1]++ },
		},
		"series": {
			func(b *pipeline.Batch) { b.Series[0].Unit = "bytes" },
			func(b *pipeline.Batch) { b.Series[0].Labels = b.Series[0].Labels[1:] },
		},
		"ingest_ledger": {
			func(b *pipeline.Batch) { b.Ledger[0].Rows++ },
			func(b *pipeline.Batch) { b.Ledger[0].Agent += "x" },
		},
	} {
		first := tokenOf(table, same)
		if again := tokenOf(table, same); again != first || !strings.HasPrefix(first, table+" telemetry.samples/1@1-1 ") {
			t.Errorf("tokens %q and %q", first, again)
		}
		for i, change := range changes {
			if other := tokenOf(table, change); other == first {
				t.Errorf("%s, change %d: same token %q", table, i, first)
			}
		}
	}
	long := strings.Repeat("t/1@1-2 ", 100)
	if a, b := token("samples", long, 1), token("samples", long+"x", 1); a == b || len(a) > 200 {
		t.Errorf("long origins: %q and %q", a, b)
	}
}

func TestBlock(t *testing.T) {
	s := pipeline.Samples{Series: []uint64{1, 1 << 60}, Time: []int64{-5, 7}, Value: []float64{0.5, 2}, Flags: []uint16{1, 4}}
	got, err := io.ReadAll(samplesBlock(samplesTable.columns, &s))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	want.Write([]byte{4, 2}) // columns, rows
	for i, data := range []any{s.Series, s.Time, s.Value, s.Flags} {
		c := samplesTable.columns[i]
		want.WriteByte(byte(len(c.Name)))
		want.WriteString(c.Name)
		want.WriteByte(byte(len(c.Type)))
		want.WriteString(c.Type)
		if err := binary.Write(&want, binary.LittleEndian, data); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("block\n%q\nwant\n%q", got, want.Bytes())
	}
	b := samplesBlock(samplesTable.columns, &s)
	if _, err := b.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	b.stop()
	if n, err := b.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after stop: %d bytes, %v", n, err)
	}
}

// Over a compressed connection samples take the way of all other tables.
func TestCompressedConnections(t *testing.T) {
	for _, method := range []string{"lz4", "zstd"} {
		t.Run(method, func(t *testing.T) {
			db := openDB(t, func(c *Config) { c.Compression = method })
			v := testView()
			if err := db.ApplyViews(t.Context(), []*features.View{v}); err != nil {
				t.Fatal(err)
			}
			b := testBatch(1, 1, 100)
			b.Rows = []*features.Rows{testRows(v, "n1", t0, 0.5)}
			if err := newSink(t, db).Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			if got, want := text(t, db, "count(), min(ts), round(sum(value), 6)", "{db}.samples"), []string{"100 " + dateText(t0+10_000) + " 105.05"}; !slices.Equal(got, want) {
				t.Errorf("samples %q, want %q", got, want)
			}
			r, err := db.LatestRows(t.Context(), v, 0)
			if err != nil || len(r.Tick) != 1 || r.Cols[0].Num[0] != 0.5 {
				t.Errorf("rows %+v, %v", r, err)
			}
		})
	}
}
