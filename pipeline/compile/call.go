package compile

import (
	"fmt"
	"math"

	"github.com/grafana/regexp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// overRange are the functions of a range selector.
var overRange = map[string]rangeFunc{
	"rate":     extrapolated(true, true),
	"increase": extrapolated(true, false),
	"delta":    extrapolated(false, false),
	"irate":    instant(true),
	"idelta":   instant(false),
	"resets":   resets,
	"changes":  changes,

	"deriv":                        deriv,
	"predict_linear":               predictLinear,
	"double_exponential_smoothing": smoothed,

	"sum_over_time":      sumOverTime,
	"avg_over_time":      avgOverTime,
	"min_over_time":      minOverTime,
	"max_over_time":      maxOverTime,
	"count_over_time":    countOverTime,
	"present_over_time":  presentOverTime,
	"first_over_time":    firstOverTime,
	"last_over_time":     lastOverTime,
	"stddev_over_time":   stddevOverTime,
	"stdvar_over_time":   stdvarOverTime,
	"quantile_over_time": quantileOverTime,
}

func (s *Set) call(e *parser.Call) (*node, error) {
	name := e.Func.Name
	if f, ok := overRange[name]; ok {
		return s.rangeCall(name, f, e.Args)
	}
	switch name {
	case "label_replace", "label_join":
		return s.relabel(e)
	case "timestamp":
		if vs, ok := unwrap(e.Args[0]).(*parser.VectorSelector); ok {
			return s.selector(vs, true)
		}
	}
	op, scalar, unique := operatorOf(name)
	if op == nil {
		return nil, fmt.Errorf("function %s", name)
	}
	args, err := s.compileAll(e.Args)
	if err != nil {
		return nil, err
	}
	if calendar[name] != nil && len(args) == 0 {
		now := s.intern("time", &node{op: &instantOf{}, source: -1, scalar: true})
		args = []*node{s.intern("vector", &node{op: toVector{}, args: []*node{now}, source: -1})}
	}
	return s.intern(name, &node{op: op, args: args, source: -1, scalar: scalar, unique: unique}), nil
}

// operatorOf returns the operator of a function without ranges and strings, or nil.
func operatorOf(name string) (op operator, scalar, unique bool) {
	if f, ok := elementwise[name]; ok {
		return &each{f}, false, true
	}
	if f, ok := calendar[name]; ok {
		return &each{utc(f)}, false, true
	}
	switch name {
	case "clamp":
		return &clamp{low: 1, high: 2}, false, true
	case "clamp_min":
		return &clamp{low: 1}, false, true
	case "clamp_max":
		return &clamp{high: 1}, false, true
	case "round":
		return &round{}, false, true
	case "timestamp":
		return &instantOf{ofVector: true}, false, true
	case "vector":
		return toVector{}, false, false
	case "scalar":
		return toScalar{}, true, false
	case "time":
		return &instantOf{}, true, false
	case "max_of":
		return &scalarPair{f: math.Max}, true, false
	case "min_of":
		return &scalarPair{f: math.Min}, true, false
	case "pi":
		return &number{value: math.Pi}, true, false
	}
	return nil, false, false
}

func unwrap(e parser.Expr) parser.Expr {
	for {
		p, ok := e.(*parser.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// rangeCall compiles a function of one range selector and any number of scalars.
func (s *Set) rangeCall(name string, f rangeFunc, args parser.Expressions) (*node, error) {
	var (
		ms      *parser.MatrixSelector
		scalars parser.Expressions
	)
	for _, a := range args {
		switch a := unwrap(a).(type) {
		case *parser.MatrixSelector:
			ms = a
		case *parser.SubqueryExpr:
			return nil, fmt.Errorf("subquery %s", a)
		default:
			scalars = append(scalars, a)
		}
	}
	if ms.RangeExpr != nil {
		return nil, fmt.Errorf("%s has a computed range", ms)
	}
	nodes, err := s.compileAll(scalars)
	if err != nil {
		return nil, err
	}
	vs := ms.VectorSelector.(*parser.VectorSelector)
	source, err := s.source(vs)
	if err != nil {
		return nil, err
	}
	o := &rangeCall{f: f, rng: ms.Range.Milliseconds(), offset: vs.OriginalOffset.Milliseconds(),
		keepName: name == "last_over_time" || name == "first_over_time"}
	o.now.seconds = ms.Range.Seconds()
	return s.intern(fmt.Sprint(name, ms.Range, vs.OriginalOffset), &node{op: o, args: nodes, source: source, unique: true}), nil
}

func (s *Set) relabel(e *parser.Call) (*node, error) {
	arg, err := s.compile(e.Args[0])
	if err != nil {
		return nil, err
	}
	var text []string
	for _, a := range e.Args[1:] {
		text = append(text, unwrap(a).(*parser.StringLiteral).Val)
	}
	o := &relabel{}
	if !model.UTF8Validation.IsValidLabelName(text[0]) {
		return nil, fmt.Errorf("%s: label %q is not valid", e.Func.Name, text[0])
	}
	if e.Func.Name == "label_replace" {
		re, err := regexp.Compile("^(?s:" + text[3] + ")$")
		if err != nil {
			return nil, fmt.Errorf("label_replace: %w", err)
		}
		o.rewrite = replaceLabel(text[0], text[1], text[2], re)
	} else {
		for _, src := range text[2:] {
			if !model.UTF8Validation.IsValidLabelName(src) {
				return nil, fmt.Errorf("label_join: label %q is not valid", src)
			}
		}
		o.rewrite = joinLabels(text[0], text[1], text[2:])
	}
	return s.intern(fmt.Sprintf("%s %q", e.Func.Name, text), &node{op: o, args: []*node{arg}, source: -1, unique: true}), nil
}
