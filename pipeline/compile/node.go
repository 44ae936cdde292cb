package compile

import "github.com/prometheus/prometheus/model/labels"

// node is a part of one or more expressions.
type node struct {
	op     operator
	args   []*node
	scalar bool
	source int  // the selector that the node reads, or -1
	unique bool // whether the engine refuses two results with the same labels here

	plans []*plan // by group
	out   Vector
	err   error
	stamp uint64 // the evaluation that out and err are of
	work  scratch
}

// operator computes a node.
type operator interface {
	// plan works out all that depends on labels for the present group, and returns the
	// labels of the slots.
	plan(s *Set, n *node, p *plan) []labels.Labels
	// eval computes n.out, which is empty, from the outputs of the arguments.
	eval(s *Set, n *node, p *plan) error
}

// plan is what a node knows of one group. The slices are by slot.
type plan struct {
	version uint64 // counts changes; 0 before the first
	from    uint64 // versions of what the plan was made from, added up
	checked uint64 // the evaluation in which from was compared last

	class []int32 // slots with the same labels have the same class; nil: no two have
	left  []int32 // aggregation: the group; join: the signature of the many side's slots
	right []int32 // join: the signature of the one side's slots
	count int     // number of groups or signatures
	join  *joinPlan
}

// scratch is working memory that lives as long as its node.
type scratch struct {
	pos    []int32 // by group, signature or class: 1 + where
	extra  []float64
	extra2 []float64
	lists  [][]float64
}

// zeros returns n zeros.
func zeros(buf *[]int32, n int) []int32 {
	if cap(*buf) < n {
		*buf = make([]int32, n)
	}
	b := (*buf)[:n]
	clear(b)
	return b
}

// ready brings the plan of a node for the present group up to date.
func (s *Set) ready(n *node) *plan {
	for len(n.plans) <= s.group {
		n.plans = append(n.plans, nil)
	}
	p := n.plans[s.group]
	if p == nil {
		p = &plan{}
		n.plans[s.group] = p
	}
	if p.checked == s.stamp {
		return p
	}
	p.checked = s.stamp
	from := uint64(0)
	if n.source >= 0 {
		from = s.store.Version(s.group, n.source)
	}
	for _, a := range n.args {
		from += s.ready(a).version // versions only grow, so the sum tells
	}
	if p.version == 0 || p.from != from {
		p.from = from
		p.version++
		s.build(n, p)
	}
	return p
}

// build makes the plan anew.
func (s *Set) build(n *node, p *plan) {
	ls := n.op.plan(s, n, p)
	p.class = nil
	if n.unique {
		p.class, _ = classes(len(ls), func(i int) uint64 { return ls[i].Hash() })
	}
	s.memo[n] = ls
}

// labels returns the labels of a node's slots. They are not kept: only a change asks.
func (s *Set) labels(n *node) []labels.Labels {
	if ls, ok := s.memo[n]; ok {
		return ls
	}
	s.build(n, n.plans[s.group])
	return s.memo[n]
}

// classes numbers n things so that equal keys have equal numbers, or returns nil when
// all differ.
func classes(n int, key func(i int) uint64) (class []int32, count int) {
	seen := make(map[uint64]int32, n)
	class = make([]int32, n)
	for i := range class {
		k := key(i)
		c, ok := seen[k]
		if !ok {
			c = int32(len(seen))
			seen[k] = c
		}
		class[i] = c
	}
	if len(seen) == n {
		return nil, n
	}
	return class, len(seen)
}

// eval evaluates a node unless that was done for this group and instant.
func (s *Set) eval(n *node) (Vector, error) {
	if n.stamp == s.stamp {
		return n.out, n.err
	}
	n.stamp, n.err = s.stamp, nil
	n.out.reset()
	for _, a := range n.args {
		if _, n.err = s.eval(a); n.err != nil {
			return Vector{}, n.err
		}
	}
	p := n.plans[s.group]
	if n.err = n.op.eval(s, n, p); n.err == nil && p.class != nil {
		n.err = n.distinct(p)
	}
	return n.out, n.err
}

// distinct reports two results with the same labels.
func (n *node) distinct(p *plan) error {
	seen := zeros(&n.work.pos, len(p.class))
	for _, slot := range n.out.Slot {
		c := p.class[slot]
		if seen[c] != 0 {
			return errSameLabels
		}
		seen[c] = 1
	}
	return nil
}
