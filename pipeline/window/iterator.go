package window

import (
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// iterator walks points for the engine; it is a chunkenc.Iterator of floats.
type iterator struct {
	points Span
	i      int // -1 before the first
}

func (it *iterator) Next() chunkenc.ValueType {
	it.i++
	return it.valueType()
}

// Seek stands on the first point at t or later, never before the present one.
func (it *iterator) Seek(t int64) chunkenc.ValueType { //nolint:govet // the signature is chunkenc.Iterator's
	it.i = max(it.i, 0)
	for it.i < it.points.Len() && it.points.Time(it.i) < t {
		it.i++
	}
	return it.valueType()
}

func (it *iterator) valueType() chunkenc.ValueType {
	if it.i < it.points.Len() {
		return chunkenc.ValFloat
	}
	return chunkenc.ValNone
}

func (it *iterator) At() (int64, float64) {
	return it.points.Time(it.i), it.points.V[it.i]
}

func (it *iterator) AtT() int64 { return it.points.Time(it.i) }
func (*iterator) AtST() int64   { return 0 }
func (*iterator) Err() error    { return nil }

func (*iterator) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) {
	panic("BUG: a window holds floats only")
}

func (*iterator) AtFloatHistogram(*histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	panic("BUG: a window holds floats only")
}
