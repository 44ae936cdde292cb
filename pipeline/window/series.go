package window

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
)

// Series is the recent past of one series that some expression selects: its points by
// column, in time order, no two of one time.
type Series struct {
	Labels labels.Labels

	node     *node
	kind     *kind
	column   *column   // has the times; nil before there are any
	values   []float64 // of the rows before end
	end      int32     // the row of the column after that of the last value
	rising   int32     // from this index on, no value is below the one before it
	clean    int32     // from this index on, no value is a staleness marker
	attached bool      // listed in its group: seen by Select
}

// kind is what series have in common that the same selectors choose.
type kind struct {
	selectors []int // indexes into Store.selectors
	keep      int64 // ms of history that the selectors read
}

// Add puts a point in its place, and reports false when the series has one of that time
// already: the first stays. Points that no later tick reads make room for new ones.
func (s *Series) Add(st *Store, t int64, v float64) bool {
	if !s.attached {
		st.attach(s)
	}
	if s.column == nil {
		s.column, s.end = newColumn(0, s.kind.keep, 1), 0
	}
	s.trim()
	if len(s.values) == cap(s.values) {
		s.drop(st.next - s.kind.keep)
	}
	if n := len(s.values); n > 0 && t <= s.time(n-1) {
		if s.time(n-1)-t <= math.MaxInt32 {
			return s.insert(t, v)
		}
		s.leave() // a leap back, which no accepted event time makes
		s.clear()
	}
	s.enter(t, st.next)
	n := len(s.values)
	if n > 0 && v < s.values[n-1] {
		s.rising = int32(n)
	}
	if v != v && value.IsStaleNaN(v) {
		s.clean = int32(n + 1)
	}
	s.values = append(s.values, v)
	return true
}

// enter gives the series the row of a time that is newer than its own: the next one of the
// column that it shares, or of one for itself.
func (s *Series) enter(t, next int64) {
	c := s.column
	row, found := s.end, s.end != c.end() && c.time(s.end) == t
	if !found {
		row, found = c.find(t)
	}
	if !found && row != c.end() || len(s.values) > 0 && row != s.end {
		s.leave()
		c, row = s.column, s.end
	}
	if row == c.end() {
		c.push(t, next-c.keep)
		s.trim()
	}
	s.end = row + 1
}

// leave gives the series a column of its own, which has the times of its points and no other.
func (s *Series) leave() {
	c := s.column
	own := newColumn(cap(s.values), s.kind.keep, 1)
	own.base, own.times = c.base, append(own.times, s.times()...)
	c.series--
	s.column, s.end = own, own.end()
}

// insert places a point that is not the newest. Lateness is seconds, so the place is
// among the last few.
func (s *Series) insert(t int64, v float64) bool {
	i := len(s.values)
	for i > 0 && s.time(i-1) > t {
		i--
	}
	if i > 0 && s.time(i-1) == t {
		return false
	}
	if s.column.series > 1 || s.end != s.column.end() {
		s.leave()
	}
	s.column.drop(len(s.column.times) - len(s.values))
	s.column.insert(i, t)
	s.end++
	s.values = slices.Insert(s.values, i, v)
	// Either neighbour may lie on the wrong side now. It is not worth finding out.
	s.rising = int32(len(s.values) - 1)
	if int(s.clean) > i {
		s.clean++
	}
	if value.IsStaleNaN(v) {
		s.clean = max(s.clean, int32(i+1))
	}
	return true
}

// Listed says whether the store still shows the series: it has points that a later tick may
// read.
func (s *Series) Listed() bool { return s.attached }

// Touch reads the memory beside which Add writes. What it returns means nothing.
func (s *Series) Touch() int32 {
	n := len(s.values)
	if n == 0 {
		return 0
	}
	return s.column.first + int32(math.Float64bits(s.values[n-1]))
}

// Has says whether the series has a point of that time.
func (s *Series) Has(t int64) bool {
	s.trim()
	for i := len(s.values) - 1; i >= 0 && s.time(i) >= t; i-- {
		if s.time(i) == t {
			return true
		}
	}
	return false
}

// times are those of the values. The series is trimmed.
func (s *Series) times() []int32 {
	to := int(s.end - s.column.first)
	return s.column.times[to-len(s.values) : to]
}

// time is the time of point i, unix ms. The series is trimmed.
func (s *Series) time(i int) int64 {
	return s.column.time(s.end - int32(len(s.values)-i))
}

// trim removes the points whose times are gone from the column: no tick reads them.
func (s *Series) trim() {
	if s.column == nil {
		return
	}
	left := s.end - s.column.first // rows of the column before end
	if gone := len(s.values) - int(left); gone > 0 {
		s.shift(min(gone, len(s.values)))
		s.end = s.column.first + max(left, 0)
	}
}

// drop removes the points before low.
func (s *Series) drop(low int64) {
	i := 0
	for i < len(s.values) && s.time(i) < low {
		i++
	}
	s.shift(i)
}

// clear removes all points of a series that shares its column with none.
func (s *Series) clear() {
	s.column.drop(len(s.column.times))
	s.trim()
}

// shift removes the first n points, keeping the buffer.
func (s *Series) shift(n int) {
	if n > 0 {
		s.values = s.values[:copy(s.values, s.values[n:])]
		s.rising, s.clean = max(s.rising-int32(n), 0), max(s.clean-int32(n), 0)
	}
}

// newest is the time of the last point, or 0.
func (s *Series) newest() int64 {
	s.trim()
	if len(s.values) == 0 {
		return 0
	}
	return s.time(len(s.values) - 1)
}
