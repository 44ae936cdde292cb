package window

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
)

// Series is the recent past of one series that some expression selects: its points by
// column, in time order, no two of one time. A time takes four bytes, since a window
// spans hours.
type Series struct {
	Labels labels.Labels

	group    *group
	kind     *kind
	base     int64   // unix ms that times count from
	times    []int32 // ms
	values   []float64
	stale    int32 // the newest staleness marker's time, or never
	fell     int32 // no point after this one is below the point before it; or never
	attached bool  // listed in its group: seen by Select
}

// kind is what series have in common that the same selectors choose.
type kind struct {
	selectors []int // indexes into Store.selectors
	keep      int64 // ms of history that the selectors read
}

const never = math.MinInt32

// Add puts a point in its place, and reports false when the series has one of that time
// already: the first stays. Points that no later tick reads make room for new ones.
func (s *Series) Add(st *Store, t int64, v float64) bool {
	if !s.attached {
		st.attach(s)
	}
	if len(s.times) == cap(s.times) {
		s.drop(st.next - s.kind.keep)
	}
	at := s.offset(t)
	n := len(s.times)
	if n > 0 && s.times[n-1] >= at {
		return s.insert(at, v)
	}
	if n > 0 && v < s.values[n-1] {
		s.fell = at
	}
	if v != v && value.IsStaleNaN(v) {
		s.stale = at
	}
	s.times, s.values = append(s.times, at), append(s.values, v)
	return true
}

// Listed says whether the store still shows the series: it has points that a later tick may
// read.
func (s *Series) Listed() bool { return s.attached }

// Touch reads the memory beside which Add writes. What it returns means nothing.
func (s *Series) Touch() int32 {
	n := len(s.times)
	if n == 0 {
		return 0
	}
	return s.times[n-1] + int32(math.Float64bits(s.values[n-1]))
}

// offset is a time as the series counts it. Points too far from it for 32 bits are of
// another month: no tick reads them together, and they go.
func (s *Series) offset(t int64) int32 {
	if d := t - s.base; d == int64(int32(d)) && d != never {
		return int32(d)
	}
	if n := len(s.times); n > 0 {
		shift := int64(s.times[0])
		if d := t - s.base - shift; d == int64(int32(d)) && d != never && int64(s.times[n-1])-shift == int64(s.times[n-1]-int32(shift)) {
			s.shift(shift)
			return int32(d)
		}
	}
	s.clear()
	s.base = t
	return 0
}

// shift makes times count from the first point.
func (s *Series) shift(by int64) {
	s.base += by
	for i := range s.times {
		s.times[i] -= int32(by)
	}
	for _, mark := range []*int32{&s.stale, &s.fell} {
		*mark = int32(max(int64(*mark)-by, never))
	}
}

func (s *Series) clear() {
	s.times, s.values = s.times[:0], s.values[:0]
	s.stale, s.fell = never, never
}

// Has says whether the series has a point of that time.
func (s *Series) Has(t int64) bool {
	for i := len(s.times) - 1; i >= 0 && s.time(i) >= t; i-- {
		if s.time(i) == t {
			return true
		}
	}
	return false
}

func (s *Series) time(i int) int64 { return s.base + int64(s.times[i]) }

// insert places a point that is not the newest. Lateness is seconds, so the place is
// among the last few.
func (s *Series) insert(at int32, v float64) bool {
	i := len(s.times)
	for i > 0 && s.times[i-1] > at {
		i--
	}
	if i > 0 && s.times[i-1] == at {
		return false
	}
	s.times, s.values = slices.Insert(s.times, i, at), slices.Insert(s.values, i, v)
	// Either neighbour may lie on the wrong side now. It is not worth finding out.
	s.fell = s.times[len(s.times)-1]
	if value.IsStaleNaN(v) {
		s.stale = max(s.stale, at)
	}
	return true
}

// drop removes the points before low, keeping the buffers.
func (s *Series) drop(low int64) {
	i := 0
	for i < len(s.times) && s.time(i) < low {
		i++
	}
	if i > 0 {
		s.times = s.times[:copy(s.times, s.times[i:])]
		s.values = s.values[:copy(s.values, s.values[i:])]
	}
}

// newest is the time of the last point, or 0.
func (s *Series) newest() int64 {
	if len(s.times) == 0 {
		return 0
	}
	return s.time(len(s.times) - 1)
}
