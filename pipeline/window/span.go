package window

import (
	"slices"

	"github.com/prometheus/prometheus/model/value"
)

// Span is the points of a series in a stretch of time, by column.
type Span struct {
	V      []float64
	Rising bool // surely no value is below the one before it; false says nothing

	times []int32
	base  int64
}

// Len is the number of points.
func (w *Span) Len() int { return len(w.times) }

// Time is the time of point i, unix ms.
func (w *Span) Time(i int) int64 { return w.base + int64(w.times[i]) }

// Times tells the times of spans apart until something is added to the store. Series of a
// page have equal ones.
type Times struct {
	first *int32
	n     int
}

// Times of the span, which has points.
func (w *Span) Times() Times { return Times{&w.times[0], len(w.times)} }

// Window returns the points of [lo, hi] that are no staleness markers, which is what a
// range selector sees.
func (s *Series) Window(lo, hi int64) Span {
	var w Span
	if s.column != nil {
		s.window(&w, s.column.rows(lo, hi))
	}
	return w
}

// window is Window of the rows [from, to) of the column.
func (s *Series) window(w *Span, rows rows) {
	i, j := s.between(rows)
	w.V, w.times, w.base, w.Rising = s.values[i:j], s.times()[i:j], s.column.base, i >= int(s.rising)
	if i < int(s.clean) {
		w.dropStale()
	}
}

// Windows puts the window of each series, which is in the store, into dst, which is as long
// as series.
func Windows(dst []Span, series []*Series, lo, hi int64) {
	touchTimes(series)
	var (
		c *column
		r rows
	)
	for i, s := range series {
		if s.column != c {
			c = s.column
			r = c.rows(lo, hi)
		}
		s.window(&dst[i], r)
	}
	touchValues(dst)
}

// Touch reads the memory of the newest points. What it returns means nothing.
//
//go:noinline
func Touch(series []*Series) (sum int32) {
	for _, s := range series {
		sum += s.Touch()
	}
	return sum
}

// touchTimes and touchValues read the memory that is worked on next. Read one by one with
// work in between, each would be waited for alone; so they come together.
//
//go:noinline
func touchTimes(series []*Series) (sum int32) {
	for _, s := range series {
		if s.column != nil && len(s.column.times) > 0 {
			sum += s.column.times[len(s.column.times)-1]
		}
	}
	return sum
}

//go:noinline
func touchValues(ws []Span) (sum float64) {
	for i := range ws {
		if v := ws[i].V; len(v) > 0 {
			sum += v[0] + v[len(v)-1]
		}
	}
	return sum
}

// dropStale copies the points that are no markers: markers are rare, and the series needs
// them for those who look at one instant. Values on both sides of a marker become
// neighbours.
func (w *Span) dropStale() {
	times, values := slices.Clone(w.times), w.V
	w.V, w.Rising = make([]float64, 0, len(values)), false
	w.times = times[:0]
	for i, v := range values {
		if !value.IsStaleNaN(v) {
			w.times, w.V = append(w.times, times[i]), append(w.V, v)
		}
	}
}

// Last returns the newest point of [lo, hi], unless it is a staleness marker.
func (s *Series) Last(lo, hi int64) (t int64, v float64, ok bool) {
	s.trim()
	i := len(s.values) - 1
	for i >= 0 && s.time(i) > hi {
		i--
	}
	if i < 0 || s.time(i) < lo || value.IsStaleNaN(s.values[i]) {
		return 0, 0, false
	}
	return s.time(i), s.values[i], true
}

// span returns all points of [lo, hi].
func (s *Series) span(lo, hi int64) Span {
	if s.column == nil {
		return Span{}
	}
	i, j := s.between(s.column.rows(lo, hi))
	return Span{V: s.values[i:j], times: s.times()[i:j], base: s.column.base}
}

// between returns the indexes of the points in rows of the column, and trims the series.
func (s *Series) between(r rows) (i, j int) {
	s.trim()
	n := len(s.values)
	start := s.end - int32(n)
	return min(max(int(r.from-start), 0), n), min(max(int(r.to-start), 0), n)
}
