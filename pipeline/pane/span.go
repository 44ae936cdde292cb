package pane

import (
	"time"

	"sextant/features"
)

// Lengths of panes, ms. A long range is made of hours as far as it holds whole ones, of short
// panes around them, and of samples at its ends.
const (
	Hour  = int64(time.Hour / time.Millisecond)
	Short = int64(features.PaneLength / time.Millisecond)
)

// Span is a stretch of time [From, To), unix ms, that panes of one length fill. Length 0: no
// pane does, and it is made of samples.
type Span struct{ Length, From, To int64 }

// Cut parts a range into spans, in the order of time.
func Cut(from, to int64) []Span {
	short, shortEnd := up(from, Short), down(to, Short)
	if short >= shortEnd {
		return []Span{{0, from, to}}
	}
	hour, hourEnd := up(short, Hour), down(shortEnd, Hour)
	if hour >= hourEnd {
		hour, hourEnd = shortEnd, shortEnd
	}
	var out []Span
	for _, s := range []Span{{0, from, short}, {Short, short, hour}, {Hour, hour, hourEnd}, {Short, hourEnd, shortEnd}, {0, shortEnd, to}} {
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

func down(t, step int64) int64 { return t - t%step }
func up(t, step int64) int64   { return down(t+step-1, step) }
