// Package pipeline turns records of telemetry into samples and feature rows. Its middle
// is pure: it has no clock, goroutine or client, so minutes of stream test in
// microseconds. Everything it knows of time comes with the records.
package pipeline

import (
	"context"
	"fmt"

	"sextant/features"
	"sextant/schema/wire"
)

// Batch is all that must be durable before its checkpoint may be committed.
type Batch struct {
	Topic       string
	Partition   int32
	First, Last int64      // offsets covered, inclusive; Last is First-1 when only ticks closed
	Next        Checkpoint // what to commit once the batch is durable

	Samples Samples
	Series  []SeriesRow
	Rows    []*features.Rows
	Ledger  []LedgerRow
	Dead    []DeadLetter
}

// Token names the batch's content for deduplication. It holds the watermark because a
// silent partition closes ticks without new records: two such batches cover the same
// offsets and hold different rows.
func (b *Batch) Token() string {
	return fmt.Sprintf("%s/%d/%d-%d@%d", b.Topic, b.Partition, b.First, b.Last, b.Next.Watermark)
}

// Len is the number of rows, of all tables.
func (b *Batch) Len() int {
	n := len(b.Samples.Series) + len(b.Series) + len(b.Ledger) + len(b.Dead)
	for _, r := range b.Rows {
		n += len(r.Tick)
	}
	return n
}

// manySeries is how many new series a batch has room for when it is used again. At a
// start all series are new, and what they took is not needed again.
const manySeries = 1 << 12

// reset empties the batch and keeps its columns' memory.
func (b *Batch) reset() {
	s := b.Samples
	clear(b.Series)
	if cap(b.Series) > manySeries {
		b.Series = nil
	}
	clear(b.Ledger)
	*b = Batch{
		Samples: Samples{s.Series[:0], s.Time[:0], s.Value[:0], s.Flags[:0]},
		Series:  b.Series[:0],
		Ledger:  b.Ledger[:0],
	}
}

// Samples are columns of equal length.
type Samples struct {
	Series []uint64
	Time   []int64 // unix ms
	Value  []float64
	Flags  []uint16 // of package quality
}

// SeriesRow names a series id.
type SeriesRow struct {
	ID        uint64
	Node      string
	Name      string       // canonical metric name
	Labels    []wire.Label // sorted by name, with node, without __name__
	Kind      string       // counter, gauge, … as the catalogue says
	Unit      string
	Source    string // the name as it was scraped
	UnknownOf string // the vendor whose metric it is, though the catalogue does not list it; "" for all others
	FirstSeen int64  // unix ms, event time
}

// LedgerRow says what became of one record: it makes loss and duplication countable.
type LedgerRow struct {
	Agent, Node, Target  string
	Seq, Oldest, Dropped uint64
	Partition            int32
	Offset               int64
	Scrape, Ingest       int64  // unix ms
	Rows                 uint32 // samples stored
	Late                 uint32 // of them, later than the lateness
	Duplicates           uint32 // samples left out: same series and time again
	State                uint8  // wire.State
}

// DeadLetter is a record that can never be read, kept with the reason.
type DeadLetter struct {
	Record wire.Record // a copy
	Reason string
}

// Sink stores batches. Write returns when the batch is durable. Writing the same records
// again, in this batch or cut into others, must leave one row of each: a crash between
// Write and Commit replays them.
type Sink interface {
	Write(ctx context.Context, b *Batch) error
}

// Source yields the records of one partition in offset order. Fetch waits a fraction of
// a second at most and may return none; what it returns is valid until the next Fetch.
// Commit makes a restart begin from c, and is called only after c's batches are durable.
type Source interface {
	Fetch(ctx context.Context) ([]wire.Record, error)
	Commit(ctx context.Context, c Checkpoint) error
}
