package profile

import (
	"context"
	"log/slog"
	"time"

	"sextant/features"
)

// Config of Run.
type Config struct {
	Views   []*features.View
	Metrics *Metrics
	Log     *slog.Logger
}

// runner is what goes on between rounds.
type runner struct {
	Config
	store   Store
	looked  int64 // hour in which rows were last counted
	failing bool
}

// Run measures each hour of each view when it is closed, and again when its rows changed, until ctx
// ends. What fails is counted, named when it begins to, and tried again in the next round.
func Run(ctx context.Context, store Store, cfg Config) error {
	r := &runner{Config: cfg, store: store}
	if r.Metrics == nil {
		r.Metrics = NewMetrics(nil)
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	defer r.Metrics.forget() // who runs next tells of them
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		err := r.round(ctx, time.Now().UnixMilli())
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !r.failing:
			r.failing = true
			r.Log.Error("the quality of features is not measured, trying again", "err", err)
		case err == nil && r.failing:
			r.failing = false
			r.Log.Info("the quality of features is measured again")
		}
		if err != nil {
			r.Metrics.failures.Inc()
		}
		timer.Reset(every)
	}
}

// round measures what is due at now, unix ms, and tells how the newest hours are.
func (r *runner) round(ctx context.Context, now int64) error {
	stream, err := r.store.Closed(ctx)
	if err != nil {
		return err
	}
	made, err := r.store.Made(ctx, now-(horizon+2)*hour)
	if err != nil {
		return err
	}
	changed, err := r.store.Changed(ctx)
	if err != nil {
		return err
	}
	for _, v := range r.Views {
		if err := r.view(ctx, v, made[v.Ref()], changed[v.Ref()], stream, now); err != nil {
			return err
		}
	}
	r.looked = (now - settle.Milliseconds()) / hour
	return r.tell(ctx, now)
}

// view measures what is due of one view. Counting rows is for the round in which an hour has
// closed; what is written later with a word is found without.
func (r *runner) view(ctx context.Context, v *features.View, made map[int64]Made, changed map[int64]int64, stream, now int64) error {
	closed := closedAt(v, stream, now)
	stored := map[int64]uint64{}
	if newest := closed/hour*hour - hour; r.looked < (now-settle.Milliseconds())/hour || made[newest].At == 0 {
		var err error
		if stored, err = r.store.Stored(ctx, v, closed/hour*hour-horizon*hour); err != nil {
			return err
		}
	}
	for _, h := range due(stored, made, changed, closed, now) {
		start := time.Now()
		if err := r.store.Measure(ctx, v, h, stored[h]); err != nil {
			return err
		}
		r.Metrics.seconds.Observe(time.Since(start).Seconds())
		r.Metrics.hours.Inc()
	}
	return nil
}

// tell sets the metrics of each feature.
func (r *runner) tell(ctx context.Context, now int64) error {
	latest, err := r.store.Latest(ctx)
	if err != nil {
		return err
	}
	newest := map[string]int64{}
	for _, l := range latest {
		newest[l.View+":"+l.Feature] = l.Newest
	}
	for _, v := range r.Views {
		ticks, err := r.store.Newest(ctx, v, now-max(2*v.Interval, 15*time.Minute).Milliseconds())
		if err != nil {
			return err
		}
		for i, t := range ticks {
			key := v.Ref() + ":" + v.Features[i].Name
			newest[key] = max(newest[key], t)
		}
	}
	r.Metrics.tell(r.Views, latest, newest, now)
	return nil
}

// Fill measures the hours in [from, to), unix ms, of views that were not measured: those from
// before somebody did. It says how many.
func Fill(ctx context.Context, store Store, views []*features.View, from, to, now int64) (int, error) {
	stream, err := store.Closed(ctx)
	if err != nil {
		return 0, err
	}
	made, err := store.Made(ctx, from)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, v := range views {
		stored, err := store.Stored(ctx, v, from)
		if err != nil {
			return n, err
		}
		for h := range stored {
			if _, ok := made[v.Ref()][h]; ok || h >= to || h < from || h+hour > closedAt(v, stream, now) {
				continue
			}
			if err := store.Measure(ctx, v, h, stored[h]); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
