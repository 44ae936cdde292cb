package pipeline_test

import (
	"testing"

	"sextant/pipeline"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

// FuzzMachineAdd feeds a machine any value under a sound envelope, between two sound
// records. Whatever it is, the stream goes on and the columns stay of one length.
func FuzzMachineAdd(f *testing.F) {
	for _, e := range stream(1, 60) {
		if e.idle == 0 {
			f.Add(e.record.Value, int64(0), int64(0))
		}
	}
	f.Add([]byte{}, int64(-1)<<62, int64(1)<<62)
	f.Add([]byte("\x22\x00"), int64(9_000_000), int64(-9_000_000))
	f.Fuzz(func(t *testing.T, value []byte, scrape, ingest int64) {
		m := newMachine(t, pipeline.Checkpoint{})
		head := func(seq uint64, scrape int64) []wire.Header {
			return wire.Envelope{Node: "n", Agent: "a", Target: "t", Seq: seq, Oldest: 1, Scrape: max(scrape, 0)}.AppendHeaders(nil)
		}
		good := stream(2, 3)[1].record
		for i := range int64(3) {
			r := good
			r.Offset, r.Ingest, r.Headers, r.Key = 10+i, base+1000*i, head(uint64(i+1), base+1000*i), []byte("n")
			if i == 1 {
				r.Value, r.Ingest, r.Headers = value, clampTime(base+ingest), head(2, base+scrape)
			}
			if err := m.Add(r); err != nil && i != 1 {
				t.Fatalf("a sound record: %v", err)
			}
		}
		b := m.Take()
		s := b.Samples
		if n := len(s.Series); len(s.Time) != n || len(s.Value) != n || len(s.Flags) != n {
			t.Fatalf("columns of %d, %d, %d and %d", n, len(s.Time), len(s.Value), len(s.Flags))
		}
		if len(b.Ledger) != 3 {
			t.Fatalf("%d ledger rows for 3 records", len(b.Ledger))
		}
		rows := 0
		for _, l := range b.Ledger {
			rows += int(l.Rows)
		}
		for _, r := range b.Series {
			if r.Name == quality.Series { // no record's
				for _, id := range s.Series {
					if id == r.ID {
						rows++
					}
				}
			}
		}
		if rows != len(s.Series) {
			t.Fatalf("the ledger counts %d samples, the batch holds %d", rows, len(s.Series))
		}
		if b.Next.Written != 13 || b.Next.Offset > b.Next.Written {
			t.Fatalf("checkpoint %+v", b.Next)
		}
	})
}

// clampTime keeps a broker's clock within a century: it is not the sender's to choose.
func clampTime(t int64) int64 {
	const century = 100 * 365 * 86400_000
	return min(max(t, 1), base+century)
}

// FuzzParseCheckpoint wants any text to give an error or a checkpoint that survives its
// own text form.
func FuzzParseCheckpoint(f *testing.F) {
	f.Add(int64(5), "")
	f.Add(int64(5), "sx1 written=7 watermark=9 start=8")
	f.Add(int64(5), "sx1 written=7 watermark=9")
	f.Add(int64(5), "sx2 written=7 watermark=9 start=8")
	f.Fuzz(func(t *testing.T, offset int64, meta string) {
		c, err := pipeline.ParseCheckpoint(offset, meta)
		if err != nil || meta == "" {
			return
		}
		again, err := pipeline.ParseCheckpoint(c.Offset, c.String())
		if err != nil || again != c {
			t.Fatalf("%+v became %+v, %v", c, again, err)
		}
	})
}
