package pipeline

import (
	"cmp"
	"slices"

	"sextant/pipeline/window"
	"sextant/schema/catalog"
	"sextant/schema/wire"
)

// planner gathers the layout of the record that the decoder holds.
type planner struct {
	m        *Machine
	n        *node
	l        *layout
	inRecord map[uint64]struct{}
	fresh    []*window.Series // to be given buffers
}

// plan reads the labels of every series of the record. The catalogue sees them together:
// what a series is may hang on the others.
func (m *Machine) plan(n *node) *layout {
	d := &m.decoder
	p := planner{m: m, n: n, inRecord: make(map[uint64]struct{}, d.NumSeries),
		l: &layout{node: n, boot: -1, hash: d.Layout, samples: len(d.Values), used: m.uses, ids: make([]uint64, d.NumSeries), states: make([]*series, d.NumSeries)}}
	m.page.Reset()
	for i := range d.NumSeries {
		ls := m.labels[:0]
		err := d.Labels(i, func(name, value []byte) bool {
			ls = append(ls, wire.Label{Name: m.words.Of(name), Value: m.words.Of(value)})
			return true
		})
		m.labels = ls
		if err != nil {
			ls = nil // a series without a name, which is refused
		}
		m.page.Add(ls)
	}
	all, infos := m.page.Resolve()
	for i := range all {
		p.series(i, &all[i])
	}
	for i := range all {
		p.fold(i, all)
	}
	slices.SortStableFunc(p.l.folds, func(a, b fold) int {
		return cmp.Or(cmp.Compare(a.lead, b.lead), cmp.Compare(a.rank, b.rank))
	})
	for i := range infos {
		p.info(&infos[i])
	}
	p.events(all)
	p.judge(all)
	m.eval.Store().Buffers(p.fresh, m.time.interval)
	return p.l
}

// series registers one series, unless another one of the record stands for it.
func (p *planner) series(i int, as *catalog.Mapping) {
	l := p.l
	switch as.Outcome {
	case catalog.UnknownRow:
		p.m.counts.UnknownNames++
		p.m.unknown.note(UnknownName{as.Vendor, as.Name})
	case catalog.NoDevice:
		p.m.counts.NoDevice++
	}
	if as.Metric != nil && !as.Metric.Plain() {
		l.treated = append(l.treated, treated{int32(i), as.Metric})
	}
	if as.Lead >= 0 || as.Outranked {
		return
	}
	s, isNew, err := p.m.register(p.n, i, as)
	if err == nil && p.twice(s.id) {
		err = errTwice
	}
	if err != nil {
		p.m.counts.RefusedSeries++
		l.refused = append(l.refused, int32(i))
		return
	}
	l.ids[i], l.states[i] = s.id, s
	p.counter(i, as)
	if s.window != nil {
		l.windows = append(l.windows, windowed{int32(i), s.window})
		p.buffer(s, isNew)
	}
}

// twice notes an id and reports whether the record had it already.
func (p *planner) twice(id uint64) bool {
	_, twice := p.inRecord[id]
	p.inRecord[id] = struct{}{}
	return twice
}

func (p *planner) buffer(s *series, isNew bool) {
	if isNew && s.window != nil {
		p.fresh = append(p.fresh, s.window)
	}
}

// kindOf is the kind of a series in the text form that the series table keeps. The
// catalogue decides; the exposition's type is believed only for what it does not know.
func kindOf(metric *catalog.Metric, typ wire.MetricType) string {
	if metric != nil {
		return metric.Kind.String()
	}
	return exposedKinds[min(int(typ), len(exposedKinds)-1)]
}

var exposedKinds = [...]string{"unknown", "counter", "gauge", "histogram", "gaugehistogram", "summary", "info", "stateset"}

// disagrees reports whether the exposition says gauge of a counter, or the reverse.
func disagrees(metric *catalog.Metric, typ wire.MetricType) bool {
	return metric != nil && (metric.Kind == catalog.Gauge && typ == wire.TypeCounter || metric.Kind == catalog.Counter && typ == wire.TypeGauge)
}
