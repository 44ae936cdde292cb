package rollup

import "github.com/prometheus/client_golang/prometheus"

// Metrics of Run.
type Metrics struct {
	hours, late, failures prometheus.Counter
	seconds               prometheus.Histogram
}

// NewMetrics registers them on reg, which may be nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sextant", Subsystem: "rollup", Name: name, Help: help})
	}
	m := &Metrics{
		hours:    counter("hours_total", "Hours that were computed for reports, the open one each time."),
		late:     counter("late_hours_total", "Of them, hours that were over: computed for the first time, or again because of rows that came late."),
		failures: counter("failures_total", "Rounds that failed."),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "sextant", Subsystem: "rollup", Name: "hour_seconds",
			Help: "Time to compute one hour.", Buckets: prometheus.ExponentialBuckets(0.05, 2, 12)}),
	}
	if reg != nil {
		reg.MustRegister(m.hours, m.late, m.failures, m.seconds)
	}
	return m
}
