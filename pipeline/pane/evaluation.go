package pane

import (
	"fmt"

	"github.com/prometheus/prometheus/model/labels"

	"sextant/features"
	"sextant/pipeline/evaluate"
	"sextant/pipeline/window"
)

// Evaluation is a view at one tick, over some nodes. All series of a node belong to one.
type Evaluation struct {
	plan   *Plan
	tick   int64
	eval   *evaluate.Evaluator
	series map[uint64]*series
	order  []*series
}

// series is what was read of one.
type series struct {
	node    string
	labels  labels.Labels
	samples *window.Series // nil: nothing reads it sample by sample
	panes   []Pane         // by window; nil: nothing reads it from panes
}

// At begins the evaluation of a tick, unix ms.
func (p *Plan) At(tick int64) (*Evaluation, error) {
	eval, err := evaluate.New([]*features.View{p.around}, p.options)
	if err != nil {
		return nil, err
	}
	return &Evaluation{plan: p, tick: tick, eval: eval, series: map[uint64]*series{}}, nil
}

// Know makes a series known, which has labels with __name__ and node. Those that nothing selects
// are left out, and so is what comes of them.
func (e *Evaluation) Know(id uint64, ls labels.Labels) {
	s := &series{node: ls.Get("node"), labels: ls}
	s.samples = e.eval.Store().NewSeries(s.node, ls)
	for _, c := range e.plan.calls {
		if c.of.Matches(ls) {
			s.panes = make([]Pane, len(e.plan.Windows))
			break
		}
	}
	if s.samples == nil && s.panes == nil {
		return
	}
	e.series[id] = s
	e.order = append(e.order, s)
}

// Matches says whether a series belongs to the selector. A label that is absent has the value "".
func (s *Selector) Matches(ls labels.Labels) bool {
	for _, m := range s.Matchers {
		if !m.Matches(ls.Get(m.Name)) {
			return false
		}
	}
	return true
}

// Pane takes a pane of a window. Those of a series come in the order of time.
func (e *Evaluation) Pane(window int, id uint64, p *Pane) {
	if s := e.series[id]; s != nil && s.panes != nil {
		s.panes[window].Append(p)
	}
}

// Sample takes a sample, or a staleness marker, of what is read sample by sample.
func (e *Evaluation) Sample(id uint64, t int64, v float64) {
	if s := e.series[id]; s != nil && s.samples != nil {
		s.samples.Add(e.eval.Store(), t, v)
	}
}

// Rows evaluates the view, after all that was read; nil: it has no rows. known is their known time,
// unix ms. The error tells of nodes whose series contradict each other: they go without the
// feature, as in the stream, and the rows are good.
func (e *Evaluation) Rows(known int64) (*features.Rows, error) {
	store := e.eval.Store()
	b := labels.NewBuilder(labels.EmptyLabels())
	for _, s := range e.order {
		if s.panes == nil {
			continue
		}
		for i := range e.plan.calls {
			c := &e.plan.calls[i]
			w := &e.plan.Windows[c.window]
			if !c.of.Matches(s.labels) {
				continue
			}
			v, ok := c.value(&s.panes[c.window], e.tick-w.From, e.tick-w.To)
			if !ok {
				continue
			}
			r := store.NewSeries(s.node, e.plan.results(b, i, s.labels))
			if r == nil {
				panic("BUG: nothing selects the results of a call")
			}
			r.Add(store, e.tick-1, v)
		}
	}
	store.SetNext(e.tick)
	var failed error
	rows := e.eval.Tick(e.tick, known)
	e.eval.Counts(func(_, feature string, c evaluate.Counts) {
		if c.Errors > 0 && failed == nil {
			failed = fmt.Errorf("feature %s: the expression fails at %d nodes", feature, c.Errors)
		}
	})
	if len(rows) == 0 {
		return nil, failed
	}
	rows[0].View = e.plan.View
	return rows[0], failed
}
