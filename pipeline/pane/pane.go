// Package pane computes ranges that are longer than the stream's memory. A pane is what range
// functions need to know of a stretch of a series; panes side by side make one of a longer
// stretch, so a day is a few dozen panes and not thousands of samples. It is pure: whoever
// calls it reads panes and samples from a store.
package pane

import "math"

// Pane is the samples of one series in a stretch of time, staleness markers left out.
// It has one sample or more; without, N is 0 and the rest means nothing.
type Pane struct {
	N               float64 // samples
	FirstT, LastT   int64   // unix ms
	First, Last     float64
	Min, Max        float64 // of those that are numbers; NaN without any
	Sum             float64
	Spread          float64 // sum of (value − mean)²
	MeanT           float64 // of the times, in ms after FirstT
	SpreadT, SpanTV float64 // sums of (time − mean)² and of (time − mean)·(value − mean), s² and s
	Changes, Resets float64 // neighbours that differ; that fall
	Fallen          float64 // sum of the values before each fall
}

func (p *Pane) mean() float64 { return p.Sum / p.N }

// Append puts the samples of q behind those of p. They are later. Means are moved apart by
// their difference, not by their size (Chan, Golub, LeVeque 1979), so that a small spread
// around a large mean keeps its digits.
func (p *Pane) Append(q *Pane) {
	if q.N == 0 {
		return
	}
	if p.N == 0 {
		*p = *q
		return
	}
	n := p.N + q.N
	share := p.N * q.N / n
	dv := q.mean() - p.mean()
	dt := float64(q.FirstT-p.FirstT) + q.MeanT - p.MeanT // ms
	p.Spread += q.Spread + share*dv*dv
	p.SpreadT += q.SpreadT + share*(dt/1e3)*(dt/1e3)
	p.SpanTV += q.SpanTV + share*(dt/1e3)*dv
	p.MeanT += dt * q.N / n
	if q.Min < p.Min || math.IsNaN(p.Min) {
		p.Min = q.Min
	}
	if q.Max > p.Max || math.IsNaN(p.Max) {
		p.Max = q.Max
	}
	p.Changes += q.Changes
	if q.First != p.Last && !(math.IsNaN(q.First) && math.IsNaN(p.Last)) {
		p.Changes++
	}
	p.Resets += q.Resets
	p.Fallen += q.Fallen
	if q.First < p.Last {
		p.Resets++
		p.Fallen += p.Last
	}
	p.Sum += q.Sum
	p.N, p.Last, p.LastT = n, q.Last, q.LastT
}
