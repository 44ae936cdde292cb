package compile

import (
	"github.com/prometheus/prometheus/model/labels"

	"sextant/pipeline/window"
)

// rangeCall is a function over a range selector, series by series. Its arguments, as a
// node, are the function's scalars.
type rangeCall struct {
	f        rangeFunc
	rng      int64 // ms
	offset   int64 // ms
	keepName bool

	now     interval
	windows [block]window.Span
}

// block is how many windows are looked up before their values are worked on. The series
// of a group lie far apart in memory: looked up together, they come together.
const block = 32

// interval is what a rangeFunc may know beside the points.
type interval struct {
	start, end int64 // the points lie in (start, end], unix ms
	at         int64 // the instant of the evaluation, unix ms
	seconds    float64
	args       []*node
	sorted     []float64 // working memory
	axes       *axes
	err        error
}

func (iv *interval) arg(i int) float64 { return iv.args[i].out.Value[0] }

// rangeFunc computes the value of a window with at least one point, or reports that it
// has none.
type rangeFunc func(w *window.Span, iv *interval) (float64, bool)

func (o *rangeCall) plan(s *Set, n *node, _ *plan) []labels.Labels {
	return s.seriesLabels(n.source, !o.keepName)
}

func (o *rangeCall) eval(s *Set, n *node, _ *plan) error {
	iv := &o.now
	iv.at, iv.end, iv.args, iv.axes, iv.err = s.at, s.at-o.offset, n.args, &s.axes, nil
	iv.start = iv.end - o.rng
	list := s.store.Series(s.group, n.source)
	for from := 0; from < len(list); from += block {
		part := list[from:min(from+block, len(list))]
		window.Windows(o.windows[:len(part)], part, iv.start+1, iv.end)
		for i := range part {
			w := &o.windows[i]
			if w.Len() == 0 {
				continue
			}
			if v, ok := o.f(w, iv); ok {
				n.out.add(int32(from+i), v)
			}
		}
	}
	return iv.err
}
