package catalog

import "math"

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

// Normalize turns an exposed value into the canonical one. If it is no value the result
// is NaN, never 0, and the reason says why. Staleness markers are no values of a metric:
// the caller takes them out first.
func (m *Metric) Normalize(exposed float64) (float64, Reason) {
	if exposed != exposed {
		return math.NaN(), NotANumber
	}
	if m.hasSpan && exposed >= m.blankSpan[0] && exposed <= m.blankSpan[1] {
		for _, blank := range m.Blank {
			// Only equality: sources have real values above their sentinels.
			if exposed == blank {
				return math.NaN(), IsBlank
			}
		}
	}
	v := exposed*m.Scale + m.Offset
	if m.Min != nil && v < *m.Min || m.Max != nil && v > *m.Max {
		return math.NaN(), OutOfRange
	}
	return v, Good
}
