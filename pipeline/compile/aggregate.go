package compile

import (
	"math"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/schema"
	"github.com/prometheus/prometheus/util/kahansum"
)

// aggregate is an aggregation by or without labels. Its second argument, if any, is the
// parameter.
type aggregate struct {
	op       parser.ItemType
	without  bool
	grouping []string // sorted, with the metadata labels when they are left out
}

func (o *aggregate) plan(s *Set, n *node, p *plan) []labels.Labels {
	in := s.labels(n.args[0])
	p.left = make([]int32, len(in))
	var (
		out   []labels.Labels
		buf   []byte
		seen  = map[uint64]int32{}
		build = labels.NewBuilder(labels.EmptyLabels())
	)
	for i, ls := range in {
		var key uint64
		switch {
		case o.without:
			key, buf = ls.HashWithoutLabels(buf, o.grouping...)
		case len(o.grouping) > 0:
			key, buf = ls.HashForLabels(buf, o.grouping...)
		}
		g, ok := seen[key]
		if !ok {
			g = int32(len(out))
			seen[key] = g
			out = append(out, o.labels(build, ls))
		}
		p.left[i] = g
	}
	p.count = len(out)
	return out
}

func (o *aggregate) labels(b *labels.Builder, ls labels.Labels) labels.Labels {
	b.Reset(ls)
	switch {
	case o.without:
		b.Del(o.grouping...)
		schema.Metadata{}.SetToLabels(b)
	case len(o.grouping) > 0:
		b.Keep(o.grouping...)
	default:
		return labels.EmptyLabels()
	}
	return b.Labels()
}

// eval goes over the elements in their order. A group stands in the output where its
// first element was, as in the engine: what adds the groups up depends on it.
func (o *aggregate) eval(_ *Set, n *node, p *plan) error {
	in := n.args[0].out
	pos := zeros(&n.work.pos, p.count)
	switch o.op {
	case parser.SUM:
		n.sum(in, p, pos)
	case parser.AVG:
		n.average(in, p, pos)
	case parser.MIN, parser.MAX:
		n.extreme(in, p, pos, o.op == parser.MIN)
	case parser.COUNT:
		n.fold(in, p, pos, 1, func(v *float64) { *v++ })
	case parser.GROUP:
		n.fold(in, p, pos, 1, func(*float64) {})
	case parser.STDVAR, parser.STDDEV:
		n.spread(in, p, pos, o.op == parser.STDDEV)
	case parser.QUANTILE:
		n.quantiles(in, p, pos, n.args[1].out.Value[0])
	default:
		panic("BUG: compiled the aggregation " + o.op.String())
	}
	return nil
}

// enter returns the place of a group in the output, and whether it is new there.
func (n *node) enter(g int32, pos []int32, first float64) (int32, bool) {
	if j := pos[g]; j > 0 {
		return j - 1, false
	}
	n.out.add(g, first)
	pos[g] = int32(len(n.out.Slot))
	return pos[g] - 1, true
}

// fold applies f for every element after the first of its group, which gives first.
func (n *node) fold(in Vector, p *plan, pos []int32, first float64, f func(*float64)) {
	for _, slot := range in.Slot {
		if j, isNew := n.enter(p.left[slot], pos, first); !isNew {
			f(&n.out.Value[j])
		}
	}
}

func (n *node) extreme(in Vector, p *plan, pos []int32, least bool) {
	for k, slot := range in.Slot {
		v := in.Value[k]
		j, isNew := n.enter(p.left[slot], pos, v)
		if isNew {
			continue
		}
		if was := n.out.Value[j]; least && was > v || !least && was < v || math.IsNaN(was) {
			n.out.Value[j] = v
		}
	}
}

func (n *node) sum(in Vector, p *plan, pos []int32) {
	c := n.work.extra[:0]
	for k, slot := range in.Slot {
		v := in.Value[k]
		j, isNew := n.enter(p.left[slot], pos, v)
		if isNew {
			c = append(c, 0)
			continue
		}
		n.out.Value[j], c[j] = kahansum.Inc(v, n.out.Value[j], c[j])
	}
	for j := range c {
		n.out.Value[j] += c[j]
	}
	n.work.extra = c
}

// average divides the sum, and goes on with an incremental mean where the sum overflows.
func (n *node) average(in Vector, p *plan, pos []int32) {
	c, count := n.work.extra[:0], n.work.extra2[:0] // count is negative for an incremental mean
	for k, slot := range in.Slot {
		v := in.Value[k]
		j, isNew := n.enter(p.left[slot], pos, v)
		if isNew {
			c, count = append(c, 0), append(count, 1)
			continue
		}
		at := math.Abs(count[j]) + 1
		if count[j] > 0 {
			sum, comp := kahansum.Inc(v, n.out.Value[j], c[j])
			if !math.IsInf(sum, 0) {
				n.out.Value[j], c[j], count[j] = sum, comp, at
				continue
			}
			n.out.Value[j] /= at - 1
			c[j] /= at - 1
		}
		count[j] = -at
		q := (at - 1) / at
		n.out.Value[j], c[j] = kahansum.Inc(v/at, q*n.out.Value[j], q*c[j])
	}
	for j := range c {
		if count[j] < 0 {
			n.out.Value[j] += c[j]
		} else {
			n.out.Value[j] = n.out.Value[j]/count[j] + c[j]/count[j]
		}
	}
	n.work.extra, n.work.extra2 = c, count
}

// spread is the variance by Welford's method, or its root.
func (n *node) spread(in Vector, p *plan, pos []int32, root bool) {
	mean, count := n.work.extra[:0], n.work.extra2[:0]
	for k, slot := range in.Slot {
		v := in.Value[k]
		first := 0.0
		if math.IsNaN(v) || math.IsInf(v, 0) {
			first = math.NaN()
		}
		j, isNew := n.enter(p.left[slot], pos, first)
		if isNew {
			mean, count = append(mean, v), append(count, 1)
			continue
		}
		count[j]++
		delta := v - mean[j]
		mean[j] += delta / count[j]
		n.out.Value[j] += delta * (v - mean[j])
	}
	for j := range count {
		n.out.Value[j] /= count[j]
		if root {
			n.out.Value[j] = math.Sqrt(n.out.Value[j])
		}
	}
	n.work.extra, n.work.extra2 = mean, count
}

func (n *node) quantiles(in Vector, p *plan, pos []int32, q float64) {
	for k, slot := range in.Slot {
		j, isNew := n.enter(p.left[slot], pos, 0)
		if isNew {
			if int(j) == len(n.work.lists) {
				n.work.lists = append(n.work.lists, nil)
			}
			n.work.lists[j] = n.work.lists[j][:0]
		}
		n.work.lists[j] = append(n.work.lists[j], in.Value[k])
	}
	for j := range n.out.Value {
		n.out.Value[j] = quantile(q, n.work.lists[j])
	}
}
