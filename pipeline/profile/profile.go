// Package profile has the store measure the values of features, hour by hour: how many are
// missing, out of range, how they are spread, and whether what was served is what is stored.
// It decides which hours are due; the store is behind an interface.
package profile

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sextant/features"
)

// An hour is a time in unix ms that begins one.
const hour = int64(time.Hour / time.Millisecond)

// Times of the runner.
const (
	every   = 5 * time.Minute
	settle  = 5 * time.Minute // from the end of an hour, or a change of it, until it is measured
	horizon = 24              // hours back in which rows that came without a word are noticed
	again   = 30 * time.Minute
)

// Made is when an hour of a view was measured last, and of how much.
type Made struct {
	At     int64  // unix ms
	Stored uint64 // rows in the tables of the view, copies among them
}

// Latest is the newest hour of one feature. What is not known is NaN, and a time 0.
type Latest struct {
	View, Feature                         string
	NullRatio, OutOfRangeRatio, SkewRatio float64
	Newest                                int64              // unix ms, of the last value
	PSI                                   map[string]float64 // by baseline
}

// Store measures in SQL and keeps the results. Every method may be called again with the same
// arguments and leaves the same rows.
type Store interface {
	// Closed is the time before which the stream has closed and stored all ticks, unix ms.
	Closed(ctx context.Context) (int64, error)
	// Stored counts the rows of a view since a time, unix ms, by hour.
	Stored(ctx context.Context, v *features.View, since int64) (map[int64]uint64, error)
	// Made says of each view, as name@version, which hours since a time, unix ms, were measured, and
	// which of those that Changed names.
	Made(ctx context.Context, since int64) (map[string]map[int64]Made, error)
	// Changed says likewise when hours were written to that may have been closed, unix ms: of
	// the last week.
	Changed(ctx context.Context) (map[string]map[int64]int64, error)
	// Measure measures an hour of a view. stored is what Stored said of it before, or 0.
	Measure(ctx context.Context, v *features.View, hour int64, stored uint64) error
	// Latest is the newest hour of each feature.
	Latest(ctx context.Context) ([]Latest, error)
	// Newest is the tick of the last value of each feature of a view since a time; 0: none.
	Newest(ctx context.Context, v *features.View, since int64) ([]int64, error)
}

// due are the hours of a view to measure at now, the newest first: those that have rows and were
// not measured, or of other rows; and those that changed since. closed is the time before which
// nothing comes any more but by a backfill, a repair or a push. Times are unix ms.
func due(stored map[int64]uint64, made map[int64]Made, changed map[int64]int64, closed, now int64) []int64 {
	list := map[int64]bool{}
	for h, n := range stored {
		if m, ok := made[h]; n > 0 && (!ok || m.Stored != n) {
			list[h] = true
		}
	}
	for h, at := range changed {
		m, ok := made[h]
		quiet, rested := now-at >= settle.Milliseconds(), now-m.At >= again.Milliseconds()
		if (!ok || m.At < at+settle.Milliseconds()) && (quiet || ok && rested) {
			list[h] = true
		}
	}
	var out []int64
	for h := range list {
		if h+hour <= closed {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b int64) int { return cmp.Compare(b, a) })
	return out
}

// closedAt is the time before which a view's hours are whole at now, as far as the stream and the
// clock tell.
func closedAt(v *features.View, stream, now int64) int64 {
	clock := now - settle.Milliseconds()
	if v.PromQL() {
		return min(clock, stream)
	}
	return clock
}
