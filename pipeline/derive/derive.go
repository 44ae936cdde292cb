// Package derive has the store evaluate what the stream cannot: views of SQL, which span nodes,
// and views that look back further than the stream; at each tick, and with what goes with them. It decides which ticks are due and in what order; the store and
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
	CatchUp time.Duration // how far back ticks are made up for after a stop
}

// At is the tick with its known time.
func (s Schedule) At(tick int64) At { return At{tick, tick + s.Delay.Milliseconds()} }

// newest is the newest tick of a job that is due at now, unix ms.
func (s Schedule) newest(interval time.Duration, now int64) int64 {
	step := interval.Milliseconds()
	ready := now - s.Delay.Milliseconds() - s.Settle.Milliseconds()
	return ready - ready%step
}

// oldest is the oldest tick of a job that is still made up for at now, unix ms: the newest is
// in any case.
func (s Schedule) oldest(interval time.Duration, now int64) int64 {
	return s.newest(interval, now) - int64(max(s.CatchUp-1, 0)/interval)*interval.Milliseconds()
}

// since is the time before which no tick is made up for at now, unix ms.
func (s Schedule) since(now int64) int64 {
	return now - (s.Delay + s.Settle + s.CatchUp).Milliseconds()
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
	OutOfRange []uint64 // by feature: outside the valid range or the type, NULL; nil: none
	Duplicates int      // entities that the query gave more than one row for, left out
	Nameless   int      // rows with an empty key, left out
}

// Clean turns what the query gave into rows to store, by the rules of a view of PromQL: a
// value outside its range is NULL, and of two rows of one entity neither is right. A row
// without a value is left out.
func Clean(raw *features.Rows) (*features.Rows, Counts) {
	v := raw.View
	var counts Counts
	for i := range v.Features {
		f := &v.Features[i]
		for row, x := range raw.Cols[i].Num {
			num, ok := evaluate.Convert(f, x)
			if !ok {
				raw.Refuse(i)
			}
			raw.Cols[i].Num[row] = num
		}
	}
	keep := entities(raw, &counts)
	for row := range keep {
		keep[row] = keep[row] && hasValue(raw, row)
	}
	raw.Keep(keep)
	counts.OutOfRange = raw.OutOfRange
	return raw, counts
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
