package compile

import (
	"math"

	"github.com/prometheus/prometheus/util/kahansum"

	"sextant/pipeline/window"
)

func sumOverTime(w *window.Span, _ *interval) (float64, bool) {
	sum, c := addAll(w.V, 0, 0)
	if math.IsInf(sum, 0) {
		return sum, true
	}
	return sum + c, true
}

// avgOverTime divides the sum, and goes on with an incremental mean where the sum
// overflows.
func avgOverTime(w *window.Span, _ *interval) (float64, bool) {
	if sum, c := addAll(w.V[1:], w.V[0], 0); !math.IsInf(sum, 0) && !math.IsNaN(sum) {
		count := float64(w.Len())
		return sum/count + c/count, true
	}
	return overflowingAverage(w.V), true
}

func overflowingAverage(vs []float64) float64 {
	var (
		sum, count   = vs[0], 1.
		mean, kahanC float64
		incremental  bool
	)
	for i, v := range vs[1:] {
		count = float64(i + 2)
		if !incremental {
			newSum, newC := kahansum.Inc(v, sum, kahanC)
			if !math.IsInf(newSum, 0) {
				sum, kahanC = newSum, newC
				continue
			}
			incremental = true
			mean = sum / (count - 1)
			kahanC /= (count - 1)
		}
		q := (count - 1) / count
		mean, kahanC = kahansum.Inc(v/count, q*mean, q*kahanC)
	}
	if incremental {
		return mean + kahanC
	}
	return sum/count + kahanC/count
}

func maxOverTime(w *window.Span, _ *interval) (float64, bool) {
	m := w.V[0]
	for _, v := range w.V {
		if v > m || math.IsNaN(m) {
			m = v
		}
	}
	return m, true
}

func minOverTime(w *window.Span, _ *interval) (float64, bool) {
	m := w.V[0]
	for _, v := range w.V {
		if v < m || math.IsNaN(m) {
			m = v
		}
	}
	return m, true
}

func countOverTime(w *window.Span, _ *interval) (float64, bool)  { return float64(w.Len()), true }
func presentOverTime(*window.Span, *interval) (float64, bool)    { return 1, true }
func firstOverTime(w *window.Span, _ *interval) (float64, bool)  { return w.V[0], true }
func lastOverTime(w *window.Span, _ *interval) (float64, bool)   { return w.V[w.Len()-1], true }
func stdvarOverTime(w *window.Span, _ *interval) (float64, bool) { return variance(w), true }
func stddevOverTime(w *window.Span, _ *interval) (float64, bool) { return math.Sqrt(variance(w)), true }
func quantileOverTime(w *window.Span, iv *interval) (float64, bool) {
	iv.sorted = append(iv.sorted[:0], w.V...)
	return quantile(iv.arg(0), iv.sorted), true
}

func variance(w *window.Span) float64 {
	var count float64
	var mean, cMean float64
	var aux, cAux float64
	for _, v := range w.V {
		count++
		delta := v - (mean + cMean)
		mean, cMean = kahansum.Inc(delta/count, mean, cMean)
		aux, cAux = kahansum.Inc(delta*(v-(mean+cMean)), aux, cAux)
	}
	return (aux + cAux) / count
}
