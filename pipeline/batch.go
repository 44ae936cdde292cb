// Package pipeline turns records of telemetry into samples and feature rows. Its middle
// is pure: it has no clock, goroutine or client, so minutes of stream test in
// microseconds. Everything it knows of time comes with the records.
package pipeline

import (
	"context"

	"sextant/features"
	"sextant/schema/wire"
)

// Batch is all that must be durable before its checkpoint may be committed.
type Batch struct {
	Topic       string
	Partition   int32
	First, Last int64 // offsets covered, inclusive: the base of the deduplication token

	Samples Samples
	Series  []SeriesRow
	Rows    []*features.Rows
	Ledger  []LedgerRow
	Dead    []DeadLetter
}

// Samples are columns of equal length.
type Samples struct {
	Series []uint64
	Time   []int64 // unix ms
	Value  []float64
	Flags  []uint8
}

// Flags of a sample.
const (
	FlagRetimed uint8 = 1 << iota // the event time was out of bounds; the scrape's time stands in
	FlagLate                      // arrived after the lateness: stored, in no feature row
	FlagPartial                   // read from a partial scrape
)

// SeriesRow names a series id.
type SeriesRow struct {
	ID        uint64
	Node      string
	Name      string       // canonical metric name
	Labels    []wire.Label // sorted by name, with node, without __name__
	Kind      string       // counter, gauge, … as the catalogue says
	Unit      string
	Source    string // the name as it was scraped
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
