// Package derive has the store evaluate what spans nodes: the views of SQL, at each tick, and
// what goes with them. It decides which ticks are due and in what order; the store and
// whoever knows how far the stream is stored are behind interfaces.
package derive

import (
	"time"

	"sextant/features"
	"sextant/pipeline/evaluate"
)

// At says which tick is evaluated and as of when, unix ms. What came after Known is not
// used, so the same At gives the same rows today and in a backfill.
type At struct{ Tick, Known int64 }

// Schedule says when ticks are due.
type Schedule struct {
	Delay   time.Duration // from a tick to its known time: lateness, and until rows are written
	Settle  time.Duration // from the known time until the store is asked
	CatchUp int           // ticks of one job that are made up for after a stop, at most
}

// At is the tick with its known time.
func (s Schedule) At(tick int64) At { return At{tick, tick + s.Delay.Milliseconds()} }

// Due returns the ticks of a job that are due at now and come after last, oldest first, and
// how many older ones are given up. last is 0 for a job that never ran: it begins with the
// newest tick. Times are unix ms.
func (s Schedule) Due(interval time.Duration, last, now int64) (due []int64, skipped int64) {
	step := interval.Milliseconds()
	ready := now - s.Delay.Milliseconds() - s.Settle.Milliseconds()
	newest := ready - ready%step
	if last == 0 {
		last = newest - step
	}
	first := last - last%step + step
	if n := (newest-first)/step + 1; n > int64(s.CatchUp) {
		skipped = n - int64(s.CatchUp)
		first += skipped * step
	}
	for t := first; t <= newest; t += step {
		due = append(due, t)
	}
	return due, skipped
}

// Next is when the next tick of a job is due, unix ms.
func (s Schedule) Next(interval time.Duration, now int64) int64 {
	step, wait := interval.Milliseconds(), s.Delay.Milliseconds()+s.Settle.Milliseconds()
	ready := now - wait
	return ready - ready%step + step + wait
}

// Counts says what became of the values of one feature that are not stored, and of the
// entities of a view that are not.
type Counts struct {
	OutOfRange []uint64 // by feature: outside the valid range or the type, NULL
	Duplicates int      // entities that the query gave more than one row for, left out
	Nameless   int      // rows with an empty key, left out
}

// Clean turns what the query gave into rows to store, by the rules of a view of PromQL: a
// value outside its range is NULL, and of two rows of one entity neither is right. A row
// without a value is left out.
func Clean(raw *features.Rows) (*features.Rows, Counts) {
	v := raw.View
	counts := Counts{OutOfRange: make([]uint64, len(v.Features))}
	for i := range v.Features {
		f := &v.Features[i]
		for row, x := range raw.Cols[i].Num {
			num, ok := evaluate.Convert(f, x)
			if !ok {
				counts.OutOfRange[i]++
			}
			raw.Cols[i].Num[row] = num
		}
	}
	keep := entities(raw, &counts)
	for row := range keep {
		keep[row] = keep[row] && hasValue(raw, row)
	}
	return filter(raw, keep), counts
}

// entities says which rows stand for one entity alone.
func entities(raw *features.Rows, counts *Counts) []bool {
	first := make(map[string]int, len(raw.Tick))
	twice := make(map[int]bool)
	keep := make([]bool, len(raw.Tick))
	var key []byte
	for row := range raw.Tick {
		key, keep[row] = key[:0], true
		for k := range raw.Keys {
			key = append(append(key, raw.Keys[k][row]...), 0xff)
			keep[row] = keep[row] && raw.Keys[k][row] != ""
		}
		if !keep[row] {
			counts.Nameless++
			continue
		}
		if other, ok := first[string(key)]; ok {
			keep[row], keep[other] = false, false
			if !twice[other] {
				counts.Duplicates++
			}
			twice[other] = true
			continue
		}
		first[string(key)] = row
	}
	return keep
}

func hasValue(r *features.Rows, row int) bool {
	for i := range r.Cols {
		if !r.Cols[i].Null(row) {
			return true
		}
	}
	return false
}

// filter keeps rows in place.
func filter(r *features.Rows, keep []bool) *features.Rows {
	r.Tick, r.Known = kept(r.Tick, keep), kept(r.Known, keep)
	for k := range r.Keys {
		r.Keys[k] = kept(r.Keys[k], keep)
	}
	for i := range r.Cols {
		if c := &r.Cols[i]; c.Str != nil {
			c.Str = kept(c.Str, keep)
		} else {
			c.Num = kept(c.Num, keep)
		}
	}
	return r
}

func kept[T any](s []T, keep []bool) []T {
	out := s[:0]
	for i, k := range keep {
		if k {
			out = append(out, s[i])
		}
	}
	return out
}
