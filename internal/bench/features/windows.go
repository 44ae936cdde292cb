package features

import (
	"math"

	"sextant/features"
	"sextant/internal/testkit/fleet"
	"sextant/pipeline/evaluate"
	"sextant/pipeline/window"
)

// windows is Sextant's evaluation: compiled, or by the upstream engine over the same
// window store.
type windows struct {
	eval   *evaluate.Evaluator
	series [][]*window.Series // by node
}

func newWindows(views []*features.View, reference bool) (*windows, error) {
	o := options
	o.Reference = reference
	ev, err := evaluate.New(views, o)
	if err != nil {
		return nil, err
	}
	return &windows{eval: ev}, nil
}

func (w *windows) join(i int, t *telemetry) error {
	store, name := w.eval.Store(), nameOf(i)
	var all []*window.Series
	for _, ls := range t.seriesOf(i) {
		all = append(all, store.NewSeries(name, ls))
	}
	store.Buffers(all, fleet.Interval)
	w.series = append(w.series, all)
	return nil
}

func (w *windows) add(i int, points []point) error {
	all, store := w.series[i], w.eval.Store()
	for _, p := range points {
		all[p.series].Add(store, p.t, p.v)
	}
	return nil
}

// pass says, as the pipeline does at each tick, that older points may go.
func (w *windows) pass(tick int64) error {
	w.eval.Store().SetNext(tick + fleet.Interval)
	return nil
}

func (w *windows) evaluate(tick int64) (values int, err error) {
	w.eval.Store().SetNext(tick + fleet.Interval)
	for _, r := range w.eval.Tick(tick, tick) {
		for c := range r.Cols {
			values += present(&r.Cols[c])
		}
	}
	return values, nil
}

func present(c *features.Column) (n int) {
	for _, v := range c.Num {
		if !math.IsNaN(v) {
			n++
		}
	}
	for _, s := range c.Str {
		if s != "" {
			n++
		}
	}
	return n
}

func (*windows) close() error { return nil }
