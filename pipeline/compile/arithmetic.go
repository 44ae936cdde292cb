package compile

import (
	"math"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// between computes an arithmetic or comparison operator. keep is false when a comparison
// does not hold; its value is the left side.
func between(op parser.ItemType, lhs, rhs float64) (v float64, keep bool) {
	switch op {
	case parser.ADD:
		return lhs + rhs, true
	case parser.SUB:
		return lhs - rhs, true
	case parser.MUL:
		return lhs * rhs, true
	case parser.DIV:
		return lhs / rhs, true
	case parser.POW:
		return math.Pow(lhs, rhs), true
	case parser.MOD:
		return math.Mod(lhs, rhs), true
	case parser.ATAN2:
		return math.Atan2(lhs, rhs), true
	case parser.EQLC:
		return lhs, lhs == rhs
	case parser.NEQ:
		return lhs, lhs != rhs
	case parser.GTR:
		return lhs, lhs > rhs
	case parser.LSS:
		return lhs, lhs < rhs
	case parser.GTE:
		return lhs, lhs >= rhs
	case parser.LTE:
		return lhs, lhs <= rhs
	}
	panic("BUG: compiled the operator " + op.String())
}

// arithmetic says whether an operator makes a new value, and so drops the metric's name.
func arithmetic(op parser.ItemType) bool {
	switch op {
	case parser.ADD, parser.SUB, parser.MUL, parser.DIV, parser.POW, parser.MOD, parser.ATAN2:
		return true
	}
	return false
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// noLabels is an operator that gives a scalar.
type noLabels struct{}

func (noLabels) plan(*Set, *node, *plan) []labels.Labels { return nil }

// number is a literal.
type number struct {
	noLabels
	value float64
}

func (o *number) eval(_ *Set, n *node, _ *plan) error {
	n.out.Value = append(n.out.Value, o.value)
	return nil
}

// scalarBinary is an operator between two scalars. Comparisons give 0 or 1.
type scalarBinary struct {
	noLabels
	op parser.ItemType
}

func (o *scalarBinary) eval(_ *Set, n *node, _ *plan) error {
	v, keep := between(o.op, n.args[0].out.Value[0], n.args[1].out.Value[0])
	if !arithmetic(o.op) {
		v = truth(keep)
	}
	n.out.Value = append(n.out.Value, v)
	return nil
}

// scalarPair is a function of two scalars.
type scalarPair struct {
	noLabels
	f func(a, b float64) float64
}

func (o *scalarPair) eval(_ *Set, n *node, _ *plan) error {
	n.out.Value = append(n.out.Value, o.f(n.args[0].out.Value[0], n.args[1].out.Value[0]))
	return nil
}

// withScalar is an operator between a vector and a scalar, either of which may stand on
// the left. A comparison that holds gives the vector's value.
type withScalar struct {
	op     parser.ItemType
	toBool bool
	vector int // the argument that is the vector
}

func (o *withScalar) plan(s *Set, n *node, _ *plan) []labels.Labels {
	in := s.labels(n.args[o.vector])
	if arithmetic(o.op) || o.toBool {
		return nameless(in)
	}
	return in
}

func (o *withScalar) eval(_ *Set, n *node, _ *plan) error {
	in, c := n.args[o.vector].out, n.args[1-o.vector].out.Value[0]
	swap := o.vector == 1
	for k, slot := range in.Slot {
		v := in.Value[k]
		lhs, rhs := v, c
		if swap {
			lhs, rhs = c, v
		}
		r, keep := between(o.op, lhs, rhs)
		switch {
		case o.toBool:
			r, keep = truth(keep), true
		case swap && !arithmetic(o.op):
			r = v
		}
		if keep {
			n.out.add(slot, r)
		}
	}
	return nil
}

// negate is the unary minus of a vector or a scalar.
type negate struct{}

func (negate) plan(s *Set, n *node, _ *plan) []labels.Labels {
	if n.scalar {
		return nil
	}
	return nameless(s.labels(n.args[0]))
}

func (negate) eval(_ *Set, n *node, _ *plan) error {
	in := n.args[0].out
	n.out.Slot = append(n.out.Slot, in.Slot...)
	for _, v := range in.Value {
		n.out.Value = append(n.out.Value, -v)
	}
	return nil
}
