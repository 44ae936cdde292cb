package compile

import (
	"math"
	"sort"
)

// nansFirst sorts as the engine does. Its order of equal elements, which shows in the sign
// of a zero, is that of sort.Sort, so it is sorted by that.
type nansFirst []float64

func (s nansFirst) Len() int           { return len(s) }
func (s nansFirst) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s nansFirst) Less(i, j int) bool { return math.IsNaN(s[i]) || s[i] < s[j] }

// quantile sorts the values and interpolates between two of them.
func quantile(q float64, values []float64) float64 {
	if len(values) == 0 || math.IsNaN(q) {
		return math.NaN()
	}
	if q < 0 {
		return math.Inf(-1)
	}
	if q > 1 {
		return math.Inf(+1)
	}
	sort.Sort(nansFirst(values))

	n := float64(len(values))
	rank := q * (n - 1)
	lower := math.Max(0, math.Floor(rank))
	upper := math.Min(n-1, lower+1)
	weight := rank - math.Floor(rank)
	if weight == 0 {
		return values[int(lower)]
	}
	return values[int(lower)]*(1-weight) + values[int(upper)]*weight
}
