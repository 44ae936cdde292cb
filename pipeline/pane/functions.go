package pane

import "math"

// value is what a call gives of the samples of its range [from, to), unix ms, and whether it
// gives anything: the functions of Prometheus, over a pane in place of samples.
func (c *Call) value(p *Pane, from, to int64) (v float64, ok bool) {
	if p.N == 0 {
		return 0, false
	}
	switch c.Func {
	case "count_over_time":
		return p.N, true
	case "present_over_time":
		return 1, true
	case "sum_over_time":
		return p.Sum, true
	case "avg_over_time":
		return p.mean(), true
	case "min_over_time":
		return p.Min, true
	case "max_over_time":
		return p.Max, true
	case "first_over_time":
		return p.First, true
	case "last_over_time":
		return p.Last, true
	case "stdvar_over_time":
		return p.Spread / p.N, true
	case "stddev_over_time":
		return math.Sqrt(p.Spread / p.N), true
	case "changes":
		return p.Changes, true
	case "resets":
		return p.Resets, true
	}
	if p.N < 2 {
		return 0, false
	}
	switch c.Func {
	case "rate":
		return p.extrapolated(from, to, true) / (float64(to-from) / 1e3), true
	case "increase":
		return p.extrapolated(from, to, true), true
	case "delta":
		return p.extrapolated(from, to, false), true
	case "deriv":
		slope, _ := p.line(p.FirstT)
		return slope, true
	case "predict_linear":
		// The engine's range ends 1 ms before to, and its time is that of the evaluation.
		slope, now := p.line(to - 1 + c.Offset)
		return slope*c.Seconds + now, true
	}
	panic("BUG: " + c.Func + " is no function of panes")
}

// extrapolated is what rate, increase and delta make of the first and the last sample:
// extrapolatedRate of the engine. There a range [from, to) is (from − 1, to − 1].
func (p *Pane) extrapolated(from, to int64, counter bool) float64 {
	result := p.Last - p.First
	if counter {
		result += p.Fallen
	}
	toStart, toEnd := float64(p.FirstT-from+1)/1e3, float64(to-1-p.LastT)/1e3
	sampled := float64(p.LastT-p.FirstT) / 1e3
	average := sampled / (p.N - 1)
	threshold := average * 1.1
	if toStart >= threshold {
		toStart = average / 2
	}
	if counter {
		toZero := toStart
		if result > 0 && p.First >= 0 {
			toZero = sampled * (p.First / result)
		}
		toStart = min(toStart, toZero)
	}
	if toEnd >= threshold {
		toEnd = average / 2
	}
	return result * (sampled + toStart + toEnd) / sampled
}

// line is the straight line through the samples by least squares: its slope, per s, and its
// value at a time, unix ms.
func (p *Pane) line(at int64) (slope, value float64) {
	if p.Changes == 0 && !math.IsNaN(p.First) {
		if math.IsInf(p.First, 0) {
			return math.NaN(), math.NaN()
		}
		return 0, p.First
	}
	slope = p.SpanTV / p.SpreadT
	return slope, p.mean() + slope*(float64(at-p.FirstT)-p.MeanT)/1e3
}
