package derive

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"sextant/features"
)

// Store evaluates views that it computes itself, and keeps the results. Every method may be called again with the
// same arguments and leaves the same rows.
type Store interface {
	// Prepare makes the store ready for questions of SQL about a tick, until Release, which may
	// keep what the next Prepare can use.
	Prepare(ctx context.Context, at At) error
	Release(ctx context.Context, at At) error
	// Derive evaluates the view, as its query or its expressions give it.
	Derive(ctx context.Context, v *features.View, at At) (*features.Rows, error)
	// WriteDerived makes rows durable.
	WriteDerived(ctx context.Context, rows *features.Rows, at At) error
	// Breaches finds the promises that were broken by the tick and keeps those that are new.
	Breaches(ctx context.Context, at At) (found int, err error)
	// Progress gives the ticks that each job has all rows of, those since a time, unix ms,
	// one by one. A job that has none is not in it.
	Progress(ctx context.Context, since int64) (map[string]Done, error)
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
	Views    []*features.View // others than those of Long are left out
	Long     bool             // the views that look back further than the stream, in place of those of SQL and of breaches: their first panes may take long, and nothing else is to wait
	Schedule Schedule
	// Stored returns when all is in the store that had reached the stream of task events when it
	// was called, and that of telemetry for a tick, unix ms, and those before.
	Stored  func(ctx context.Context, tick int64) error
	Metrics *Metrics
	Log     *slog.Logger
}

// runner has what its jobs share.
type runner struct {
	Config
	store   Store
	jobs    []*job
	waiting bool // for the stream, longer than a round
}

// Run evaluates every tick when it is due, until ctx ends. After a stop the newest tick comes
// first, and what was missed is made up for while no newer tick is due. A job that fails is counted,
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
		if v.InStore() && v.Long == r.Long {
			r.jobs = append(r.jobs, &job{name: v.Ref(), interval: v.Interval, do: func(ctx context.Context, at At) (outcome, error) { return r.view(ctx, v, at) }})
		}
	}
	if !r.Long {
		r.jobs = append(r.jobs, &job{name: Breaches, interval: breachInterval, do: func(ctx context.Context, at At) (outcome, error) {
			found, err := store.Breaches(ctx, at)
			return outcome{rows: found}, err
		}})
	}
	if err := r.resume(ctx); err != nil {
		return err
	}
	for {
		now := time.Now().UnixMilli()
		if err := r.round(ctx, now); err != nil {
			return err
		}
		if r.overtaken(now) {
			continue
		}
		if err := r.rest(ctx); err != nil {
			return err
		}
	}
}

// resume reads how far each job came, until the store answers.
func (r *runner) resume(ctx context.Context) error {
	for failed := false; ; failed = true {
		since := r.Schedule.since(time.Now().UnixMilli())
		done, err := r.store.Progress(ctx, since)
		if err == nil {
			for _, j := range r.jobs {
				if d, ok := done[j.name]; ok {
					j.resume(d, since)
				}
			}
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !failed {
			r.Log.Warn("progress of the views that the store computes cannot be read, trying again", "err", err)
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

// overtaken says whether a tick is due by now that was not at a time, unix ms.
func (r *runner) overtaken(then int64) bool {
	now := time.Now().UnixMilli()
	for _, j := range r.jobs {
		if r.Schedule.newest(j.interval, now) > r.Schedule.newest(j.interval, then) {
			return true
		}
	}
	return false
}

// round does what is due at now, unix ms, tick by tick, and only what the stream held by now
// is waited for. Ticks that were missed wait for the next round when a newer one is due. Its
// error is ctx's.
func (r *runner) round(ctx context.Context, now int64) error {
	due, newest := r.due(now)
	if len(due) == 0 {
		return nil
	}
	ticks, fresh := order(due, newest)
	if err := r.stored(ctx, slices.Max(ticks)); err != nil {
		return ctx.Err()
	}
	stuck := map[*job]bool{}
	for i, tick := range ticks {
		jobs := slices.DeleteFunc(due[tick], func(j *job) bool { return stuck[j] })
		if len(jobs) == 0 {
			continue
		}
		if i >= fresh && r.overtaken(now) {
			return nil
		}
		if err := r.tick(ctx, jobs, r.Schedule.At(tick), stuck); err != nil || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// tick does jobs at a tick, and says which are stuck. Its error is that of the store, which is
// told of.
func (r *runner) tick(ctx context.Context, jobs []*job, at At, stuck map[*job]bool) error {
	if !r.Long {
		if err := r.store.Prepare(ctx, at); err != nil {
			r.failed(ctx, jobs[0], at, err)
			return err
		}
	}
	for _, j := range jobs {
		stuck[j] = !r.one(ctx, j, at)
	}
	if r.Long {
		return nil
	}
	if err := r.store.Release(ctx, at); err != nil && ctx.Err() == nil {
		r.Log.Warn("the next views of SQL cost more room", "err", err)
	}
	return nil
}

// stored waits for the stream. A round that waits too long is put off.
func (r *runner) stored(ctx context.Context, tick int64) error {
	err := r.Stored(ctx, tick)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.Metrics.waits.Inc()
		if !r.waiting {
			r.Log.Warn("views that the store computes wait for the stream to be stored", "err", err)
		}
		r.waiting = true
	case r.waiting:
		r.waiting = false
		r.Log.Info("the stream is stored again")
	}
	return err
}

// due are the ticks that are due, with their jobs, and which of them are the newest of a job.
func (r *runner) due(now int64) (due map[int64][]*job, newest map[int64]bool) {
	due, newest = map[int64][]*job{}, map[int64]bool{}
	for _, j := range r.jobs {
		own, skipped := j.due(r.Schedule, now)
		if skipped > 0 {
			r.Metrics.skipped.WithLabelValues(j.name).Add(float64(skipped))
			r.Log.Warn("ticks are given up: too old to make up for", "job", j.name, "ticks", skipped)
		}
		for _, t := range own {
			due[t] = append(due[t], j)
		}
		if n := len(own); n > 0 && own[n-1] == r.Schedule.newest(j.interval, now) {
			newest[own[n-1]] = true
		}
	}
	return due, newest
}

// one does one job's tick and says whether it went well.
func (r *runner) one(ctx context.Context, j *job, at At) bool {
	start := time.Now()
	got, err := j.do(ctx, at)
	if err == nil {
		err = r.store.Done(ctx, j.name, at, got.rows)
	}
	if err != nil {
		r.failed(ctx, j, at, err)
		return false
	}
	j.done[at.Tick] = true
	r.Metrics.tick(j.name, got, time.Since(start))
	if at.Tick == r.Schedule.newest(j.interval, start.UnixMilli()) {
		r.Metrics.lag.WithLabelValues(j.name).Set(float64(time.Now().UnixMilli()-at.Tick) / 1000)
	}
	if j.failing {
		j.failing = false
		r.Log.Info("evaluated in the store again", "job", j.name)
	}
	return true
}

// failed counts and names a failure, unless it is the end.
func (r *runner) failed(ctx context.Context, j *job, at At, err error) {
	if ctx.Err() != nil {
		return
	}
	r.Metrics.failures.WithLabelValues(j.name).Inc()
	if !j.failing {
		j.failing = true
		r.Log.Error("not evaluated in the store, trying again at each tick", "job", j.name, "tick", time.UnixMilli(at.Tick).UTC(), "err", err)
	}
}

// view evaluates one view and stores its rows.
func (r *runner) view(ctx context.Context, v *features.View, at At) (outcome, error) {
	raw, err := r.store.Derive(ctx, v, at)
	if err != nil {
		return outcome{}, err
	}
	rows, counts := Clean(raw)
	return outcome{len(rows.Tick), v, counts}, r.store.WriteDerived(ctx, rows, at)
}
