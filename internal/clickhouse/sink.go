package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sextant/pipeline"
)

// SinkConfig says when rows that wait are stored. Start from DefaultSinkConfig.
type SinkConfig struct {
	MaxRows  int           `yaml:"max_rows"`  // an insert begins at the latest with so many rows,
	MaxDelay time.Duration `yaml:"max_delay"` // or so long after the first of them,
	MinRows  int           `yaml:"min_rows"`  // or with so many, when no other insert is under way
	Inserts  int           `yaml:"inserts"`   // inserts under way at once
	Timeout  time.Duration `yaml:"timeout"`   // of one attempt at an insert
}

// DefaultSinkConfig makes inserts as large as ClickHouse likes them. The pipeline has
// collected rows for up to a second when it writes: the delay here only lets partitions
// meet, and is part of what a reader sees as freshness.
func DefaultSinkConfig() SinkConfig {
	return SinkConfig{MaxRows: 1_000_000, MaxDelay: 250 * time.Millisecond, MinRows: 10_000, Inserts: 2, Timeout: 2 * time.Minute}
}

// Validate reports every fault at once.
func (c SinkConfig) Validate() error {
	var errs []error
	if c.MaxRows < 1 {
		errs = append(errs, fmt.Errorf("max_rows: %d is below 1", c.MaxRows))
	}
	if c.MinRows < 1 || c.MinRows > c.MaxRows {
		errs = append(errs, fmt.Errorf("min_rows: %d is not within 1 and max_rows", c.MinRows))
	}
	if c.MaxDelay <= 0 {
		errs = append(errs, fmt.Errorf("max_delay: %v is not above 0", c.MaxDelay))
	}
	if c.Inserts < 1 || c.Inserts > 64 {
		errs = append(errs, fmt.Errorf("inserts: %d is not within 1 and 64", c.Inserts))
	}
	if c.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("timeout: %v is not above 0", c.Timeout))
	}
	return errors.Join(errs...)
}

// ErrClosed is returned by Write after Close.
var ErrClosed = errors.New("clickhouse: sink is closed")

// Sink stores batches. The batches that several partitions write at the same time become
// one insert per table: while an insert is under way, the next ones gather. It
// implements pipeline.Sink.
//
// Its memory is bounded by its writers: each waits until its batch is durable, and the
// sink holds at most one copy of MaxRows (and one batch more) per insert under way.
type Sink struct {
	db  *DB
	cfg SinkConfig

	ctx     context.Context // done when the sink closes
	cancel  context.CancelFunc
	workers sync.WaitGroup
	outage  outage

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when what follows changes
	queue   []*request
	rows    int       // in queue
	since   time.Time // when the first of queue came
	busy    int       // inserts under way
	closed  bool
}

var _ pipeline.Sink = (*Sink)(nil)

// NewSink starts a sink. Close ends it.
func (db *DB) NewSink(cfg SinkConfig) (*Sink, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Sink{db: db, cfg: cfg, changed: make(chan struct{}), outage: outage{log: db.log}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for range cfg.Inserts {
		s.workers.Go(s.work)
	}
	return s, nil
}

// Write returns when b is durable. While the server is away it waits and tries again,
// until ctx is done; then it is unknown whether b was stored, and writing it again is
// right. An error that is not ctx's means that the server refuses b itself, for good.
// b is not read after Write has returned.
func (s *Sink) Write(ctx context.Context, b *pipeline.Batch) error {
	origin := originOf(b)
	rows, err := batchRows(b)
	if err != nil {
		s.db.metrics.refused.Inc()
		return fmt.Errorf("write %s: %w", origin, err)
	}
	if rows == 0 {
		return nil
	}
	r := &request{batch: b, origin: origin, rows: rows, done: make(chan error, 1)}
	if err := s.enqueue(r); err != nil {
		return err
	}
	s.db.metrics.pending.Add(float64(rows))
	defer s.db.metrics.pending.Sub(float64(rows))
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		r.mu.Lock() // waits while a worker reads b
		r.gone = true
		r.mu.Unlock()
		s.notify()
		return fmt.Errorf("write %s: not known to be stored: %w", origin, ctx.Err())
	}
}

func (s *Sink) enqueue(r *request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if len(s.queue) == 0 {
		s.since = time.Now()
	}
	s.queue = append(s.queue, r)
	s.rows += r.rows
	s.broadcast()
	return nil
}

// broadcast wakes all who wait for a change. s.mu is held.
func (s *Sink) broadcast() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Sink) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broadcast()
}

// Close stops the sink. Writes that still wait return ErrClosed.
func (s *Sink) Close() error {
	s.mu.Lock()
	s.closed = true
	s.broadcast()
	s.mu.Unlock()
	s.cancel()
	s.workers.Wait()
	for _, r := range s.queue {
		r.done <- ErrClosed
	}
	s.queue = nil
	return nil
}

// work stores what is due, one group after the other.
func (s *Sink) work() {
	w := &worker{sink: s, buf: &sampleColumns{}}
	for {
		reqs, ok := s.take()
		if !ok {
			return
		}
		w.storeAll(reqs)
		s.mu.Lock()
		s.busy--
		s.broadcast()
		s.mu.Unlock()
	}
}

// take waits until an insert is due and takes its requests, as many as fit into MaxRows
// and at least one.
func (s *Sink) take() ([]*request, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed {
		s.dropGone()
		wait := s.dueIn()
		if wait <= 0 {
			s.busy++
			return s.cut(), true
		}
		changed := s.changed
		s.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
		s.mu.Lock()
	}
	return nil, false
}

// dueIn says when the next insert begins if nothing changes.
func (s *Sink) dueIn() time.Duration {
	switch {
	case len(s.queue) == 0:
		return time.Hour
	case s.rows >= s.cfg.MaxRows:
		return 0
	case s.busy == 0 && s.rows >= s.cfg.MinRows:
		return 0
	}
	return s.cfg.MaxDelay - time.Since(s.since)
}

func (s *Sink) cut() []*request {
	n, rows := 0, 0
	for n < len(s.queue) && (n == 0 || rows+s.queue[n].rows <= s.cfg.MaxRows) {
		rows += s.queue[n].rows
		n++
	}
	out := append([]*request(nil), s.queue[:n]...)
	s.queue = append([]*request(nil), s.queue[n:]...)
	s.rows -= rows
	s.since = time.Now()
	return out
}

// dropGone forgets requests whose writers left before their turn.
func (s *Sink) dropGone() {
	kept := s.queue[:0]
	for _, r := range s.queue {
		if r.left() {
			s.rows -= r.rows
			continue
		}
		kept = append(kept, r)
	}
	clear(s.queue[len(kept):])
	s.queue = kept
}

func (r *request) left() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone
}
