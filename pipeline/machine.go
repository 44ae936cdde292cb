package pipeline

import (
	"fmt"

	"sextant/pipeline/crosscheck"
	"sextant/pipeline/evaluate"
	"sextant/pipeline/events"
	"sextant/schema/catalog"
	"sextant/schema/wire"
)

// Machine is the state machine of one partition. Records go in by Add in the order of
// their offsets; batches of samples and feature rows come out by Take. It has no clock,
// goroutine or client: all that it knows of time comes with the records. It is not safe
// for concurrent use.
type Machine struct {
	cfg  Config
	eval *evaluate.Evaluator
	id   func(node string, text []byte) uint64 // SeriesID

	nodes  map[string]*node
	series map[uint64]*series
	lately *crosscheck.Recent // flags, for the rows
	uses   uint64             // records so far: the age of a layout
	sent   senders

	time       eventTime
	needs      needs      // of the windows
	recent     needs      // of what marks and events hang on
	judgments  needs      // of what compares pages
	flagged    needs      // of the flags of rows, and of those in force
	swept      int64      // the last tick that looked for what is gone
	forgot     int64      // append time at which unused series were last looked for, unix ms
	usedBefore uint64     // uses at that time
	from       Checkpoint // where this machine began
	next       int64      // offset of the record that comes next
	replaying  bool       // the present record is durable already
	scrape     int64      // of the present record, unix ms

	batch  *Batch
	spare  *Batch
	counts Counts

	observed         Counts // what Metrics has seen
	observedFeatures []FeatureCounts

	// Scratch space of Add.
	decoder wire.Decoder
	labels  []wire.Label
	text    []byte
	texts   wire.Texts // of envelopes, which are checked
	words   wire.Texts // of labels
	gone    []bool
	page    *catalog.Page
	told    []told
	thing   events.Scrape
	found   []events.Event
	faults  []fault

	unknown unknownNames
}

// NewMachine returns the machine of a partition as it was at the checkpoint. The caller
// feeds it the records from c.Offset on.
func NewMachine(cfg Config, c Checkpoint) (*Machine, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, fmt.Errorf("pipeline of %s/%d: %w", cfg.Topic, cfg.Partition, err)
	}
	ev, err := evaluate.New(cfg.Views, evaluate.Options{Lookback: cfg.Lookback, GroupSize: cfg.GroupSize, Reference: cfg.Reference})
	if err != nil {
		return nil, fmt.Errorf("pipeline of %s/%d: %w", cfg.Topic, cfg.Partition, err)
	}
	m := &Machine{
		cfg: cfg, eval: ev, id: SeriesID,
		page:   cfg.Catalog.NewPage(),
		texts:  wire.Texts{},
		words:  wire.Texts{},
		nodes:  map[string]*node{},
		series: map[uint64]*series{},
		sent:   senders{},
		lately: crosscheck.NewRecent(cfg.Interval.Milliseconds()),
		time: eventTime{
			interval: cfg.Interval.Milliseconds(), lateness: cfg.Lateness.Milliseconds(), idle: cfg.Idle.Milliseconds(),
			maxPast: cfg.MaxPast.Milliseconds(), maxFuture: cfg.MaxFuture.Milliseconds(), maxSpool: cfg.MaxSpool.Milliseconds(),
		},
		needs:     needs{width: cfg.Interval.Milliseconds()},
		recent:    needs{width: cfg.Interval.Milliseconds()},
		judgments: needs{width: cfg.Interval.Milliseconds()},
		flagged:   needs{width: cfg.Interval.Milliseconds()},
		from:      c,
		next:      c.Offset,
	}
	m.skipTo(c.Start)
	m.batch = m.newBatch()
	return m, nil
}

func (m *Machine) newBatch() *Batch {
	b := m.spare
	if m.spare = nil; b == nil {
		b = &Batch{}
	}
	b.reset()
	b.Topic, b.Partition, b.First = m.cfg.Topic, m.cfg.Partition, max(m.next, m.from.Written)
	b.Last = b.First - 1
	return b
}

// Add takes the next record. An error says that this record can never be read; it is in
// the batch as a dead letter, and the stream goes on. What Add keeps of the record it
// copies.
func (m *Machine) Add(rec wire.Record) error {
	if rec.Offset < m.next {
		// A consumer that lost its partition may deliver what it had fetched before.
		m.counts.Stale++
		return nil
	}
	m.enter(&rec)
	env, err := wire.ParseEnvelope(rec.Headers, m.texts)
	if err == nil && string(rec.Key) != env.Node {
		err = fmt.Errorf("key %.60q is not the node %q: its other series are in another partition", rec.Key, env.Node)
	}
	if err != nil {
		return m.refuse(&rec, err)
	}
	if err := m.decoder.Scan(rec.Value); err != nil {
		m.ledger(&rec, &env, tally{})
		return m.refuse(&rec, err)
	}
	m.scrape = env.Scrape
	if m.sent.again(env.Agent, env.Seq, rec.Ingest) {
		m.ledger(&rec, &env, tally{duplicates: len(m.decoder.Values)})
	} else {
		l := m.layout(m.node(env.Node, rec.Ingest), env.Target)
		m.ledger(&rec, &env, m.samples(&rec, &env, l))
		m.counts.Histograms += uint64(m.decoder.Histograms)
	}
	m.advance(m.time.reached(env.Scrape, rec.Ingest), rec.Ingest)
	return nil
}

// enter moves to a record: past a pause before it, and out of the replay at the first
// record that is not yet durable.
func (m *Machine) enter(rec *wire.Record) {
	m.next = rec.Offset + 1
	m.counts.Records++
	m.replaying = rec.Offset < m.from.Written
	if m.replaying {
		m.counts.Replayed++
	} else {
		m.skipTo(m.from.Watermark)
		m.batch.Last = rec.Offset
	}
	if w := m.time.silence(rec.Ingest); w > 0 {
		m.advance(w, rec.Ingest)
	}
	m.time.ingest = rec.Ingest
}

// refuse sets a record aside.
func (m *Machine) refuse(rec *wire.Record, err error) error {
	m.counts.Dead++
	if !m.replaying {
		m.batch.Dead = append(m.batch.Dead, DeadLetter{rec.Clone(), err.Error()})
	}
	return fmt.Errorf("record %s/%d@%d: %w", m.cfg.Topic, rec.Partition, rec.Offset, err)
}

func (m *Machine) ledger(rec *wire.Record, env *wire.Envelope, t tally) {
	if m.replaying {
		return
	}
	m.counts.Samples += uint64(t.stored)
	m.counts.Late += uint64(t.late)
	m.counts.Duplicates += uint64(t.duplicates)
	m.batch.Ledger = append(m.batch.Ledger, LedgerRow{
		Agent: env.Agent, Node: env.Node, Target: env.Target,
		Seq: env.Seq, Oldest: env.Oldest, Dropped: env.Dropped,
		Partition: rec.Partition, Offset: rec.Offset, Scrape: env.Scrape, Ingest: rec.Ingest,
		Rows: uint32(t.stored), Late: uint32(t.late), Duplicates: uint32(t.duplicates), State: uint8(env.State),
	})
}

// LastIngest is the append time of the last record in unix ms, 0 before the first.
func (m *Machine) LastIngest() int64 { return m.time.ingest }

// Idle says that it is now and that no record came since the last one. After enough
// silence the ticks close that nobody can add to. It trails what the next record will say
// of the same silence by the lateness, because that record may be on its way: ticks are
// closed here or there, but the same samples are in them.
func (m *Machine) Idle(now int64) {
	if m.next < m.from.Written {
		return // still behind what is durable: the records to come tell
	}
	m.replaying = false
	m.skipTo(m.from.Watermark)
	if w := m.time.silence(now - m.time.lateness); w > 0 {
		m.advance(w, now)
	}
}

// Checkpoint is the state of now. It may be committed once all batches taken are
// durable and Take has nothing left.
func (m *Machine) Checkpoint() Checkpoint {
	written := max(m.next, m.from.Written)
	c := Checkpoint{Offset: written, Written: written, Watermark: m.time.watermark, Start: m.time.watermark}
	if m.next < m.from.Written {
		return m.from
	}
	c.Watermark = max(c.Watermark, m.from.Watermark)
	c.Start = c.Watermark
	if n, ok := m.oldest(); ok {
		c.Offset, c.Start = n.offset, n.start
	}
	return c
}

// Len is the number of rows that Take would return.
func (m *Machine) Len() int { return m.batch.Len() }

// HasRows says whether a tick has closed since the last Take and gave rows.
func (m *Machine) HasRows() bool { return len(m.batch.Rows) > 0 }

// Take returns the batch so far and begins another. It returns nil when there is nothing
// to store. Give the batch back with Recycle once it is stored.
func (m *Machine) Take() *Batch {
	b := m.batch
	if b.Len() == 0 {
		return nil
	}
	b.Next = m.Checkpoint()
	m.batch = m.newBatch()
	return b
}

// Recycle lets a later batch use b's memory. Nobody may hold any of it.
func (m *Machine) Recycle(b *Batch) { m.spare = b }
