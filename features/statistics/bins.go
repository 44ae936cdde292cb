package statistics

import "sextant/features"

// Bins are what the values of a baseline are cut into, and later ones compared in.
type Bins struct {
	Exact    bool     // Edges are buckets with a bin each, and all others share one
	Edges    []int16  // else the highest bucket of each bin but the last, which has no end
	Expected []uint64 // rows of the baseline in each bin, and in one more those without a value
}

const (
	fewBuckets = 32 // buckets that have a bin each
	manyBins   = 10 // of more buckets, filled about alike
)

// Bins cuts a histogram of values of a type. Where few buckets have values, the bins show what none of
// them had: of values that stand for themselves each that is new, of other numbers those further out
// than the baseline is wide.
func (h Histogram) Bins(d features.DType) Bins {
	n := len(h.Buckets)
	switch {
	case n == 0:
		return Bins{Expected: []uint64{0, h.Nulls}}
	case n > fewBuckets:
		return h.alike()
	case h.discrete(d):
		return Bins{true, h.Buckets, append(append([]uint64{}, h.Counts...), 0, h.Nulls)}
	}
	low, high := int(h.Buckets[0]), int(h.Buckets[n-1])
	margin := max(high-low, 1)
	var b Bins
	if below := low - margin - 1; below >= -lastBucket {
		b.Edges, b.Expected = append(b.Edges, int16(below)), append(b.Expected, 0)
	}
	b.Edges, b.Expected = append(b.Edges, h.Buckets[:n-1]...), append(b.Expected, h.Counts...)
	if above := high + margin; above < lastBucket {
		b.Edges, b.Expected = append(b.Edges, int16(above)), append(b.Expected, 0)
	}
	b.Expected = append(b.Expected, h.Nulls)
	return b
}

// alike makes bins of about as many rows each.
func (h Histogram) alike() (b Bins) {
	var total, seen, bin uint64
	for _, n := range h.Counts {
		total += n
	}
	for i, n := range h.Counts {
		bin, seen = bin+n, seen+n
		if last := i == len(h.Counts)-1; !last && seen*manyBins >= total*uint64(len(b.Expected)+1) {
			b.Edges, b.Expected, bin = append(b.Edges, h.Buckets[i]), append(b.Expected, bin), 0
		}
	}
	b.Expected = append(b.Expected, bin, h.Nulls)
	return b
}

// ownBucket is how far integers have a bucket each.
const ownBucket = 32

// discrete says whether a bucket is one value: of strings, as far as their hashes differ.
func (h Histogram) discrete(d features.DType) bool {
	switch d {
	case features.String, features.Bool:
		return true
	case features.Int64:
		return h.Buckets[0] >= Bucket(-ownBucket) && h.Buckets[len(h.Buckets)-1] <= Bucket(ownBucket)
	}
	return false
}
