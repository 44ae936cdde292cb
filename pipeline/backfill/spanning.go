package backfill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"sextant/features"
	"sextant/pipeline/derive"
)

// Spanning is a store that evaluates views itself: the part of derive.Store that a backfill
// needs, and what is stored already. It may be asked for several ticks at once.
type Spanning interface {
	Prepare(ctx context.Context, at derive.At) error
	Release(ctx context.Context, at derive.At) error
	Derive(ctx context.Context, v *features.View, at derive.At) (*features.Rows, error)
	WriteDerived(ctx context.Context, rows *features.Rows, at derive.At) error
	RowsBetween(ctx context.Context, v *features.View, from, to int64) (*features.Rows, error)
	// Flush lets go of all that Release kept for the ticks to come.
	Flush(ctx context.Context) error
}

// Notes remembers which parts of a job are done. A Store is one.
type Notes interface {
	Progress(ctx context.Context, job string) (map[string]bool, error)
	Done(ctx context.Context, job, part string, c Counts) error
}

// StoreConfig of a backfill of a view that the store computes. Zero values take the defaults that the fields name.
type StoreConfig struct {
	View     *features.View
	Schedule derive.Schedule // gives each tick the known time that it has live
	Job      string          // what is done of a job of that name is not done again; "": all is done
	From, To int64           // ticks in [From, To), unix ms
	Segment  time.Duration   // what is done or not, 1 h
	Parallel int             // segments at once, 1
	Moved    func(Progress)
}

// RunStore computes and stores the rows of cfg. What it has stored when it fails or ctx ends is
// not computed again by a run of the same job.
func RunStore(ctx context.Context, store Spanning, notes Notes, cfg StoreConfig) (p Progress, err error) {
	step := cfg.View.Interval.Milliseconds()
	cfg.From = (cfg.From + step - 1) / step * step
	done := map[string]bool{}
	if cfg.Job != "" {
		if done, err = notes.Progress(ctx, cfg.Job); err != nil {
			return p, err
		}
	}
	t := newTeller(cfg.Moved)
	t.total(max(cfg.To-cfg.From+step-1, 0) / step)
	// Room is let go of even where ctx has ended.
	defer func() { err = errors.Join(err, store.Flush(context.WithoutCancel(ctx))) }()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cmp.Or(cfg.Parallel, 1))
	for _, s := range cfg.segments(step) {
		if done[s.name] {
			t.moved(Progress{Done: (s.To - s.From + step - 1) / step})
			continue
		}
		g.Go(func() error { return cfg.segment(ctx, store, notes, s, t) })
	}
	err = g.Wait()
	return t.progress(), err
}

// segments cut the range. Their bounds do not depend on where it begins, so a job that is given a
// later end keeps what is done.
func (c *StoreConfig) segments(step int64) (out []part) {
	length := max(cmp.Or(c.Segment, time.Hour).Milliseconds()/step, 1) * step
	for from := c.From; from < c.To; {
		to := min(from-from%length+length, c.To)
		out = append(out, part{Range: Range{From: from, To: to}, name: fmt.Sprintf("%d-%d", from, to)})
		from = to
	}
	return out
}

// segment computes one segment, tick by tick.
func (c *StoreConfig) segment(ctx context.Context, store Spanning, notes Notes, s part, t *teller) error {
	var all Counts
	for tick := s.From; tick < s.To; tick += c.View.Interval.Milliseconds() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		counts, err := tickInStore(ctx, store, c.View, c.Schedule.At(tick))
		if err != nil {
			return err
		}
		all.add(counts)
		t.moved(Progress{Done: 1, Counts: counts})
	}
	if c.Job == "" {
		return nil
	}
	return notes.Done(ctx, c.Job, s.name, all)
}

func tickInStore(ctx context.Context, store Spanning, v *features.View, at derive.At) (c Counts, err error) {
	raw, err := derived(ctx, store, v, at)
	if err != nil {
		return c, fmt.Errorf("tick %d: %w", at.Tick, err)
	}
	rows, _ := derive.Clean(raw)
	have, err := store.RowsBetween(ctx, v, at.Tick, at.Tick+1)
	if err != nil {
		return c, err
	}
	rows.Origin = features.Backfill
	c = fill(rows, have)
	return c, store.WriteDerived(ctx, rows, at)
}

// derived evaluates a view; of SQL, between Prepare and Release.
func derived(ctx context.Context, store Spanning, v *features.View, at derive.At) (*features.Rows, error) {
	if v.SQL == "" {
		return store.Derive(ctx, v, at)
	}
	if err := store.Prepare(ctx, at); err != nil {
		return nil, err
	}
	rows, err := store.Derive(ctx, v, at)
	if released := store.Release(context.WithoutCancel(ctx), at); err == nil && released != nil {
		err = released
	}
	return rows, err
}
