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

// SameTimes says whether the points of two spans have the same times.
func (w *Span) SameTimes(o *Span) bool { return w.base == o.base && slices.Equal(w.times, o.times) }

// CopyTimes makes w a span of the times of o, without values.
func (w *Span) CopyTimes(o *Span) { w.base, w.times = o.base, append(w.times[:0], o.times...) }

// Window returns the points of [lo, hi] that are no staleness markers, which is what a
// range selector sees.
func (s *Series) Window(lo, hi int64) Span {
	var w Span
	s.window(&w, lo, hi)
	return w
}

func (s *Series) window(w *Span, lo, hi int64) {
	i, j := s.bounds(lo, hi)
	w.V, w.times, w.base, w.Rising = s.values[i:j], s.times[i:j], s.base, false
	if i == j {
		return
	}
	w.Rising = w.times[0] >= s.fell
	if w.times[0] <= s.stale {
		w.dropStale()
	}
}

// Windows puts the window of each series into dst, which is as long as series.
func Windows(dst []Span, series []*Series, lo, hi int64) {
	touchTimes(series)
	for i, s := range series {
		s.window(&dst[i], lo, hi)
	}
	touchValues(dst)
}

// touchTimes and touchValues read the memory that is worked on next. Read one by one with
// work in between, each would be waited for alone; so they come together.
//
//go:noinline
func touchTimes(series []*Series) (sum int32) {
	for _, s := range series {
		if t := s.times; len(t) > 0 {
			sum += t[0] + t[len(t)-1]
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
	i := len(s.times) - 1
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
	i, j := s.bounds(lo, hi)
	return Span{V: s.values[i:j], times: s.times[i:j], base: s.base}
}

// bounds returns the indexes of the points of [lo, hi].
func (s *Series) bounds(lo, hi int64) (i, j int) {
	t := s.times
	lo, hi = lo-s.base, hi-s.base
	j = len(t)
	for j > 0 && int64(t[j-1]) > hi {
		j--
	}
	if j == 0 || int64(t[0]) >= lo {
		return 0, j
	}
	first, last := int64(t[0]), int64(t[j-1])
	if last < lo {
		return j, j
	}
	// Scrapes are about equally far apart, so the place can be told from the time.
	i = int((lo - first) * int64(j-1) / (last - first))
	for int64(t[i]) < lo {
		i++
	}
	for int64(t[i-1]) >= lo {
		i--
	}
	return i, j
}
