package clickhouse

import (
	"sort"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// promIterator walks the points of a series; it is a chunkenc.Iterator of floats.
type promIterator struct {
	series *promSeries
	at     int // -1 before the first
}

func (it *promIterator) Next() chunkenc.ValueType {
	it.at++
	return it.kind()
}

// Seek stands on the first point at t or later, never before the present one.
func (it *promIterator) Seek(t int64) chunkenc.ValueType { //nolint:govet // the signature is chunkenc.Iterator's
	it.at = max(it.at, 0)
	if it.at < len(it.series.times) && it.series.times[it.at] < t {
		rest := it.series.times[it.at:]
		it.at += sort.Search(len(rest), func(i int) bool { return rest[i] >= t })
	}
	return it.kind()
}

func (it *promIterator) kind() chunkenc.ValueType {
	if it.at < len(it.series.times) {
		return chunkenc.ValFloat
	}
	return chunkenc.ValNone
}

func (it *promIterator) At() (int64, float64) {
	return it.series.times[it.at], it.series.values[it.at]
}

func (it *promIterator) AtT() int64 { return it.series.times[it.at] }
func (*promIterator) AtST() int64   { return 0 }
func (*promIterator) Err() error    { return nil }

func (*promIterator) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) {
	panic("BUG: the store holds floats only")
}

func (*promIterator) AtFloatHistogram(*histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	panic("BUG: the store holds floats only")
}
