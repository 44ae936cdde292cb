package catalog

import (
	"math"
	"slices"
)

// Reason says why a value is no value.
type Reason uint8

// The reasons.
const (
	Good       Reason = iota
	NotANumber        // the source said NaN
	IsBlank           // one of the source's sentinels
	OutOfRange        // outside Min and Max
)

// String returns the text that counters and logs use.
func (r Reason) String() string {
	switch r {
	case Good:
		return "good"
	case NotANumber:
		return "nan"
	case IsBlank:
		return "blank"
	case OutOfRange:
		return "range"
	}
	return "unknown"
}

// Plain says that Normalize does nothing to a number, so a reader may skip it.
func (m *Metric) Plain() bool {
	return m.Scale == 1 && m.Offset == 0 && m.Min == nil && m.Max == nil && len(m.Blank) == 0
}

// rule is how a value is treated: what Scale, Offset, Min, Max and Blank say, without
// pointers to follow.
type rule struct {
	scale, offset      float64
	least, most        float64 // infinite where there is no limit
	blankMin, blankMax float64 // the span of Blank, empty without any
}

func (m *Metric) newRule() rule {
	r := rule{m.Scale, m.Offset, math.Inf(-1), math.Inf(1), math.Inf(1), math.Inf(-1)}
	if m.Min != nil {
		r.least = *m.Min
	}
	if m.Max != nil {
		r.most = *m.Max
	}
	for _, b := range m.Blank {
		r.blankMin, r.blankMax = min(r.blankMin, b), max(r.blankMax, b)
	}
	return r
}

// Normalize turns an exposed value into the canonical one, and the reason says whether it
// may be used. Of one that means "no value" the result is NaN, never 0; one that is out of
// range is what it is. Staleness markers are no values of a metric: the caller takes them
// out first.
func (m *Metric) Normalize(exposed float64) (float64, Reason) {
	r := &m.rule
	if exposed >= r.blankMin && exposed <= r.blankMax && slices.Contains(m.Blank, exposed) {
		// Only equality: sources have real values among and above their sentinels.
		return math.NaN(), IsBlank
	}
	v := exposed*r.scale + r.offset
	switch {
	case v != v:
		return math.NaN(), NotANumber
	case v < r.least || v > r.most:
		return v, OutOfRange
	}
	return v, Good
}
