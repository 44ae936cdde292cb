// Package backfill computes feature rows from stored samples: it puts them into the windows
// of the stream, in the order of their times, and has the evaluator of the stream evaluate
// each tick. So a row is the same whether it was computed at its tick or a year later.
package backfill

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"sextant/features"
	"sextant/pipeline/crosscheck"
	"sextant/pipeline/evaluate"
	"sextant/pipeline/window"
	"sextant/schema/quality"
)

// Series is a stored series.
type Series struct {
	ID     uint64
	Node   string
	Labels labels.Labels // with __name__ and node
}

// Samples are samples by column: those of a series side by side, in the order of their times,
// none twice.
type Samples struct {
	Series []uint64
	Time   []int64 // unix ms
	Value  []float64
	Flags  []uint16 // of package quality
}

// Replay is the windows and the evaluator of a group of nodes. It has no clock, goroutine or
// client, and is not safe for concurrent use.
type Replay struct {
	eval     *evaluate.Evaluator
	lately   *crosscheck.Recent
	interval int64 // ms between ticks of the stream
	complete int64 // all samples before it were added, unix ms
	filled   int64 // the windows have all samples before it
	swept    int
	byID     map[uint64]*waiting
	all      []*waiting
}

// NewReplay compiles the views, which are of PromQL. lookback and interval are those of the stream.
func NewReplay(views []*features.View, lookback, interval time.Duration, groupSize int) (*Replay, error) {
	e, err := evaluate.New(views, evaluate.Options{Lookback: lookback, GroupSize: groupSize})
	if err != nil {
		return nil, err
	}
	ms := interval.Milliseconds()
	return &Replay{eval: e, lately: crosscheck.NewRecent(ms), interval: ms, byID: map[uint64]*waiting{}}, nil
}

// History is how far before a tick its samples lie, ms.
func (r *Replay) History() int64 { return max(r.eval.Store().History(), crosscheck.RowFlags) }

// Names lists the metrics that the views read, and what tells of flags; nil: all of them.
func (r *Replay) Names() []string {
	names, all := r.eval.Store().Names()
	if all {
		return nil
	}
	return append(names, quality.Series)
}

// Know makes series known. The samples of others are left out.
func (r *Replay) Know(series []Series) {
	var fresh []*window.Series
	for _, s := range series {
		w := &waiting{node: s.Node, uid: s.Labels.Get("uid"), window: r.eval.Store().NewSeries(s.Node, s.Labels)}
		if s.Labels.Get(labels.MetricName) == quality.Series {
			f, _ := quality.Of(s.Labels.Get(quality.Label))
			w.flag = f.Bit
		}
		if w.window == nil && w.flag == 0 {
			continue
		}
		if w.window != nil {
			fresh = append(fresh, w.window)
		}
		r.byID[s.ID] = w
		r.all = append(r.all, w)
	}
	r.eval.Store().Buffers(fresh, r.interval)
}

// Len is the number of series that are known.
func (r *Replay) Len() int { return len(r.all) }

// Add takes samples, and keeps the columns until ticks have reached them. Those of a series come
// in the order of their times.
func (r *Replay) Add(s Samples) {
	for from := 0; from < len(s.Series); {
		id, to := s.Series[from], from+1
		for ; to < len(s.Series) && s.Series[to] == id; to++ {
		}
		if w, ok := r.byID[id]; ok {
			w.add(run{s.Time[from:to], s.Value[from:to], s.Flags[from:to]})
		}
		from = to
	}
}

// Complete says that all samples before a time, unix ms, were added.
func (r *Replay) Complete(before int64) { r.complete = before }

// Tick evaluates a tick, after all samples before it. known is the known time of its rows,
// unix ms.
func (r *Replay) Tick(tick, known int64) []*features.Rows {
	store := r.eval.Store()
	store.SetNext(tick)
	if tick > r.filled {
		r.fill(max(tick, min(tick+fillAhead*r.interval, r.complete)))
	}
	rows := r.eval.Tick(tick, known)
	for _, x := range rows {
		r.lately.FlagRows(x, tick)
	}
	if r.swept++; r.swept%sweepEvery == 0 {
		store.SetNext(tick + r.interval)
		store.Sweep()
		r.lately.Forget(tick - crosscheck.RowFlags)
	}
	return rows
}

const (
	// sweepEvery is how many ticks lie between two searches for what is gone.
	sweepEvery = 6
	// fillAhead is how many ticks a window is filled ahead: no tick sees what lies behind it, and
	// the samples of a series lie side by side.
	fillAhead = 7
)

// fill moves the samples before a time into their windows.
func (r *Replay) fill(before int64) {
	store := r.eval.Store()
	for _, w := range r.all {
		for w.next(before) {
			if w.window != nil {
				w.window.Add(store, w.times[w.at], w.values[w.at])
			}
			r.note(w)
			w.at++
		}
	}
	r.filled = before
}

// note remembers what was wrong with a sample for the rows of its node and device. The
// series that tell of flags say it of nodes, and of devices whose own values were wrong; what
// was wrong with all that a target sent stands beside each of its samples.
func (r *Replay) note(w *waiting) {
	switch {
	case w.flag != 0:
		if v := w.values[w.at]; v == v {
			r.lately.Note(w.node, w.uid, w.times[w.at], w.flag)
		}
	case w.flags != nil && w.uid != "":
		if f := w.flags[w.at] & quality.OfScrape; f != 0 {
			r.lately.Note(w.node, w.uid, w.times[w.at], f)
		}
	}
}
