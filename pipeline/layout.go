package pipeline

import (
	"sextant/pipeline/events"
	"sextant/pipeline/window"
	"sextant/schema/catalog"
)

// layout is all that is known of a scrape whose series are the same as in an earlier one:
// a record with a known layout costs no label work.
type layout struct {
	hash    [2]uint64
	samples int // of the record that made it: another number under the hash is a collision
	used    uint64

	ids     []uint64  // by series
	states  []*series // by series; nil for refused ones
	refused []int32   // series that are left out
	treated []treated
	windows []windowed
	folds   []fold // samples of several series that are one
	infos   []info // series that the labels of others tell of
	judged  *judged
	subjects
	node *node

	counters []counter
	newest   []int32    // series of which only the newest sample of a record counts
	boot     int32      // the series that tells of the node's boot, -1 for none
	events   []eventful // things that series tell of events of

	last  int64   // newest sample time of any series
	lasts []int64 // newest sample time per series, when they are not all last
}

// settle writes the newest sample times and the marks to the series: another layout goes on with them.
func (l *layout) settle() {
	for i, s := range l.states {
		if s == nil {
			continue
		}
		s.last = l.last
		if l.lasts != nil {
			s.last = l.lasts[i]
		}
	}
	for i := range l.counters {
		l.node.marks[l.ids[l.counters[i].series]] = l.counters[i].mark
	}
}

// recall reads the newest sample times and the marks of the series, which another layout had.
func (l *layout) recall() {
	l.lasts = make([]int64, len(l.states))
	for i, s := range l.states {
		if s != nil {
			l.lasts[i] = s.last
			l.last = max(l.last, s.last)
		}
	}
	for i := range l.counters {
		l.counters[i].mark = l.node.marks[l.ids[l.counters[i].series]]
	}
}

// The series of a layout that need more than copying, each ascending by series.
type (
	treated struct {
		series int32
		metric *catalog.Metric
	}
	windowed struct {
		series int32
		window *window.Series
	}
)

// node is what is known of one node: its layouts, and how many series it has registered.
type node struct {
	name    string
	layouts map[[2]uint64]*layout
	active  map[string]*layout // by target: the layout of its last record
	series  int
	targets map[string]*target
	flags   map[flagKey]*raised // in force
	ingest  int64               // append time of its last record, unix ms

	boot   float64                  // when it booted, unix seconds; 0 if unknown
	marks  map[uint64]mark          // of counters, by series id, while no layout in use has them
	things map[string]*events.Thing // that series tell of events of
}

// node returns the state of a node and notes that it is alive.
func (m *Machine) node(name string, ingest int64) *node {
	n, ok := m.nodes[name]
	if !ok {
		n = &node{name: name, layouts: map[[2]uint64]*layout{}, active: map[string]*layout{},
			targets: map[string]*target{}, flags: map[flagKey]*raised{}, marks: map[uint64]mark{}, things: map[string]*events.Thing{}}
		m.nodes[name] = n
	}
	n.ingest = ingest
	return n
}

// layout returns the plan of the record that the decoder holds.
func (m *Machine) layout(n *node, target string) *layout {
	l := m.find(n)
	if before := n.active[target]; before != l {
		if before != nil {
			before.settle()
		} else if len(n.active) >= m.cfg.MaxLayouts {
			clear(n.active) // targets come and go; what their series had last is forgotten
		}
		l.recall()
		n.active[target] = l
	}
	return l
}

func (m *Machine) find(n *node) *layout {
	m.uses++
	d := &m.decoder
	if l, ok := n.layouts[d.Layout]; ok && l.samples == len(d.Values) && len(l.ids) == d.NumSeries {
		l.used = m.uses
		m.counts.LayoutHits++
		return l
	}
	m.counts.LayoutMisses++
	if len(n.layouts) >= m.cfg.MaxLayouts {
		n.evict()
	}
	l := m.plan(n)
	n.layouts[d.Layout] = l
	return l
}

// evict forgets the layout that was used longest ago. Its series stay registered.
func (n *node) evict() {
	var oldest *layout
	for _, l := range n.layouts {
		if oldest == nil || l.used < oldest.used {
			oldest = l
		}
	}
	delete(n.layouts, oldest.hash)
}
