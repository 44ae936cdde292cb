package evaluate

import (
	"math"
	"testing"

	"sextant/features"
)

func TestConvert(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	low, high := -1.0, 2.0
	for _, c := range []struct {
		dtype  features.DType
		ranged bool
		in     float64
		want   float64 // NaN is NULL
		ok     bool
	}{
		{features.Float64, false, 0.1, 0.1, true},
		{features.Float64, false, nan, nan, true},
		{features.Float64, false, inf, nan, false},
		{features.Float64, false, -inf, nan, false},
		{features.Float64, true, 2, 2, true},
		{features.Float64, true, 2.1, nan, false},
		{features.Float64, true, -1.1, nan, false},
		{features.Float32, false, 0.1, float64(float32(0.1)), true},
		{features.Float32, false, 1e300, nan, false},
		{features.Int64, false, 2.5, 2, true},
		{features.Int64, false, 3.5, 4, true},
		{features.Int64, false, -2.5, -2, true},
		{features.Int64, false, 1 << 53, 1 << 53, true},
		{features.Int64, false, 1<<53 + 2, nan, false},
		{features.Int64, true, 2.4, 2, true}, // the range is of what is stored
		{features.Bool, false, 0, 0, true},
		{features.Bool, false, 0.001, 1, true},
		{features.Bool, false, nan, nan, true},
		{features.Bool, false, inf, 1, true},
	} {
		f := &features.Feature{DType: c.dtype}
		if c.ranged {
			f.Min, f.Max = &low, &high
		}
		got, ok := Convert(f, c.in)
		if ok != c.ok || got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v(%v), ranged %v: got %v, %v, want %v, %v", c.dtype, c.in, c.ranged, got, ok, c.want, c.ok)
		}
	}
}
