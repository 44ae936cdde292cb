package compile

import (
	"math"

	"github.com/prometheus/prometheus/util/kahansum"
)

// addAll adds vs to sum and its compensation c, one after another, as kahansum.Inc does, to
// the bit and at twice the speed. Inc finds the error of an addition from the larger
// operand, by a branch; Knuth's TwoSum finds the same error, which is exact in both, without
// (The Art of Computer Programming 2, 4.2.2, theorem B). Only where a sum is not finite do
// they differ, and then Inc's own answer is given.
func addAll(vs []float64, sum, c float64) (float64, float64) {
	s, e := sum, c
	for _, v := range vs {
		t := s + v
		b := t - s
		e += (s - (t - b)) + (v - b)
		s = t
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
		p := float64(xs[i] * v) // rounded: not to be fused with what follows
		t := sum + p
		b := t - sum
		c += (sum - (t - b)) + (p - b)
		sum = t
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

func finite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }
