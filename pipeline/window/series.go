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
	s.trim()
	if n := len(s.values); n > 0 && n == cap(s.values) {
		s.drop(st.next - s.kind.keep)
	}
	i := s.place(t)
	if i > 0 && s.time(i-1) == t {
		return false
	}
	if i < len(s.values) || !s.goesOn(t, st.next) {
		s.part(i, t)
	}
	s.put(min(i, len(s.values)), v)
	return true
}

// place returns the index of the first point that is newer than t. Lateness is seconds, so
// it is among the last few.
func (s *Series) place(t int64) int {
	i := len(s.values)
	for i > 0 && s.time(i-1) > t {
		i--
	}
	return i
}

// goesOn says whether t is the next time of the column after those of the series, or becomes
// it, and takes it.
func (s *Series) goesOn(t, next int64) bool {
	c := s.column
	switch {
	case len(s.values) == 0:
		return false
	case s.end == c.end():
		c.push(t, next-c.keep)
	case c.time(s.end) != t:
		return false
	}
	s.end++
	return true
}

// part gives the series the times of its points with t as time i: those of another series of
// the node that parted likewise, or its own.
func (s *Series) part(i int, t int64) {
	own := &column{keep: s.kind.keep}
	if len(s.values) > 0 {
		own.base, own.times = s.column.base, slices.Clone(s.times())
	}
	own.insert(i, t)
	s.shift(len(s.values) + 1 - len(own.times)) // what is too far from t is gone
	c, end := s.node.find(own.base, own.times)
	if c == nil {
		own.times = slices.Grow(own.times, max(cap(s.values)-len(own.times), 0))
		s.node.add(own)
		c, end = own, own.end()
	}
	s.join(c, end)
}

// join has the series share a column, up to a row.
func (s *Series) join(c *column, end int32) {
	if c != s.column {
		s.quit()
		c.series++
		c.keep = max(c.keep, s.kind.keep)
	}
	s.column, s.end = c, end
}

// quit takes the series out of its column, which goes with the last one.
func (s *Series) quit() {
	c := s.column
	if c == nil {
		return
	}
	s.column = nil
	if c.series--; c.series == 0 {
		s.node.columns = slices.DeleteFunc(s.node.columns, func(x *column) bool { return x == c })
	}
}

// put gives point i, whose time the series has already, its value.
func (s *Series) put(i int, v float64) {
	if n := len(s.values); i < n {
		s.values = slices.Insert(s.values, i, v)
		s.rising = int32(n) // a neighbour may lie on the wrong side now: it is not worth finding out
		if int(s.clean) > i {
			s.clean++
		}
	} else {
		if n > 0 && v < s.values[n-1] {
			s.rising = int32(n)
		}
		s.values = append(s.values, v)
	}
	if v != v && value.IsStaleNaN(v) {
		s.clean = max(s.clean, int32(i+1))
	}
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

// drop removes the points before low. Without them, a series that had a gap may have the
// same times as its page again.
func (s *Series) drop(low int64) {
	i := 0
	for i < len(s.values) && s.time(i) < low {
		i++
	}
	s.shift(i)
	if len(s.values) > 0 {
		s.join(s.node.find(s.column.base, s.times()))
	}
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
