package compile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// grammar writes random expressions of what can be compiled.
type grammar struct{ r *rand.Rand }

func (g grammar) pick(from ...string) string { return from[g.r.IntN(len(from))] }

// vector writes an expression that gives an instant vector. depth bounds its height.
func (g grammar) vector(depth int) string {
	if depth == 0 {
		return g.leaf()
	}
	switch g.r.IntN(12) {
	case 0, 1:
		return g.leaf()
	case 2, 3, 4:
		return g.aggregation(depth - 1)
	case 5, 6:
		return g.function(depth - 1)
	case 7:
		return fmt.Sprintf("(%s %s %s)", g.vector(depth-1), g.operator(), g.scalar(depth-1))
	case 8:
		return fmt.Sprintf("(%s %s %s)", g.scalar(depth-1), g.operator(), g.vector(depth-1))
	case 9:
		return fmt.Sprintf("(%s %s %s %s)", g.vector(depth-1), g.pick("and", "or", "unless"), g.matching(false), g.vector(depth-1))
	default:
		return g.join(depth - 1)
	}
}

// join prefers sides that meet: an error tells little about arithmetic.
func (g grammar) join(depth int) string {
	if g.r.IntN(3) > 0 {
		return fmt.Sprintf("(%s by (node) (%s) %s %s by (node) (%s))", g.simple(), g.vector(depth), g.operator(), g.simple(), g.vector(depth))
	}
	if g.r.IntN(8) == 0 { // an error, even where a comparison leaves one of two
		return fmt.Sprintf("(%s %s on (node) %s by (node) (%s))", g.vector(depth), g.pick(">", "<=", "=="), g.simple(), g.vector(depth))
	}
	if g.r.IntN(2) == 0 {
		return fmt.Sprintf("(%s %s on (node) group_left %s by (node) (%s))", g.vector(depth), g.operator(), g.simple(), g.vector(depth))
	}
	return fmt.Sprintf("(%s %s %s %s)", g.vector(depth), g.operator(), g.matching(true), g.vector(depth))
}

func (g grammar) leaf() string {
	if g.r.IntN(3) == 0 {
		return g.selector("")
	}
	f := g.pick("rate", "increase", "delta", "irate", "idelta", "resets", "changes", "deriv", "sum_over_time", "avg_over_time",
		"min_over_time", "max_over_time", "count_over_time", "present_over_time", "last_over_time", "stddev_over_time", "stdvar_over_time",
		"predict_linear", "quantile_over_time")
	m := g.selector(g.pick("[15s]", "[30s]", "[1m]", "[90s]", "[2m]"))
	switch f {
	case "predict_linear":
		return fmt.Sprintf("predict_linear(%s, %s)", m, g.pick("60", "-7", "0.5"))
	case "quantile_over_time":
		return fmt.Sprintf("quantile_over_time(%s, %s)", g.pick("0.5", "0.9", "0", "1", "0.33", "2", "-1"), m)
	}
	return fmt.Sprintf("%s(%s)", f, m)
}

func (g grammar) selector(rng string) string {
	return g.pick("m0", "m1", "m2", "m3") + g.pick("", "", `{x="1"}`, `{x!="0"}`, `{y=~"a|b"}`, `{x="none"}`) + rng + g.pick("", "", "", " offset 20s")
}

func (g grammar) simple() string {
	return g.pick("sum", "avg", "min", "max", "count", "group", "stddev", "stdvar")
}

func (g grammar) labels() string {
	var some []string
	for _, l := range []string{"node", "x", "y"} {
		if g.r.IntN(2) == 0 {
			some = append(some, l)
		}
	}
	return strings.Join(some, ", ")
}

func (g grammar) aggregation(depth int) string {
	how := fmt.Sprintf("%s (%s)", g.pick("by", "by", "without"), g.labels())
	if g.r.IntN(6) == 0 {
		return fmt.Sprintf("quantile %s (%s, %s)", how, g.scalar(depth), g.vector(depth))
	}
	return fmt.Sprintf("%s %s (%s)", g.simple(), how, g.vector(depth))
}

func (g grammar) function(depth int) string {
	v := g.vector(depth)
	switch g.r.IntN(10) {
	case 9:
		return fmt.Sprintf("%s(%s)", g.pick("hour", "minute", "month", "year", "day_of_week", "day_of_month", "day_of_year", "days_in_month"), g.pick("", v))
	case 0:
		return "-" + v
	case 1:
		return fmt.Sprintf("clamp(%s, %s, %s)", v, g.scalar(depth), g.scalar(depth))
	case 2:
		return fmt.Sprintf("%s(%s, %s)", g.pick("clamp_min", "clamp_max", "round"), v, g.scalar(depth))
	case 3:
		return fmt.Sprintf("vector(%s)", g.scalar(depth))
	case 4:
		return fmt.Sprintf(`label_replace(%s, "%s", "$1%s", "x", "(.*)")`, v, g.pick("x", "y", "z"), g.pick("", "q"))
	case 5:
		return fmt.Sprintf(`label_join(%s, "z", "-", "x", "y")`, v)
	case 6:
		return fmt.Sprintf("timestamp(%s)", g.pick(v, g.selector("")))
	}
	return fmt.Sprintf("%s(%s)", g.pick("abs", "ceil", "floor", "sgn", "sqrt", "exp", "ln", "log2", "log10", "round", "rad", "deg", "atan"), v)
}

func (g grammar) scalar(depth int) string {
	if depth == 0 || g.r.IntN(2) == 0 {
		return g.pick("0", "1", "2", "-1", "0.5", "NaN", "Inf", "1e300", "time()", "pi()", "0.1", "3")
	}
	if g.r.IntN(2) == 0 {
		return fmt.Sprintf("scalar(%s)", g.vector(depth-1))
	}
	op := g.operator()
	if strings.ContainsAny(op, "=<>") && !strings.Contains(op, "bool") {
		op += " bool"
	}
	return fmt.Sprintf("(%s %s %s)", g.scalar(depth-1), op, g.scalar(depth-1))
}

func (g grammar) operator() string {
	return g.pick("+", "-", "*", "/", "^", "%", "atan2", "==", "!=", ">", "<", ">=", "<=", "> bool", "== bool", "<= bool")
}

func (g grammar) matching(groups bool) string {
	m := fmt.Sprintf("%s (%s)", g.pick("on", "ignoring"), g.labels())
	if !groups {
		return g.pick("", m)
	}
	return g.pick("", m, m+" group_left ()", m+" group_right ()", "on (node) group_left (z)", "on (node, x) group_right (z)")
}
