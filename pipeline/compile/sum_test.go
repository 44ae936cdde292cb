package compile

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/prometheus/prometheus/util/kahansum"
)

// TestSumsAreInc compares with kahansum.Inc by the bit, on numbers of every size, zeros of
// both signs, infinities, NaN, and sums that overflow in the middle.
func TestSumsAreInc(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64}
	for range 20_000 {
		xs, vs := make([]float64, r.IntN(40)), make([]float64, 0, 40)
		odd := r.IntN(4) == 0
		for i := range xs {
			xs[i] = float64(r.IntN(7200)-3600) / 4
			v := (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(30)-15))
			if odd && r.IntN(5) == 0 {
				v = special[r.IntN(len(special))]
			}
			vs = append(vs, v)
		}
		sum, c := r.Float64()*float64(r.IntN(2)), 0.
		wantSum, wantC := sum, c
		var wantXY, wantCXY float64
		for i, v := range vs {
			wantSum, wantC = kahansum.Inc(v, wantSum, wantC)
			wantXY, wantCXY = kahansum.Inc(xs[i]*v, wantXY, wantCXY)
		}
		gotSum, gotC := addAll(vs, sum, c)
		gotXY, gotCXY := addProducts(xs, vs)
		for i, pair := range [][2]float64{{gotSum, wantSum}, {gotC, wantC}, {gotXY, wantXY}, {gotCXY, wantCXY}} {
			if math.Float64bits(pair[0]) != math.Float64bits(pair[1]) {
				t.Fatalf("result %d of %v: %v, want %v", i, vs, pair[0], pair[1])
			}
		}
	}
}

func BenchmarkAddAll(b *testing.B) {
	vs := make([]float64, 360)
	for i := range vs {
		vs[i] = rand.Float64() * 100
	}
	b.Run("sum", func(b *testing.B) {
		for range b.N {
			addAll(vs, 0, 0)
		}
	})
	b.Run("Inc", func(b *testing.B) {
		for range b.N {
			var s, c float64
			for _, v := range vs {
				s, c = kahansum.Inc(v, s, c)
			}
		}
	})
}
