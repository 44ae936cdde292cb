package compile

import (
	"math"

	"sextant/pipeline/window"
)

func deriv(w *window.Span, iv *interval) (float64, bool) {
	if w.Len() < 2 {
		return 0, false
	}
	slope, _ := linearRegression(w, iv, w.Time(0))
	return slope, true
}

func predictLinear(w *window.Span, iv *interval) (float64, bool) {
	if w.Len() < 2 {
		return 0, false
	}
	duration := iv.arg(0)
	slope, intercept := linearRegression(w, iv, iv.at)
	return slope*duration + intercept, true
}

// abscissae are the times of a window, in seconds from some instant, and their sums.
type abscissae struct {
	x          []float64
	sumX, cX   float64
	sumX2, cX2 float64
}

// axes are the abscissae of an evaluation. The series of a page have the same times, so they
// are made once for many series.
type axes struct {
	known map[axis]int // index into made
	made  []abscissae
}

type axis struct {
	times window.Times
	from  int64 // the instant, unix ms
}

// reset forgets what the next evaluation must not find.
func (a *axes) reset() { clear(a.known) }

func (a *axes) of(w *window.Span, from int64) *abscissae {
	i, ok := a.known[axis{w.Times(), from}]
	if ok {
		return &a.made[i]
	}
	i = len(a.known)
	a.known[axis{w.Times(), from}] = i
	if i == len(a.made) {
		a.made = append(a.made, abscissae{})
	}
	m := &a.made[i]
	m.x = m.x[:0]
	for i := range w.V {
		m.x = append(m.x, float64(w.Time(i)-from)/1e3)
	}
	m.sumX, m.cX = addAll(m.x, 0, 0)
	m.sumX2, m.cX2 = addProducts(m.x, m.x)
	return m
}

// linearRegression fits a line by least squares and returns its slope and its value at a
// time.
func linearRegression(w *window.Span, iv *interval, interceptTime int64) (slope, intercept float64) {
	initY := w.V[0]
	if constant(w.V) {
		if math.IsInf(initY, 0) {
			return math.NaN(), math.NaN()
		}
		return 0, initY
	}
	a, n := iv.axes.of(w, interceptTime), float64(w.Len())
	sumY, cY := addAll(w.V, 0, 0)
	sumXY, cXY := addProducts(a.x, w.V)
	sumX, sumX2 := a.sumX+a.cX, a.sumX2+a.cX2
	sumY += cY
	sumXY += cXY

	covXY := sumXY - sumX*sumY/n
	varX := sumX2 - sumX*sumX/n

	slope = covXY / varX
	intercept = sumY/n - slope*sumX/n
	return slope, intercept
}

func constant(vs []float64) bool {
	for _, v := range vs[1:] {
		if v != vs[0] {
			return false
		}
	}
	return true
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
