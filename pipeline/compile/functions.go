package compile

import (
	"math"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// each applies a function to every value of its first argument, which is a vector.
type each struct {
	f func(float64) float64
}

func (*each) plan(s *Set, n *node, _ *plan) []labels.Labels { return nameless(s.labels(n.args[0])) }

func (o *each) eval(_ *Set, n *node, _ *plan) error {
	n.apply(o.f)
	return nil
}

func (n *node) apply(f func(float64) float64) {
	in := n.args[0].out
	n.out.Slot = append(n.out.Slot, in.Slot...)
	for _, v := range in.Value {
		n.out.Value = append(n.out.Value, f(v))
	}
}

// elementwise are the functions of one vector.
var elementwise = map[string]func(float64) float64{
	"abs": math.Abs, "ceil": math.Ceil, "floor": math.Floor, "exp": math.Exp, "sqrt": math.Sqrt,
	"ln": math.Log, "log2": math.Log2, "log10": math.Log10, "sgn": sign,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
	"rad": func(v float64) float64 { return v * (math.Pi / 180) },
	"deg": func(v float64) float64 { return v * (180 / math.Pi) },
}

// calendar are the functions of a time in seconds; without an argument, of now.
var calendar = map[string]func(time.Time) float64{
	"days_in_month": func(t time.Time) float64 {
		return float64(32 - time.Date(t.Year(), t.Month(), 32, 0, 0, 0, 0, time.UTC).Day())
	},
	"day_of_month": func(t time.Time) float64 { return float64(t.Day()) },
	"day_of_week":  func(t time.Time) float64 { return float64(t.Weekday()) },
	"day_of_year":  func(t time.Time) float64 { return float64(t.YearDay()) },
	"hour":         func(t time.Time) float64 { return float64(t.Hour()) },
	"minute":       func(t time.Time) float64 { return float64(t.Minute()) },
	"month":        func(t time.Time) float64 { return float64(t.Month()) },
	"year":         func(t time.Time) float64 { return float64(t.Year()) },
}

func utc(f func(time.Time) float64) func(float64) float64 {
	return func(v float64) float64 { return f(time.Unix(int64(v), 0).UTC()) }
}

func sign(v float64) float64 {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return v
}

// clamp is clamp, clamp_min and clamp_max: positions of the bounds among the arguments,
// 0 for none.
type clamp struct {
	each
	low, high int
}

func (o *clamp) eval(_ *Set, n *node, _ *plan) error {
	low, high := math.Inf(-1), math.Inf(1)
	if o.low > 0 {
		low = n.args[o.low].out.Value[0]
	}
	if o.high > 0 {
		high = n.args[o.high].out.Value[0]
	}
	if high < low {
		return nil
	}
	in := n.args[0].out
	n.out.Slot = append(n.out.Slot, in.Slot...)
	for _, v := range in.Value {
		n.out.Value = append(n.out.Value, math.Max(low, math.Min(high, v)))
	}
	return nil
}

// round rounds to a multiple of its second argument, or to whole numbers.
type round struct{ each }

func (*round) eval(_ *Set, n *node, _ *plan) error {
	nearest := float64(1)
	if len(n.args) > 1 {
		nearest = n.args[1].out.Value[0]
	}
	inverse := 1.0 / nearest
	n.apply(func(f float64) float64 { return math.Floor(f*inverse+0.5) / inverse })
	return nil
}

// toScalar is scalar(): the one value of a vector, or NaN.
type toScalar struct{ noLabels }

func (toScalar) eval(_ *Set, n *node, _ *plan) error {
	v := math.NaN()
	if in := n.args[0].out; len(in.Value) == 1 {
		v = in.Value[0]
	}
	n.out.Value = append(n.out.Value, v)
	return nil
}

// toVector is vector(): a scalar as the one element without labels.
type toVector struct{}

func (toVector) plan(*Set, *node, *plan) []labels.Labels {
	return []labels.Labels{labels.EmptyLabels()}
}

func (toVector) eval(_ *Set, n *node, _ *plan) error {
	n.out.add(0, n.args[0].out.Value[0])
	return nil
}

// instantOf is time() and, with the slots of its argument, timestamp() of what is no
// selector: the instant of the evaluation in seconds.
type instantOf struct{ ofVector bool }

func (o *instantOf) plan(s *Set, n *node, _ *plan) []labels.Labels {
	if !o.ofVector {
		return nil
	}
	return nameless(s.labels(n.args[0]))
}

func (o *instantOf) eval(s *Set, n *node, _ *plan) error {
	at := float64(s.at) / 1000
	if !o.ofVector {
		n.out.Value = append(n.out.Value, at)
		return nil
	}
	for _, slot := range n.args[0].out.Slot {
		n.out.add(slot, at)
	}
	return nil
}
