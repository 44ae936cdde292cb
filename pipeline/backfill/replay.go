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

// Replay is the windows and the evaluator of a group of nodes. It has no clock, goroutine or
// client, and is not safe for concurrent use.
type Replay struct {
	eval     *evaluate.Evaluator
	lately   *crosscheck.Recent
	interval int64 // ms between ticks of the stream
	swept    int
	byID     map[uint64]*waiting
	all      []*waiting
}

// waiting is the samples of a series that no tick has reached yet.
type waiting struct {
	window    *window.Series // nil: nothing reads it but the flags
	node, uid string
	flag      uint16 // what the series tells of, if it is one that tells of a flag
	times     []int64
	values    []float64
	flags     []uint16
	at        int // the first that no tick has reached
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

// Add takes a sample. Those of a series come in the order of their times, none twice.
func (r *Replay) Add(id uint64, t int64, v float64, flags uint16) {
	w, ok := r.byID[id]
	if !ok {
		return
	}
	if w.at == len(w.times) && w.at > 0 {
		w.times, w.values, w.flags, w.at = w.times[:0], w.values[:0], w.flags[:0], 0
	}
	w.times, w.values, w.flags = append(w.times, t), append(w.values, v), append(w.flags, flags)
}

// Tick evaluates a tick, after all samples before it. known is the known time of its rows,
// unix ms.
func (r *Replay) Tick(tick, known int64) []*features.Rows {
	store := r.eval.Store()
	store.SetNext(tick)
	r.fill(tick)
	store.SetNext(tick + r.interval)
	rows := r.eval.Tick(tick, known)
	for _, x := range rows {
		r.lately.FlagRows(x, tick)
	}
	if r.swept++; r.swept%sweepEvery == 0 {
		store.Sweep()
		r.lately.Forget(tick - crosscheck.RowFlags)
	}
	return rows
}

// sweepEvery is how many ticks lie between two searches for what is gone.
const sweepEvery = 6

// fill moves the samples before a tick into their windows.
func (r *Replay) fill(tick int64) {
	store := r.eval.Store()
	for _, w := range r.all {
		i := w.at
		for ; i < len(w.times) && w.times[i] < tick; i++ {
			if w.window != nil {
				w.window.Add(store, w.times[i], w.values[i])
			}
			r.note(w, i)
		}
		w.at = i
	}
}

// note remembers what was wrong with a sample for the rows of its node and device. The
// series that tell of flags say it of nodes, and of devices whose own values were wrong; what
// was wrong with all that a target sent stands beside each of its samples.
func (r *Replay) note(w *waiting, i int) {
	switch v := w.values[i]; {
	case w.flag != 0 && v == v:
		r.lately.Note(w.node, w.uid, w.times[i], w.flag)
	case w.flag == 0 && w.uid != "" && w.flags[i]&quality.OfScrape != 0:
		r.lately.Note(w.node, w.uid, w.times[i], w.flags[i]&quality.OfScrape)
	}
}
