package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// DeadLetters keeps the records that can never be read. Keep returns when they are
// durable; keeping one twice is fine.
type DeadLetters interface {
	Keep(ctx context.Context, dead []DeadLetter) error
}

// RunConfig says when a batch is written. Zero values take the defaults that the fields
// name.
type RunConfig struct {
	MaxRows  int           // rows that make a batch full, 200,000
	MaxDelay time.Duration // age at which a batch is written anyway, 1 s; one of few rows waits four times as long
	Flush    time.Duration // time that the last write has when ctx is done, 5 s
	Retry    time.Duration // pause after the first failed write, doubled up to 50 of it, 100 ms

	Dead    DeadLetters
	Metrics *Metrics // nil: none
	Log     *slog.Logger
}

func (c RunConfig) withDefaults() RunConfig {
	c.MaxRows = cmp.Or(c.MaxRows, 200_000)
	c.MaxDelay = cmp.Or(c.MaxDelay, time.Second)
	c.Flush = cmp.Or(c.Flush, 5*time.Second)
	c.Retry = cmp.Or(c.Retry, 100*time.Millisecond)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}

// Run drives a machine: it fetches, adds, writes batches to the sink and commits what is
// durable, until ctx is done or the source fails. While one batch is being written the
// next one fills, and when that is full too, nothing is fetched: a slow store slows
// the reading. A write that fails is tried again until it succeeds. When ctx is done, what
// was read is written and committed within cfg.Flush; what could not be is replayed by
// whoever comes next. Only Run's own goroutine calls the source.
func Run(ctx context.Context, src Source, m *Machine, sink Sink, cfg RunConfig) error {
	cfg = cfg.withDefaults()
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer cfg.Metrics.forget(m)
	r := &runner{
		src: src, m: m, cfg: cfg,
		w:        newWriter(sink, cfg),
		arrived:  time.Now(),
		lastTake: time.Now(),
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.w.run(writing)
	}()
	err := r.loop(ctx)
	timer := time.AfterFunc(cfg.Flush, stop)
	defer timer.Stop()
	if err == nil {
		err = r.flush(writing)
	}
	close(r.w.todo)
	if err != nil {
		stop() // what is in flight would not be committed
	}
	<-finished
	return err
}

// runner is the reading side of Run.
type runner struct {
	src      Source
	m        *Machine
	cfg      RunConfig
	w        *writer
	busy     bool      // a batch is with the writer
	arrived  time.Time // of the last record
	lastTake time.Time
}

// waiting is how long a fetch takes at least when it had to wait for records: then the
// partition is read to its end, and feature rows go out as soon as their tick closes.
// Behind the end they wait for a batch to fill, since the store likes few large inserts.
const waiting = 10 * time.Millisecond

// A batch of few rows costs the store as much as a large one, in parts to be merged above
// all: a small cluster's samples come with its next feature rows, or after some delays.
const (
	fewRows  = 20_000
	patience = 4
)

// due says whether the batch is old enough to be written.
func (r *runner) due() bool {
	age := time.Since(r.lastTake)
	return age >= patience*r.cfg.MaxDelay || age >= r.cfg.MaxDelay && r.m.Len() >= fewRows
}

// loop reads until ctx is done, which is no error.
func (r *runner) loop(ctx context.Context) error {
	for {
		began := time.Now()
		records, err := r.src.Fetch(ctx)
		atEnd := time.Since(began) > waiting
		if ctx.Err() != nil {
			// Records that came with the cancellation are read again by whoever is next.
			return nil //nolint:nilerr // the end was asked for
		}
		if err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
		for i := range records {
			if err := r.m.Add(records[i]); err != nil {
				r.cfg.Log.Debug("record set aside", "err", err)
			}
			if r.m.Len() >= r.cfg.MaxRows {
				if err := r.hand(ctx, true); err != nil {
					return ignoreDone(ctx, err)
				}
			}
		}
		r.idle(len(records))
		if r.due() || atEnd && r.m.HasRows() {
			if err := r.hand(ctx, false); err != nil {
				return ignoreDone(ctx, err)
			}
		}
		r.cfg.Metrics.observe(r.m)
		r.tellUnknown()
	}
}

// tellUnknown logs the metrics that the catalogue does not list, once a process.
func (r *runner) tellUnknown() {
	for _, name := range r.m.Unknown() {
		if r.cfg.Metrics.meet(name) {
			r.cfg.Log.Warn("a metric of a known vendor is not in the catalogue: stored as it is exposed", "vendor", name.Vendor, "name", name.Name)
		}
	}
}

func ignoreDone(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// idle tells the machine how long it has been silent. Time is counted from the last
// record on, in the broker's time, so that the two clocks need not agree.
func (r *runner) idle(records int) {
	if records > 0 {
		r.arrived = time.Now()
		return
	}
	if at := r.m.LastIngest(); at > 0 {
		r.m.Idle(at + time.Since(r.arrived).Milliseconds())
	}
}

// hand gives the batch so far to the writer. If the writer is busy it waits when the
// batch is full, and leaves it to fill on otherwise.
func (r *runner) hand(ctx context.Context, full bool) error {
	if r.busy {
		if err := r.settle(ctx, full); err != nil || r.busy {
			return err
		}
	}
	r.lastTake = time.Now()
	b := r.m.Take()
	if b == nil {
		return nil
	}
	r.w.todo <- b // never blocks long: the writer waits for it
	r.busy = true
	return nil
}

// settle commits the batch that the writer has finished. Commit after write, never
// before: a crash between the two replays rows that are there, which changes nothing.
func (r *runner) settle(ctx context.Context, wait bool) error {
	var b *Batch
	if wait {
		select {
		case b = <-r.w.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	} else {
		select {
		case b = <-r.w.done:
		default:
			return nil
		}
	}
	r.busy = false
	if err := r.src.Commit(ctx, b.Next); err != nil {
		return fmt.Errorf("commit %s: %w", b.Next, err)
	}
	r.m.Recycle(b)
	return nil
}

// flush writes and commits all that was read.
func (r *runner) flush(ctx context.Context) error {
	for r.busy || r.m.Len() > 0 {
		if err := r.hand(ctx, true); err != nil {
			return fmt.Errorf("last write: %w", err)
		}
		if r.busy {
			if err := r.settle(ctx, true); err != nil {
				return fmt.Errorf("last write: %w", err)
			}
		}
	}
	return nil
}
