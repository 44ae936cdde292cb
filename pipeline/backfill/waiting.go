package backfill

import "sextant/pipeline/window"

// waiting is the samples of a series that are in no window yet.
type waiting struct {
	window    *window.Series // nil: nothing reads it but the flags
	node, uid string
	flag      uint16 // what the series tells of, if it is one that tells of a flag

	run
	at   int   // of run: the first that waits
	more []run // behind it
}

// run is samples of one series.
type run struct {
	times  []int64
	values []float64
	flags  []uint16 // nil: none has any
}

func (w *waiting) add(r run) {
	if !flagged(r.flags) {
		r.flags = nil
	}
	if w.at == len(w.times) && len(w.more) == 0 {
		w.run, w.at = r, 0
		return
	}
	w.more = append(w.more, r)
}

func flagged(flags []uint16) bool {
	for _, f := range flags {
		if f != 0 {
			return true
		}
	}
	return false
}

// next says whether the sample at w.at is there and lies before a time. It lets go of a run that
// is done, whose columns others share.
func (w *waiting) next(before int64) bool {
	for w.at == len(w.times) {
		w.run, w.at = run{}, 0
		if len(w.more) == 0 {
			w.more = nil
			return false
		}
		w.run, w.more = w.more[0], w.more[1:]
	}
	return w.times[w.at] < before
}
