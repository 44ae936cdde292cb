package window

import (
	"slices"

	"github.com/prometheus/prometheus/model/labels"
)

// Point is one sample of a series.
type Point struct {
	T int64 // unix ms
	V float64
}

// Series is the recent past of one series that some expression selects. Its points are
// in time order, no two of one time.
type Series struct {
	Labels labels.Labels

	group     *group
	selectors []int // indexes into Store.selectors
	keep      int64 // ms of history that the selectors read
	points    []Point
	attached  bool // listed in its group: seen by Select
}

// Add puts a point in its place, and reports false when the series has one of that time
// already: the first stays. Points that no later tick reads make room for new ones.
func (s *Series) Add(st *Store, t int64, v float64) bool {
	if !s.attached {
		st.attach(s)
	}
	n := len(s.points)
	if n == cap(s.points) {
		s.drop(st.next - s.keep)
		n = len(s.points)
	}
	if n == 0 || s.points[n-1].T < t {
		s.points = append(s.points, Point{t, v})
		return true
	}
	return s.insert(t, v)
}

// Has says whether the series has a point of that time.
func (s *Series) Has(t int64) bool {
	for i := len(s.points) - 1; i >= 0 && s.points[i].T >= t; i-- {
		if s.points[i].T == t {
			return true
		}
	}
	return false
}

// insert places a point that is not the newest. Lateness is seconds, so the place is
// among the last few.
func (s *Series) insert(t int64, v float64) bool {
	i := len(s.points)
	for i > 0 && s.points[i-1].T > t {
		i--
	}
	if i > 0 && s.points[i-1].T == t {
		return false
	}
	s.points = slices.Insert(s.points, i, Point{t, v})
	return true
}

// drop removes the points before low, keeping the buffer.
func (s *Series) drop(low int64) {
	i := 0
	for i < len(s.points) && s.points[i].T < low {
		i++
	}
	if i > 0 {
		s.points = s.points[:copy(s.points, s.points[i:])]
	}
}

// newest is the time of the last point, or 0.
func (s *Series) newest() int64 {
	if len(s.points) == 0 {
		return 0
	}
	return s.points[len(s.points)-1].T
}

// span returns the points of [lo, hi].
func (s *Series) span(lo, hi int64) []Point {
	p := s.points
	i, j := 0, len(p)
	for j > 0 && p[j-1].T > hi {
		j--
	}
	// Ranges of different length read one series: the short ones start near the end.
	if j-i > 16 {
		i, _ = slices.BinarySearchFunc(p[:j], lo, func(p Point, t int64) int {
			if p.T < t {
				return -1
			}
			return 1
		})
		return p[i:j]
	}
	for i < j && p[i].T < lo {
		i++
	}
	return p[i:j]
}
