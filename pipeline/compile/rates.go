package compile

import (
	"math"

	"sextant/pipeline/window"
)

// extrapolated is rate, increase and delta: extrapolatedRate of the engine without
// histograms and start timestamps.
func extrapolated(counter, perSecond bool) rangeFunc {
	return func(w *window.Span, iv *interval) (float64, bool) {
		last := w.Len() - 1
		if last == 0 {
			return 0, false
		}
		result := w.V[last] - w.V[0]
		if counter && !w.Rising {
			for i, v := range w.V[1:] {
				if prev := w.V[i]; v < prev {
					result += prev
				}
			}
		}
		toStart := float64(w.Time(0)-iv.start) / 1000
		toEnd := float64(iv.end-w.Time(last)) / 1000
		sampled := float64(w.Time(last)-w.Time(0)) / 1000
		average := sampled / float64(last)
		threshold := average * 1.1
		if toStart >= threshold {
			toStart = average / 2
		}
		if counter {
			toZero := toStart
			if result > 0 && w.V[0] >= 0 {
				toZero = sampled * (w.V[0] / result)
			}
			if toZero < toStart {
				toStart = toZero
			}
		}
		if toEnd >= threshold {
			toEnd = average / 2
		}
		factor := 1.0
		if sampled != 0 {
			factor = (sampled + toStart + toEnd) / sampled
		}
		if perSecond {
			factor /= iv.seconds
		}
		result *= factor
		return result, true
	}
}

// instant is irate and idelta: the last two points.
func instant(perSecond bool) rangeFunc {
	return func(w *window.Span, _ *interval) (float64, bool) {
		last := w.Len() - 1
		if last == 0 {
			return 0, false
		}
		result := w.V[last]
		if !perSecond || !(w.V[last] < w.V[last-1]) {
			result = w.V[last] - w.V[last-1]
		}
		if perSecond {
			result /= float64(w.Time(last)-w.Time(last-1)) / 1000
		}
		return result, true
	}
}

func resets(w *window.Span, _ *interval) (float64, bool) {
	n := 0
	for i, v := range w.V[1:] {
		if v < w.V[i] {
			n++
		}
	}
	return float64(n), true
}

func changes(w *window.Span, _ *interval) (float64, bool) {
	n := 0
	for i, v := range w.V[1:] {
		if prev := w.V[i]; v != prev && !(math.IsNaN(v) && math.IsNaN(prev)) {
			n++
		}
	}
	return float64(n), true
}
