package derive

import (
	"context"
	"log/slog"
	"time"

	"sextant/features"
)

// Store evaluates in SQL and keeps the results. Every method may be called again with the
// same arguments and leaves the same rows.
type Store interface {
	// Prepare makes the store ready for questions about a tick, until Release.
	Prepare(ctx context.Context, at At) error
	Release(ctx context.Context, at At) error
	// Derive evaluates the view, as its query gives it.
	Derive(ctx context.Context, v *features.View, at At) (*features.Rows, error)
	// WriteDerived makes rows durable.
	WriteDerived(ctx context.Context, rows *features.Rows, at At) error
	// Breaches finds the promises that were broken by the tick and keeps those that are new.
	Breaches(ctx context.Context, at At) (found int, err error)
	// Progress gives the last tick of each job, unix ms.
	Progress(ctx context.Context) (map[string]int64, error)
	// Done notes that a job has all rows of the tick.
	Done(ctx context.Context, job string, at At, rows int) error
}

// Breaches is the name of the job that looks for broken promises, among views. A view's
// reference has an @.
const Breaches = "sla_events"

// breachInterval is how often promises are looked at.
const breachInterval = 10 * time.Second

// Config of Run.
type Config struct {
	Views    []*features.View // those without SQL are left out
	Schedule Schedule
	// Stored returns when all that had reached the stream when it was called is in the store.
	Stored  func(ctx context.Context) error
	Metrics *Metrics
	Log     *slog.Logger
}

// job is a view, or the search for breaches.
type job struct {
	name     string
	interval time.Duration
	do       func(ctx context.Context, at At) (rows int, err error)
	last     int64 // unix ms; 0: not known
	failing  bool
}

// runner has what its jobs share.
type runner struct {
	Config
	store   Store
	jobs    []*job
	waiting bool // for the stream, longer than a round
}

// Run evaluates every tick when it is due, until ctx ends. A job that fails is counted,
// named when it begins to, tried again when the next tick is due, and stops no other.
func Run(ctx context.Context, store Store, cfg Config) error {
	r := &runner{Config: cfg, store: store}
	if r.Metrics == nil {
		r.Metrics = NewMetrics(nil)
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	for _, v := range cfg.Views {
		if v.SQL != "" {
			r.jobs = append(r.jobs, &job{name: v.Ref(), interval: v.Interval, do: func(ctx context.Context, at At) (int, error) { return r.view(ctx, v, at) }})
		}
	}
	r.jobs = append(r.jobs, &job{name: Breaches, interval: breachInterval, do: store.Breaches})
	if err := r.resume(ctx); err != nil {
		return err
	}
	for {
		if err := r.round(ctx, time.Now().UnixMilli()); err != nil {
			return err
		}
		if err := r.rest(ctx); err != nil {
			return err
		}
	}
}

// resume reads how far each job came, until the store answers.
func (r *runner) resume(ctx context.Context) error {
	for failed := false; ; failed = true {
		last, err := r.store.Progress(ctx)
		if err == nil {
			for _, j := range r.jobs {
				j.last = last[j.name]
			}
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !failed {
			r.Log.Warn("progress of the views of SQL cannot be read, trying again", "err", err)
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// rest waits until some job is due.
func (r *runner) rest(ctx context.Context) error {
	now := time.Now().UnixMilli()
	next := now + breachInterval.Milliseconds()
	for _, j := range r.jobs {
		next = min(next, r.Schedule.Next(j.interval, now))
	}
	return sleep(ctx, time.Duration(next-now)*time.Millisecond)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// round does all that is due at now, unix ms, tick by tick, and only what the stream held
// by now is waited for. Its error is ctx's.
func (r *runner) round(ctx context.Context, now int64) error {
	ticks, due := r.due(now)
	if len(ticks) == 0 {
		return nil
	}
	if err := r.stored(ctx); err != nil {
		return ctx.Err()
	}
	stuck := map[*job]bool{}
	for _, tick := range ticks {
		at := r.Schedule.At(tick)
		if err := r.store.Prepare(ctx, at); err != nil {
			r.failed(due[tick][0], at, err)
			return ctx.Err()
		}
		for _, j := range due[tick] {
			if !stuck[j] {
				stuck[j] = !r.tick(ctx, j, at)
			}
		}
		if err := r.store.Release(ctx, at); err != nil && ctx.Err() == nil {
			r.Log.Warn("the next views of SQL cost more room", "err", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// stored waits for the stream. A round that waits too long is put off.
func (r *runner) stored(ctx context.Context) error {
	err := r.Stored(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.Metrics.waits.Inc()
		if !r.waiting {
			r.Log.Warn("views of SQL wait for the stream to be stored", "err", err)
		}
		r.waiting = true
	case r.waiting:
		r.waiting = false
		r.Log.Info("the stream is stored again")
	}
	return err
}

// due are the ticks that are due, oldest first, with their jobs.
func (r *runner) due(now int64) (ticks []int64, due map[int64][]*job) {
	due = map[int64][]*job{}
	for _, j := range r.jobs {
		own, skipped := r.Schedule.Due(j.interval, j.last, now)
		if j.last == 0 && len(own) > 0 {
			j.last = own[0] - j.interval.Milliseconds() // a first tick that fails is tried again
		}
		if skipped > 0 {
			r.Metrics.skipped.WithLabelValues(j.name).Add(float64(skipped))
			r.Log.Warn("ticks are given up: too many to make up for", "job", j.name, "ticks", skipped)
			j.last = own[0] - j.interval.Milliseconds()
		}
		for _, t := range own {
			due[t] = append(due[t], j)
		}
	}
	for t := range due {
		ticks = append(ticks, t)
	}
	return sorted(ticks), due
}

// tick does one job's tick and says whether it went well.
func (r *runner) tick(ctx context.Context, j *job, at At) bool {
	start := time.Now()
	rows, err := j.do(ctx, at)
	if err == nil {
		err = r.store.Done(ctx, j.name, at, rows)
	}
	if err != nil {
		r.failed(j, at, err)
		return false
	}
	j.last = at.Tick
	r.Metrics.seconds.WithLabelValues(j.name).Observe(time.Since(start).Seconds())
	r.Metrics.rows.WithLabelValues(j.name).Add(float64(rows))
	r.Metrics.lag.WithLabelValues(j.name).Set(float64(time.Now().UnixMilli()-at.Tick) / 1000)
	if j.failing {
		j.failing = false
		r.Log.Info("evaluated in SQL again", "job", j.name)
	}
	return true
}

func (r *runner) failed(j *job, at At, err error) {
	r.Metrics.failures.WithLabelValues(j.name).Inc()
	if !j.failing {
		j.failing = true
		r.Log.Error("not evaluated in SQL, trying again at each tick", "job", j.name, "tick", time.UnixMilli(at.Tick).UTC(), "err", err)
	}
}

// view evaluates one view and stores its rows.
func (r *runner) view(ctx context.Context, v *features.View, at At) (int, error) {
	raw, err := r.store.Derive(ctx, v, at)
	if err != nil {
		return 0, err
	}
	rows, counts := Clean(raw)
	r.Metrics.faults(v, counts)
	return len(rows.Tick), r.store.WriteDerived(ctx, rows, at)
}
