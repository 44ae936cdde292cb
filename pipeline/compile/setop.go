package compile

import (
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// setOperator is and, or, unless. Slots of the right side follow those of the left.
type setOperator struct {
	op       parser.ItemType
	matching parser.VectorMatching
}

func (o *setOperator) plan(s *Set, n *node, p *plan) []labels.Labels {
	left, right := s.labels(n.args[0]), s.labels(n.args[1])
	p.count = signatures(&o.matching, left, right, &p.left, &p.right)
	if o.op != parser.LOR {
		return left
	}
	return append(append(make([]labels.Labels, 0, len(left)+len(right)), left...), right...)
}

func (o *setOperator) eval(_ *Set, n *node, p *plan) error {
	left, right := n.args[0].out, n.args[1].out
	present := zeros(&n.work.pos, p.count)
	if o.op == parser.LOR {
		for k, slot := range left.Slot {
			present[p.left[slot]] = 1
			n.out.add(slot, left.Value[k])
		}
		for k, slot := range right.Slot {
			if present[p.right[slot]] == 0 {
				n.out.add(int32(len(p.left))+slot, right.Value[k])
			}
		}
		return nil
	}
	for _, slot := range right.Slot {
		present[p.right[slot]] = 1
	}
	wanted := int32(1)
	if o.op == parser.LUNLESS {
		wanted = 0
	}
	for k, slot := range left.Slot {
		if present[p.left[slot]] == wanted {
			n.out.add(slot, left.Value[k])
		}
	}
	return nil
}
