// Package rollup keeps the hourly tables of reports true: it decides which hours are computed
// and when. The store computes an hour as a whole, from what it holds of it, and one that is
// computed again replaces what was there; so rows that come twice count once, and rows that
// come late count after all.
package rollup

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

const hourMS = int64(time.Hour / time.Millisecond)

// Hour is an hour as it was computed last.
type Hour struct {
	Start  int64  // unix ms
	Until  int64  // unix ms: what came before it is in
	Closed bool   // the hour was over, and settled
	Seen   uint64 // which rows the store had of it; 0: none
}

// Store computes hours. Every method may be called again with the same arguments.
type Store interface {
	// Rolled gives the hours that are there, by start, from a time on, unix ms.
	Rolled(ctx context.Context, from int64) (map[int64]Hour, error)
	// Seen says which rows the store has now of each hour that has any, from a time on.
	Seen(ctx context.Context, from int64) (map[int64]uint64, error)
	// Touched gives the oldest hour that events of tasks are of which came after since, and the
	// hours that were repaired after it; unix ms, 0 for none.
	Touched(ctx context.Context, since int64) (oldest int64, repaired []int64, err error)
	// Roll computes an hour. What it gave before stays in force until it is done.
	Roll(ctx context.Context, h Hour) error
}

// Config of Run.
type Config struct {
	Settle  time.Duration // after the end of an hour until it is closed; also how far behind the clock an open one is
	Open    time.Duration // the open hour is computed so often, at most
	Check   time.Duration // how often it is looked for rows that came late
	Reach   time.Duration // how far back that looks
	History time.Duration // how far back hours are computed that never were
	Share   int           // the open hour takes one of so many parts of the time, at most
	Metrics *Metrics
	Log     *slog.Logger
	Now     func() time.Time
}

// Defaults for a pipeline whose rows are seconds behind the clock.
func Defaults() Config {
	return Config{Settle: 2 * time.Minute, Open: 30 * time.Second, Check: 5 * time.Minute, Reach: 26 * time.Hour, History: 35 * 24 * time.Hour, Share: 20, Now: time.Now}
}

// runner remembers what was done when.
type runner struct {
	Config
	store   Store
	opened  time.Time     // when the open hour was computed last
	took    time.Duration // how long that took
	checked time.Time
	failing bool
}

// pause is how often is looked for something to do.
const pause = 5 * time.Second

// Run keeps the hours until ctx ends. An hour that fails is tried again.
func Run(ctx context.Context, store Store, cfg Config) error {
	r := &runner{Config: cfg, store: store}
	if r.Metrics == nil {
		r.Metrics = NewMetrics(nil)
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	for ctx.Err() == nil {
		r.report(ctx, r.round(ctx))
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
	return nil
}

func (r *runner) report(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.Metrics.failures.Inc()
		if !r.failing {
			r.Log.Error("hours for reports are not rolled up, trying again", "err", err)
		}
	case r.failing:
		r.Log.Info("hours for reports are rolled up again")
	}
	r.failing = err != nil
}

// round computes what is due, and no more than needs be.
func (r *runner) round(ctx context.Context) error {
	now := r.Now()
	if now.Sub(r.checked) >= r.Check {
		if err := r.late(ctx, now); err != nil {
			return err
		}
		r.checked = now
	}
	if r.Now().Sub(r.opened) < max(r.Open, time.Duration(r.Share)*r.took) {
		return nil
	}
	return r.open(ctx, r.Now())
}

// open computes the hour that lasts, and closes those that are over and were not closed.
func (r *runner) open(ctx context.Context, now time.Time) error {
	ms := now.UnixMilli()
	last := ms - ms%hourMS
	rolled, err := r.store.Rolled(ctx, last-2*hourMS)
	if err != nil {
		return err
	}
	for _, start := range []int64{last - 2*hourMS, last - hourMS} {
		if h, ok := rolled[start]; ok && !h.Closed && ms >= start+hourMS+r.Settle.Milliseconds() {
			if err := r.roll(ctx, start); err != nil {
				return err
			}
		}
	}
	begin := r.Now()
	start := last
	if ms < last+r.Settle.Milliseconds() {
		start -= hourMS // not settled: it counts as the one that lasts
	}
	if err := r.roll(ctx, start); err != nil {
		return err
	}
	r.opened, r.took = r.Now(), r.Now().Sub(begin)
	return nil
}

// late computes the hours anew of which other rows are there now than when they were computed,
// and those that never were, the newest first.
func (r *runner) late(ctx context.Context, now time.Time) error {
	reach, first := r.Reach, r.checked.IsZero()
	if first {
		reach = r.History
	}
	from := now.Add(-reach).UnixMilli()
	from -= from % hourMS
	rolled, err := r.store.Rolled(ctx, from)
	if err != nil {
		return err
	}
	seen, err := r.store.Seen(ctx, from)
	if err != nil {
		return err
	}
	due := map[int64]bool{}
	for start, s := range seen {
		if h, ok := rolled[start]; !ok || h.Closed && h.Seen != s {
			due[start] = true
		}
		if h := rolled[start]; !h.Closed {
			due[start] = true
		}
	}
	if !first {
		oldest, repaired, err := r.store.Touched(ctx, r.checked.Add(-time.Minute).UnixMilli())
		if err != nil {
			return err
		}
		for _, start := range repaired {
			due[start] = true
		}
		for start := oldest; oldest > 0 && start < now.UnixMilli(); start += hourMS {
			due[start] = start >= from || due[start]
		}
	}
	return r.all(ctx, due, now)
}

// all computes closed hours, the newest first.
func (r *runner) all(ctx context.Context, due map[int64]bool, now time.Time) error {
	var starts []int64
	for start, yes := range due {
		if yes && start+hourMS+r.Settle.Milliseconds() <= now.UnixMilli() {
			starts = append(starts, start)
		}
	}
	slices.Sort(starts)
	slices.Reverse(starts)
	for _, start := range starts {
		if err := r.roll(ctx, start); err != nil {
			return err
		}
		r.Metrics.late.Inc()
	}
	return nil
}

// roll computes one hour, as far as it is over.
func (r *runner) roll(ctx context.Context, start int64) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	began := r.Now()
	if err := r.store.Roll(ctx, HourAt(start, began, r.Settle)); err != nil {
		return err
	}
	r.Metrics.hours.Inc()
	r.Metrics.seconds.Observe(r.Now().Sub(began).Seconds())
	return nil
}

// openLag is how far behind the clock the open hour is computed: rows of that time are stored.
const openLag = 10 * time.Second

// HourAt is the hour from start, unix ms, as it can be computed at now: whole when it is over
// and settled, or else as far as rows can be there.
func HourAt(start int64, now time.Time, settle time.Duration) Hour {
	h := Hour{Start: start, Until: start + hourMS, Closed: now.UnixMilli() >= start+hourMS+settle.Milliseconds()}
	if !h.Closed {
		h.Until = max(min(h.Until, now.Add(-openLag).UnixMilli()), start)
	}
	return h
}

// Round does once what Run does over and over, as if it had just begun.
func Round(ctx context.Context, store Store, cfg Config) error {
	r := &runner{Config: cfg, store: store}
	r.Metrics, r.Log = NewMetrics(nil), slog.New(slog.DiscardHandler)
	return r.round(ctx)
}
