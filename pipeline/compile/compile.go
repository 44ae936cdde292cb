package compile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Compile adds an expression whose selectors the store keeps. The error says which part
// of it is left to the engine.
func (s *Set) Compile(expr parser.Expr) (*Program, error) {
	root, err := s.compile(expr)
	if err != nil {
		return nil, err
	}
	return &Program{s, root}, nil
}

// intern returns the node that computes the same, if there is one. key says what the
// operator does, apart from its arguments and its selector.
func (s *Set) intern(key string, n *node) *node {
	var b strings.Builder
	fmt.Fprintf(&b, "%T %s #%d", n.op, key, n.source)
	for _, a := range n.args {
		b.WriteString(" " + strconv.Itoa(slices.Index(s.order, a)))
	}
	if known, ok := s.nodes[b.String()]; ok {
		return known
	}
	s.nodes[b.String()] = n
	s.order = append(s.order, n)
	return n
}

func (s *Set) compile(expr parser.Expr) (*node, error) {
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return s.compile(e.Expr)
	case *parser.NumberLiteral:
		return s.intern(strconv.FormatFloat(e.Val, 'b', -1, 64)+fmt.Sprint(1/e.Val < 0),
			&node{op: &number{value: e.Val}, source: -1, scalar: true}), nil
	case *parser.VectorSelector:
		return s.selector(e, false)
	case *parser.UnaryExpr:
		arg, err := s.compile(e.Expr)
		if err != nil || e.Op != parser.SUB {
			return arg, err
		}
		return s.intern("", &node{op: negate{}, args: []*node{arg}, source: -1, scalar: arg.scalar, unique: !arg.scalar}), nil
	case *parser.AggregateExpr:
		return s.aggregation(e)
	case *parser.BinaryExpr:
		return s.binary(e)
	case *parser.Call:
		return s.call(e)
	case *parser.SubqueryExpr:
		return nil, fmt.Errorf("subquery %s", e)
	}
	return nil, fmt.Errorf("%s", expr)
}

func (s *Set) compileAll(exprs parser.Expressions) ([]*node, error) {
	var out []*node
	for _, e := range exprs {
		n, err := s.compile(e)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// selector compiles an instant selector, or the times of its samples.
func (s *Set) selector(e *parser.VectorSelector, stamps bool) (*node, error) {
	source, err := s.source(e)
	if err != nil {
		return nil, err
	}
	o := &selector{offset: e.OriginalOffset.Milliseconds(), stamps: stamps}
	return s.intern(fmt.Sprint(o.offset, stamps), &node{op: o, source: source, unique: stamps}), nil
}

// source returns the store's number of a selector.
func (s *Set) source(e *parser.VectorSelector) (int, error) {
	switch {
	case e.Timestamp != nil || e.StartOrEnd != 0:
		return 0, fmt.Errorf("%s is pinned to a time", e)
	case e.Anchored || e.Smoothed:
		return 0, fmt.Errorf("%s is anchored or smoothed", e)
	case e.OriginalOffsetExpr != nil:
		return 0, fmt.Errorf("%s has a computed offset", e)
	}
	i, ok := s.store.Selector(e.LabelMatchers)
	if !ok {
		return 0, fmt.Errorf("%s is not kept", e)
	}
	return i, nil
}

func (s *Set) aggregation(e *parser.AggregateExpr) (*node, error) {
	switch e.Op {
	case parser.SUM, parser.AVG, parser.MIN, parser.MAX, parser.COUNT, parser.GROUP, parser.STDVAR, parser.STDDEV, parser.QUANTILE:
	default:
		return nil, fmt.Errorf("aggregation %s", e.Op)
	}
	args := parser.Expressions{e.Expr}
	if e.Param != nil {
		args = append(args, e.Param)
	}
	nodes, err := s.compileAll(args)
	if err != nil {
		return nil, err
	}
	o := &aggregate{op: e.Op, without: e.Without, grouping: slices.Clone(e.Grouping)}
	if e.Without {
		o.grouping = append(o.grouping, labels.MetricName, "__type__", "__unit__")
	}
	slices.Sort(o.grouping)
	return s.intern(fmt.Sprintf("%s %v %q", o.op, o.without, o.grouping), &node{op: o, args: nodes, source: -1}), nil
}

func (s *Set) binary(e *parser.BinaryExpr) (*node, error) {
	args, err := s.compileAll(parser.Expressions{e.LHS, e.RHS})
	if err != nil {
		return nil, err
	}
	n := &node{args: args, source: -1, unique: true}
	key := fmt.Sprint(e.Op, e.ReturnBool)
	if e.Op == parser.TRIM_LOWER || e.Op == parser.TRIM_UPPER {
		return nil, fmt.Errorf("operator %s of histograms", e.Op)
	}
	switch l, r := args[0].scalar, args[1].scalar; {
	case l && r:
		n.op, n.scalar, n.unique = &scalarBinary{op: e.Op}, true, false
	case l:
		n.op = &withScalar{op: e.Op, toBool: e.ReturnBool, vector: 1}
	case r:
		n.op = &withScalar{op: e.Op, toBool: e.ReturnBool}
	default:
		m := e.VectorMatching
		if m.FillValues.LHS != nil || m.FillValues.RHS != nil {
			return nil, fmt.Errorf("fill modifier of %s", e.Op)
		}
		key += fmt.Sprintf(" %d %v %q %q", m.Card, m.On, m.MatchingLabels, m.Include)
		if e.Op.IsSetOperator() {
			n.op = &setOperator{op: e.Op, matching: *m}
		} else {
			n.op = &join{op: e.Op, toBool: e.ReturnBool, matching: *m}
		}
	}
	return s.intern(key, n), nil
}
