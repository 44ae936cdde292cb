package evaluate

import (
	"math"

	"sextant/features"
)

// maxExactInt is the largest magnitude below which a float64 holds every integer.
const maxExactInt = 1 << 53

// Convert turns a result into the value that a feature of that type stores, NaN for
// NULL. It reports false when the value lies outside the type or the valid range; NaN is
// no value and no fault.
//
//   - bool: 1 for anything but 0
//   - int64: rounded half to even, and exact in a float64
//   - float32: rounded to the nearest float32
//
// An infinity, as from a division by zero, is outside every range: no model or JSON can
// hold it. A feature's default is not applied here but by who serves it: a stored
// default could not be told from a measured value.
func Convert(f *features.Feature, v float64) (num float64, ok bool) {
	if math.IsNaN(v) {
		return v, true
	}
	switch f.DType {
	case features.Bool:
		if v != 0 {
			v = 1
		}
	case features.Int64:
		v = math.RoundToEven(v)
		if math.Abs(v) > maxExactInt {
			return math.NaN(), false
		}
	case features.Float32:
		v = float64(float32(v))
	case features.Float64, features.String:
	}
	if math.IsInf(v, 0) || f.Min != nil && v < *f.Min || f.Max != nil && v > *f.Max {
		return math.NaN(), false
	}
	return v, true
}
