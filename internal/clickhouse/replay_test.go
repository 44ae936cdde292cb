package clickhouse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"sextant/pipeline"
)

// Three partitions write records, crash at random, and read again from some record before:
// the same records, cut into other batches, beside each other. What is stored must be
// what one faultless run stores.
func TestCrashesLeaveOneRowOfEach(t *testing.T) {
	const records, perRecord = 30, 7
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			db := openDB(t)
			s := newSink(t, db, func(c *SinkConfig) { c.MaxRows, c.MinRows = 200, 20 })
			var partitions sync.WaitGroup
			for node := uint64(1); node <= 3; node++ {
				rng := rand.New(rand.NewPCG(seed, node))
				partitions.Go(func() { writeWithCrashes(t, s, rng, node, records, perRecord) })
			}
			partitions.Wait()
			got, err := db.Ledger(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			want := LedgerSummary{Agents: 3, Received: 3 * records, Expected: 3 * records * perRecord, Visible: 3 * records * perRecord}
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			// Every value is that of its series and record: none was mixed up.
			var rows, right uint64
			one(t, db, "SELECT count(), countIf(value = (toUnixTimestamp64Milli(ts) - "+fmt.Sprint(t0)+") / 10000 + bitAnd(series, 1023) / 1000) FROM {db}.samples FINAL", &rows, &right)
			if rows != right {
				t.Errorf("%d of %d values are right", right, rows)
			}
		})
	}
}

// writeWithCrashes writes records 1..n of a node in batches of one to nine. A crash after a
// write goes back to a record that was not committed.
func writeWithCrashes(t *testing.T, s *Sink, rng *rand.Rand, node uint64, n, perRecord int) {
	committed, next, crashes := 1, 1, 0
	for next <= n {
		size := min(1+rng.IntN(9), n-next+1)
		b := recordsOf(node, next, size, perRecord)
		if err := s.Write(context.Background(), b); err != nil {
			t.Error(err)
			return
		}
		next += size
		switch {
		case rng.IntN(3) == 0 && crashes < 5:
			next = committed
			crashes++
		case rng.IntN(2) == 0:
			committed = next
		}
	}
}

// recordsOf is a batch of size records from first on.
func recordsOf(node uint64, first, size, perRecord int) *pipeline.Batch {
	all := testBatch(node, uint64(first), perRecord)
	for seq := first + 1; seq < first+size; seq++ {
		b := testBatch(node, uint64(seq), perRecord)
		all.Samples.Series = append(all.Samples.Series, b.Samples.Series...)
		all.Samples.Time = append(all.Samples.Time, b.Samples.Time...)
		all.Samples.Value = append(all.Samples.Value, b.Samples.Value...)
		all.Samples.Flags = append(all.Samples.Flags, b.Samples.Flags...)
		all.Ledger = append(all.Ledger, b.Ledger...)
		all.Last = int64(seq)
	}
	return all
}
