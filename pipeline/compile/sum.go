package compile

import (
	"math"

	"github.com/prometheus/prometheus/util/kahansum"
)

// addAll adds vs to sum and its compensation c, one after another, as kahansum.Inc does, to
// the bit and in a third of the time: what Inc asks of each step, whether it is finite, is asked at
// the end. Where it is not, Inc's own answer is given.
func addAll(vs []float64, sum, c float64) (float64, float64) {
	s, e := sum, c
	for _, v := range vs {
		t, lost := plus(s, v)
		s, e = t, e+lost
	}
	if finite(s) && finite(e) {
		return s, e
	}
	for _, v := range vs {
		sum, c = kahansum.Inc(v, sum, c)
	}
	return sum, c
}

// addProducts is addAll of xs[i]*vs[i].
func addProducts(xs, vs []float64) (sum, c float64) {
	xs = xs[:len(vs)]
	for i, v := range vs {
		t, lost := plus(sum, float64(xs[i]*v)) // rounded: not to be fused with what follows
		sum, c = t, c+lost
	}
	if finite(sum) && finite(c) {
		return sum, c
	}
	sum, c = 0, 0
	for i, v := range vs {
		sum, c = kahansum.Inc(xs[i]*v, sum, c)
	}
	return sum, c
}

// plus adds finite numbers and says what the sum lost by rounding. Without their signs, the
// bits of floats have the order of the floats: compared so, they do not keep the adder from
// its work.
func plus(s, v float64) (t, lost float64) {
	t = s + v
	if math.Float64bits(v)<<1 <= math.Float64bits(s)<<1 {
		return t, (s - t) + v
	}
	return t, (v - t) + s
}

func finite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }
