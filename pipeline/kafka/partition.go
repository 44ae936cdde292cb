package kafka

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"sextant/schema/wire"
)

// fetchWait is how long Fetch waits for records before it returns none.
const fetchWait = 250 * time.Millisecond

// Partition is one partition of one generation of the group, read by one goroutine. It
// is what a run function gets, and is dead when that function returns.
type Partition struct {
	topic   string
	id      int32
	member  membership
	from    start
	metrics *consumerMetrics

	// Two pages go round: the caller reads one while the next is fetched and decoded. A
	// caller that stops fetching stops the reading, two pages later.
	free, full chan *page
	held       *page // with the caller, until its next Fetch
	timer      *time.Timer

	delivered atomic.Int64 // offset behind the last record that the caller got
	watermark atomic.Int64 // the partition's high watermark at the last fetch
}

// start is where a partition is read from.
type start struct {
	offset   int64
	metadata string   // as committed with the offset
	bounds   position // of the partition at the time of the assignment
}

func newPartition(topic string, id int32, m membership, from start, metrics *consumerMetrics) *Partition {
	p := &Partition{
		topic: topic, id: id, member: m, from: from, metrics: metrics,
		free: make(chan *page, 2), full: make(chan *page, 2),
		timer: time.NewTimer(fetchWait),
	}
	p.free <- &page{}
	p.free <- &page{}
	p.delivered.Store(from.offset)
	p.watermark.Store(from.bounds.end)
	return p
}

// Topic returns the topic's name.
func (p *Partition) Topic() string { return p.topic }

// ID returns the partition's number.
func (p *Partition) ID() int32 { return p.id }

// Start returns where reading begins and the metadata that was committed with that
// offset, empty when nothing usable is committed. Nothing is usable after the broker lost
// records that were already committed: offsets then mean other records than before.
func (p *Partition) Start() (offset int64, metadata string) { return p.from.offset, p.from.metadata }

// Bounds returns the first retained offset and the high watermark at the assignment. A
// claim about offsets at or above end, made before it, is void.
func (p *Partition) Bounds() (first, end int64) { return p.from.bounds.first, p.from.bounds.end }

// Lag returns how many records the broker has behind the last one that Fetch returned, as
// of the last answer of the broker. It may be called at any time from anywhere.
func (p *Partition) Lag() int64 { return max(p.watermark.Load()-p.delivered.Load(), 0) }

func (p *Partition) showLag() {
	p.metrics.lag.WithLabelValues(strconv.Itoa(int(p.id))).Set(float64(p.Lag()))
}

// hideLag keeps a partition that another member reads now from showing its last lag here.
func (p *Partition) hideLag() { p.metrics.lag.DeleteLabelValues(strconv.Itoa(int(p.id))) }

// Fetch returns the next records, in order of offset, or none after 250 ms without any.
// They are valid until the next Fetch. An error is the partition's end: the run function
// should commit once more and return it.
func (p *Partition) Fetch(ctx context.Context) ([]wire.Record, error) {
	if p.held != nil {
		p.free <- p.held // never blocks: there are two pages in all
		p.held = nil
	}
	select {
	case pg, ok := <-p.full:
		return p.take(ctx, pg, ok)
	default:
	}
	p.timer.Reset(fetchWait)
	select {
	case pg, ok := <-p.full:
		return p.take(ctx, pg, ok)
	case <-p.timer.C:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *Partition) take(ctx context.Context, pg *page, ok bool) ([]wire.Record, error) {
	switch {
	case !ok && ctx.Err() != nil:
		return nil, ctx.Err()
	case !ok:
		return nil, context.Canceled // the reader was stopped first
	case pg.err != nil:
		return nil, pg.err
	}
	p.held = pg
	p.delivered.Store(pg.records[len(pg.records)-1].Offset + 1)
	p.metrics.records.Add(float64(len(pg.records)))
	p.showLag()
	return pg.records, nil
}

// Commit makes a restart begin at offset, with the metadata. It returns when the broker
// has stored it. It works on a cancelled ctx too, so that a partition that is being
// handed over can leave its last checkpoint; it is quick then.
func (p *Partition) Commit(ctx context.Context, offset int64, metadata string) error {
	err := p.member.commit(ctx, p.topic, p.id, offset, metadata)
	p.metrics.commits.WithLabelValues(commitResult(err)).Inc()
	return err
}
