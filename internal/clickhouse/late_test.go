package clickhouse

import (
	"context"
	"testing"

	"sextant/schema/quality"
)

// TestLateCopyDoesNotReplace: an agent that sends a record again long after, past a restart
// of the pipeline, brings samples that are stored already, now marked as late. A backfill
// leaves out what is marked so: the row that was in time must stay.
func TestLateCopyDoesNotReplace(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []uint16 // of the writes, in order
	}{
		{"late copy second", []uint16{0, quality.Late}},
		{"late copy first", []uint16{quality.Late, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := openDB(t)
			s := newSink(t, db)
			for i, flags := range c.flags {
				b := testBatch(1, 1, 2)
				b.First, b.Last = int64(i), int64(i)
				for k := range b.Samples.Flags {
					b.Samples.Flags[k] = flags
				}
				if err := s.Write(context.Background(), b); err != nil {
					t.Fatal(err)
				}
			}
			var rows, late uint64
			one(t, db, "SELECT count(), countIf(bitAnd(flags, 2) != 0) FROM {db}.samples FINAL", &rows, &late)
			if rows != 2 || late != 0 {
				t.Errorf("a reader sees %d samples, %d late; want 2 and none", rows, late)
			}
		})
	}
}
