package scrape

import (
	"github.com/prometheus/prometheus/model/labels"

	"sextant/schema/wire"
)

// series is one time series of a target, as it is sent. Several raw texts may stand for
// the same series: labels in another order, or a label that relabelling drops.
type series struct {
	labels labels.Labels
	typ    wire.MetricType
	unit   string

	next *series // with the same hash, see known

	// report says that it is one of the target's own series, such as up.
	report bool
	// live says that the last value sent was a number that stands until a stale marker
	// ends it.
	live bool
	// placed says that the series has a slot in the current layout.
	placed bool

	pass     uint64 // the last pass that saw the series
	conflict bool   // that pass saw two values for the same time
	reading
}

// reading is a value with its time.
type reading struct {
	explicit bool  // the time came from the target
	time     int64 // unix ms
	told     int64 // unix ms, the time that the target said, honoured or not; 0 for none
	value    float64
}

func (s *series) def() wire.SeriesDef {
	d := wire.SeriesDef{Labels: make([]wire.Label, 0, s.labels.Len()), Type: s.typ, Unit: s.unit}
	s.labels.Range(func(l labels.Label) { d.Labels = append(d.Labels, wire.Label{Name: l.Name, Value: l.Value}) })
	return d
}

// known finds the series of a target by their labels. Those whose hashes are equal stand in
// a chain.
type known map[uint64]*series

func (k known) find(ls labels.Labels) *series {
	for s := k[ls.Hash()]; s != nil; s = s.next {
		if labels.Equal(s.labels, ls) {
			return s
		}
	}
	return nil
}

func (k known) add(s *series) {
	h := s.labels.Hash()
	s.next = k[h]
	k[h] = s
}

// keep drops all series that are not wanted.
func (k known) keep(want func(*series) bool) {
	for h, s := range k {
		var chain *series
		for s != nil {
			next := s.next
			if want(s) {
				s.next, chain = chain, s
			}
			s = next
		}
		if chain == nil {
			delete(k, h)
		} else {
			k[h] = chain
		}
	}
}

// ref leads from the raw text of a series, exactly as the target wrote it, to the series.
// A ref without a series stands for a text that relabelling dropped or that was refused,
// so that the work is not done again for every scrape.
type ref struct {
	raw     string
	series  *series
	refused string // reason for which the series costs a counter in each scrape; "" is none
	pos     int    // place in the order of the last pass that saw it
	pass    uint64
}

// index finds refs by raw text. Targets write their series in the same order in every
// scrape, so the next expected ref is compared first and the map is rarely asked.
type index struct {
	refs   map[string]*ref
	order  []*ref // as the last pass saw them
	next   []*ref // as this pass sees them
	cursor int    // expected place in order
}

func newIndex() index { return index{refs: map[string]*ref{}} }

// find returns the ref of raw, or nil. It does not keep raw.
func (x *index) find(raw []byte) *ref {
	if x.cursor < len(x.order) && x.order[x.cursor].raw == string(raw) {
		x.cursor++
		return x.order[x.cursor-1]
	}
	r := x.refs[string(raw)]
	if r != nil && r.pos < len(x.order) && x.order[r.pos] == r {
		x.cursor = r.pos + 1 // in step again behind a series that came or went
	}
	return r
}

func (x *index) insert(r *ref) { x.refs[r.raw] = r }

// saw records that this pass met r.
func (x *index) saw(r *ref) { x.next = append(x.next, r) }

// turn ends a pass.
func (x *index) turn() {
	for i, r := range x.next {
		r.pos = i
	}
	x.order, x.next, x.cursor = x.next, x.order[:0], 0
}

// abandon ends a pass that broke off; the order of the last whole one stands.
func (x *index) abandon() { x.next, x.cursor = x.next[:0], 0 }

// sweep forgets refs that the given pass did not see, once they are many. A target with
// a label that changes in every scrape would otherwise grow the index without end.
func (x *index) sweep(pass uint64) bool {
	if len(x.refs) <= len(x.order)+len(x.order)/4+64 {
		return false
	}
	for raw, r := range x.refs {
		if r.pass != pass {
			delete(x.refs, raw)
		}
	}
	return true
}
