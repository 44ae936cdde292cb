package derive

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sextant/features"
)

// Done is what a store knows of the ticks of a job.
type Done struct {
	First, Last int64   // of all that have their rows, unix ms
	Ticks       []int64 // those that have, since the time that was asked for
}

// outcome is what a job gave at a tick.
type outcome struct {
	rows   int
	view   *features.View // nil: no view was evaluated
	counts Counts
}

// job is a view, or the search for breaches.
type job struct {
	name     string
	interval time.Duration
	do       func(ctx context.Context, at At) (outcome, error)
	from     int64          // no tick before it is due, unix ms; 0: the job never ran
	done     map[int64]bool // ticks from then on that have their rows
	failing  bool
}

// resume takes up what the store knows since a time, unix ms.
func (j *job) resume(d Done, since int64) {
	j.done = map[int64]bool{d.Last: true}
	for _, t := range d.Ticks {
		j.done[t] = true
	}
	step := j.interval.Milliseconds()
	switch {
	case d.First >= since:
		j.from = d.First
	case len(d.Ticks) > 0:
		j.from = since
	default:
		j.from = d.Last + 1
	}
	j.from = (j.from + step - 1) / step * step
}

// due returns the ticks that are due at now and not done, oldest first, and how many older
// ones are given up. A job that never ran begins with the newest tick. Times are unix ms.
func (j *job) due(s Schedule, now int64) (due []int64, skipped int64) {
	step, newest := j.interval.Milliseconds(), s.newest(j.interval, now)
	if j.from == 0 {
		j.from, j.done = newest, map[int64]bool{}
	}
	if oldest := s.oldest(j.interval, now); oldest > j.from {
		skipped = (oldest - j.from) / step
		for t := range j.done {
			if t < oldest {
				if t >= j.from {
					skipped--
				}
				delete(j.done, t)
			}
		}
		j.from = oldest
	}
	for t := j.from; t <= newest; t += step {
		if !j.done[t] {
			due = append(due, t)
		}
	}
	return due, skipped
}

// order puts the newest tick of each job first, the later before the earlier, so that what is
// served is fresh, and then what was missed, from the oldest on. fresh is how many of the
// first kind there are.
func order(due map[int64][]*job, newest map[int64]bool) (ticks []int64, fresh int) {
	for t := range due {
		ticks = append(ticks, t)
	}
	slices.SortFunc(ticks, func(a, b int64) int {
		switch {
		case newest[a] && newest[b]:
			return cmp.Compare(b, a)
		case newest[a] != newest[b]:
			if newest[a] {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
	return ticks, len(newest)
}
