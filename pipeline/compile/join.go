package compile

import (
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/schema"
)

// join is an arithmetic or comparison operator between two vectors.
type join struct {
	op       parser.ItemType
	toBool   bool
	matching parser.VectorMatching
}

// joinPlan is what a join knows beside the signatures of both sides.
type joinPlan struct {
	// With labels taken from the one side, a slot of the many side has a slot of the
	// result for each slot of the one side with its signature.
	base, rank []int32
	// pair is the class of a result among those of its signature; nil: all differ.
	pair  []int32
	pairs int
	// single says that no two slots of the many side share a signature.
	single bool
}

// sides returns the positions of the many and the one side among the arguments.
func (o *join) sides() (many, one int) {
	if o.matching.Card == parser.CardOneToMany {
		return 1, 0
	}
	return 0, 1
}

func (o *join) plan(s *Set, n *node, p *plan) []labels.Labels {
	m, one := o.sides()
	many, ones := s.labels(n.args[m]), s.labels(n.args[one])
	p.count = signatures(&o.matching, many, ones, &p.left, &p.right)
	p.join = &joinPlan{single: distinctOf(p.left, p.count)}
	if len(o.matching.Include) > 0 {
		return o.planPairs(p, many, ones)
	}
	out := make([]labels.Labels, len(many))
	b := labels.NewBuilder(labels.EmptyLabels())
	for i, ls := range many {
		out[i] = o.labels(b, ls, labels.EmptyLabels())
	}
	o.planDuplicates(p, out, p.left)
	return out
}

// planPairs gives a slot to each pair that can meet.
func (o *join) planPairs(p *plan, many, ones []labels.Labels) []labels.Labels {
	bySig := make([][]int32, p.count)
	p.join.rank = make([]int32, len(ones))
	for j, sig := range p.right {
		p.join.rank[j] = int32(len(bySig[sig]))
		bySig[sig] = append(bySig[sig], int32(j))
	}
	var (
		out  []labels.Labels
		sigs []int32
	)
	p.join.base = make([]int32, len(many))
	b := labels.NewBuilder(labels.EmptyLabels())
	for i, sig := range p.left {
		p.join.base[i] = int32(len(out))
		for _, j := range bySig[sig] {
			out = append(out, o.labels(b, many[i], ones[j]))
			sigs = append(sigs, sig)
		}
	}
	o.planDuplicates(p, out, sigs)
	return out
}

// planDuplicates finds results of one signature that have the same labels.
func (o *join) planDuplicates(p *plan, out []labels.Labels, sigs []int32) {
	if o.matching.Card == parser.CardOneToOne {
		return
	}
	p.join.pair, p.join.pairs = classes(len(out), func(i int) uint64 { return out[i].Hash()*31 + uint64(sigs[i]) })
}

// labels are those of a result: the engine's resultMetric.
func (o *join) labels(b *labels.Builder, many, one labels.Labels) labels.Labels {
	b.Reset(many)
	if o.toBool || arithmetic(o.op) {
		schema.Metadata{}.SetToLabels(b)
	}
	if o.matching.Card == parser.CardOneToOne {
		if o.matching.On {
			b.Keep(o.matching.MatchingLabels...)
		} else {
			b.Del(o.matching.MatchingLabels...)
		}
	}
	for _, name := range o.matching.Include {
		if v := one.Get(name); v != "" {
			b.Set(name, v)
		} else {
			b.Del(name)
		}
	}
	return b.Labels()
}

func (o *join) eval(_ *Set, n *node, p *plan) error {
	m, i := o.sides()
	many, one := n.args[m].out, n.args[i].out
	if len(many.Slot) == 0 || len(one.Slot) == 0 {
		return nil
	}
	pos := zeros(&n.work.pos, p.count+p.count+p.join.pairs)
	pos, used := pos[:p.count], pos[p.count:]
	for k, slot := range one.Slot {
		sig := p.right[slot]
		if pos[sig] != 0 {
			return errManyToMany
		}
		pos[sig] = int32(k) + 1
	}
	oneToOne := o.matching.Card == parser.CardOneToOne
	for k, slot := range many.Slot {
		sig := p.left[slot]
		j := pos[sig] - 1
		if j < 0 {
			continue
		}
		out := slot
		if p.join.base != nil {
			out = p.join.base[slot] + p.join.rank[one.Slot[j]]
		}
		if oneToOne && !p.join.single {
			if used[sig] != 0 {
				return errManyToOne
			}
			used[sig] = 1
		} else if p.join.pair != nil {
			if c := &used[p.count:][p.join.pair[out]]; *c != 0 {
				return errSameLabels
			} else {
				*c = 1
			}
		}
		lhs, rhs := many.Value[k], one.Value[j]
		if m == 1 {
			lhs, rhs = rhs, lhs
		}
		v, keep := between(o.op, lhs, rhs)
		if o.toBool {
			v, keep = truth(keep), true
		}
		if keep {
			n.out.add(out, v)
		}
	}
	return nil
}

// signatures numbers what both sides are matched by.
func signatures(m *parser.VectorMatching, left, right []labels.Labels, l, r *[]int32) int {
	names := slices.Clone(m.MatchingLabels)
	if !m.On {
		names = append(names, labels.MetricName, "__type__", "__unit__")
	}
	slices.Sort(names)
	ordinals := map[string]int32{}
	var buf []byte
	number := func(side []labels.Labels) []int32 {
		out := make([]int32, len(side))
		for i, ls := range side {
			if m.On {
				buf = ls.BytesWithLabels(buf, names...)
			} else {
				buf = ls.BytesWithoutLabels(buf, names...)
			}
			sig, ok := ordinals[string(buf)]
			if !ok {
				sig = int32(len(ordinals))
				ordinals[string(buf)] = sig
			}
			out[i] = sig
		}
		return out
	}
	*l, *r = number(left), number(right)
	return len(ordinals)
}

func distinctOf(sigs []int32, count int) bool {
	seen := make([]bool, count)
	for _, s := range sigs {
		if seen[s] {
			return false
		}
		seen[s] = true
	}
	return true
}
