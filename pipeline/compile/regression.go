package compile

import (
	"math"

	"github.com/prometheus/prometheus/util/kahansum"

	"sextant/pipeline/window"
)

func deriv(w *window.Span, _ *interval) (float64, bool) {
	if w.Len() < 2 {
		return 0, false
	}
	slope, _ := linearRegression(w, w.Time(0))
	return slope, true
}

func predictLinear(w *window.Span, iv *interval) (float64, bool) {
	if w.Len() < 2 {
		return 0, false
	}
	duration := iv.arg(0)
	slope, intercept := linearRegression(w, iv.at)
	return slope*duration + intercept, true
}

// linearRegression fits a line by least squares and returns its slope and its value at a
// time.
func linearRegression(w *window.Span, interceptTime int64) (slope, intercept float64) {
	var (
		n          float64
		sumX, cX   float64
		sumY, cY   float64
		sumXY, cXY float64
		sumX2, cX2 float64
	)
	initY := w.V[0]
	constY := true
	for i, v := range w.V {
		if constY && i > 0 && v != initY {
			constY = false
		}
		n += 1.0
		x := float64(w.Time(i)-interceptTime) / 1e3
		sumX, cX = kahansum.Inc(x, sumX, cX)
		sumY, cY = kahansum.Inc(v, sumY, cY)
		sumXY, cXY = kahansum.Inc(x*v, sumXY, cXY)
		sumX2, cX2 = kahansum.Inc(x*x, sumX2, cX2)
	}
	if constY {
		if math.IsInf(initY, 0) {
			return math.NaN(), math.NaN()
		}
		return 0, initY
	}
	sumX += cX
	sumY += cY
	sumXY += cXY
	sumX2 += cX2

	covXY := sumXY - sumX*sumY/n
	varX := sumX2 - sumX*sumX/n

	slope = covXY / varX
	intercept = sumY/n - slope*sumX/n
	return slope, intercept
}

// smoothed is double_exponential_smoothing with the given factors.
func smoothed(w *window.Span, iv *interval) (float64, bool) {
	sf, tf := iv.arg(0), iv.arg(1)
	if sf <= 0 || sf >= 1 || tf <= 0 || tf >= 1 {
		iv.err = errParameter
		return 0, false
	}
	if w.Len() < 2 {
		return 0, false
	}
	var s0, s1, b float64
	s1 = w.V[0]
	b = w.V[1] - w.V[0]
	var x, y float64
	for i := 1; i < w.Len(); i++ {
		x = sf * w.V[i]
		b = trend(i-1, tf, s0, s1, b)
		y = (1 - sf) * (s1 + b)
		s0, s1 = s1, x+y
	}
	return s1, true
}

func trend(i int, tf, s0, s1, b float64) float64 {
	if i == 0 {
		return b
	}
	x := tf * (s1 - s0)
	y := (1 - tf) * b
	return x + y
}
