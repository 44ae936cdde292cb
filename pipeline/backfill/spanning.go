package backfill

import (
	"context"
	"fmt"

	"sextant/features"
	"sextant/pipeline/derive"
)

// Spanning is a store that evaluates views of SQL: the part of derive.Store that a backfill
// needs, and what is stored already.
type Spanning interface {
	Prepare(ctx context.Context, at derive.At) error
	Release(ctx context.Context, at derive.At) error
	Derive(ctx context.Context, v *features.View, at derive.At) (*features.Rows, error)
	WriteDerived(ctx context.Context, rows *features.Rows, at derive.At) error
	RowsBetween(ctx context.Context, v *features.View, from, to int64) (*features.Rows, error)
}

// RunSQL computes and stores the rows of a view of SQL, for ticks in [from, to), unix ms, as of
// the known times that the schedule gives live ticks.
func RunSQL(ctx context.Context, store Spanning, v *features.View, s derive.Schedule, span Range, moved func(Progress)) (Progress, error) {
	step := v.Interval.Milliseconds()
	span.From = (span.From + step - 1) / step * step
	t := newTeller(moved)
	t.total(max(span.To-span.From+step-1, 0) / step)
	for tick := span.From; tick < span.To; tick += step {
		if ctx.Err() != nil {
			return t.progress(), context.Cause(ctx)
		}
		c, err := tickSQL(ctx, store, v, s.At(tick))
		if err != nil {
			return t.progress(), err
		}
		t.moved(Progress{Done: 1, Counts: c})
	}
	return t.progress(), nil
}

func tickSQL(ctx context.Context, store Spanning, v *features.View, at derive.At) (c Counts, err error) {
	if err := store.Prepare(ctx, at); err != nil {
		return c, err
	}
	raw, err := store.Derive(ctx, v, at)
	if released := store.Release(context.WithoutCancel(ctx), at); err == nil && released != nil {
		err = released
	}
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
