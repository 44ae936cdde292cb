package online

import (
	"context"
	"time"
)

// A view is asked in two ways. A shallow look asks for the newest tick on, which is all
// that changes as a rule, and cheap for the source. But partitions of the stream advance
// on their own: one that is behind adds rows below the newest tick, and a shallow look
// would miss them for as long as it stays behind. So from time to time a deep look asks
// for all that is within the TTL.
const (
	minDeep = 10 * time.Second
	maxWait = 5 * time.Second // longest pause after failures
	tick    = 10 * time.Second

	// grace is how much longer than View.Memory a row is held, so that whoever judges rows as
	// of a moment that is just past finds all that count.
	grace = 2 * tick
)

// Run refreshes until ctx is done. It returns the cause of that, never a failure of the
// source: those are counted, logged when they begin and end, and tried again.
func (s *Store) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		wake := s.opts.Now().Add(maxWait)
		for _, sh := range s.views {
			if !sh.next.After(s.opts.Now()) && ctx.Err() == nil {
				_ = s.refresh(ctx, sh) // kept in sh.failure, counted and logged there
			}
			if sh.next.Before(wake) {
				wake = sh.next
			}
		}
		timer.Reset(max(wake.Sub(s.opts.Now()), time.Millisecond))
	}
}

// Refresh looks at every view once, for all within its TTL. A program calls it to be
// filled before it serves; it must not run beside Run.
func (s *Store) Refresh(ctx context.Context) error {
	var first error
	for _, sh := range s.views {
		sh.nextDeep = time.Time{}
		if err := s.refresh(ctx, sh); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (s *Store) refresh(ctx context.Context, sh *shelf) error {
	start := s.opts.Now()
	err := s.look(ctx, sh, start)
	took := s.opts.Now().Sub(start)
	if err == nil {
		s.succeeded(sh, start, took)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err() // we are going; that is no failure of the source
	}
	s.failed(sh, err)
	return err
}

// look asks the source and swaps the snapshot.
func (s *Store) look(ctx context.Context, sh *shelf, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	old := sh.snapshot.Load()
	// Rows that are pushed come in no order of time.
	deep := !now.Before(sh.nextDeep) || sh.view.Push
	rows, err := s.source.LatestRows(ctx, sh.view, after(sh, old, deep, now))
	if err != nil {
		return err
	}
	fresh, err := old.merge(rows, now.Add(-sh.view.Memory()-grace).UnixMilli())
	if err != nil {
		return err
	}
	if deep {
		sh.nextDeep = s.settled(now).Add(max(minDeep, sh.view.TTL/10))
	}
	sh.snapshot.Store(fresh)
	sh.pace.looked(now, fresh != old, fresh.Newest > old.Newest, sh.view.Interval)
	s.metrics.rows.WithLabelValues(sh.view.Ref()).Add(float64(len(rows.Tick)))
	return nil
}

// after is the tick, in unix ms, above which a look asks for rows.
func after(sh *shelf, old *Snapshot, deep bool, now time.Time) int64 {
	switch {
	case sh.answered.Load() == 0: // as far as rows are remembered, so a restart changes no answer
		return now.Add(-sh.view.Memory()-grace).UnixMilli() - 1
	case deep || old.Len() == 0:
		return now.Add(-sh.view.TTL).UnixMilli() - 1
	}
	// The newest tick itself is asked for again: its rows come in several writes.
	return old.Newest - sh.view.Interval.Milliseconds()
}

func (s *Store) succeeded(sh *shelf, start time.Time, took time.Duration) {
	if sh.failures > 0 {
		s.opts.Log.Info("source of features answers again", "view", sh.view.Ref(), "failures", sh.failures)
	}
	if sh.answered.Load() == 0 {
		s.opts.Log.Info("view loaded", "view", sh.view.Ref(), "entities", sh.snapshot.Load().Len(), "took", took)
	}
	sh.failures = 0
	sh.failure.Store(nil)
	sh.asked.Store(start.UnixMilli())
	sh.answered.Store(s.opts.Now().UnixMilli())
	s.metrics.refresh.WithLabelValues(sh.view.Ref()).Observe(took.Seconds())
	// A view that ticks slowly is looked at less often, and one that takes long to read
	// takes a fifth of the time at most.
	sh.next = sh.pace.next(start.Add(took), max(s.opts.Refresh, min(sh.view.Interval/20, maxWait), 4*took))
	if s.opts.Settle > 0 {
		sh.next = earlier(sh.next, s.settled(start).Add(tick))
	}
}

// settled is the last time at or before now that lies Settle behind a tick.
func (s *Store) settled(now time.Time) time.Time {
	if s.opts.Settle <= 0 {
		return now
	}
	return now.Add(-s.opts.Settle).Truncate(tick).Add(s.opts.Settle)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (s *Store) failed(sh *shelf, err error) {
	if sh.failures == 0 {
		s.opts.Log.Error("source of features does not answer; serving what is known", "view", sh.view.Ref(), "err", err)
	}
	sh.failures++
	sh.failure.Store(&err)
	s.metrics.errors.WithLabelValues(sh.view.Ref()).Inc()
	sh.next = s.opts.Now().Add(min(s.opts.Refresh<<min(sh.failures, 10), maxWait))
}
