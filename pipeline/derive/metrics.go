package derive

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count what the jobs did. A job is a view, as name@version, or sla_events.
type Metrics struct {
	rows     *prometheus.CounterVec
	failures *prometheus.CounterVec
	skipped  *prometheus.CounterVec
	values   *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	lag      *prometheus.GaugeVec
	waits    prometheus.Counter
}

// NewMetrics registers the metrics on reg, which may be nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sextant", Subsystem: "derive", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		rows:     counter("rows_total", "Rows that the store evaluated and keeps, by job.", "job"),
		failures: counter("failures_total", "Ticks of a job that failed, each attempt.", "job"),
		skipped:  counter("skipped_ticks_total", "Ticks that are given up after a long stop; a backfill makes up for them.", "job"),
		values:   counter("faults_total", "Values and entities of views that the store computes that are not stored, by reason.", "view", "feature", "reason"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "sextant", Subsystem: "derive", Name: "duration_seconds",
			Help: "Time to evaluate and store a tick of a job.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 12)}, []string{"job"}),
		lag: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "sextant", Subsystem: "derive", Name: "lag_seconds",
			Help: "How long after its tick the newest rows of a job were stored."}, []string{"job"}),
		waits: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sextant", Subsystem: "derive", Name: "waits_total",
			Help: "Rounds that were put off because task events were not stored in time."}),
	}
	if reg != nil {
		reg.MustRegister(m.rows, m.failures, m.skipped, m.values, m.seconds, m.lag, m.waits)
	}
	return m
}

// tick counts what a job gave, once its rows are durable: an attempt that failed is made again
// and counts nothing.
func (m *Metrics) tick(job string, got outcome, took time.Duration) {
	m.seconds.WithLabelValues(job).Observe(took.Seconds())
	m.rows.WithLabelValues(job).Add(float64(got.rows))
	if got.view == nil {
		return
	}
	for i, n := range got.counts.OutOfRange {
		if n > 0 {
			m.values.WithLabelValues(got.view.Ref(), got.view.Features[i].Name, "out_of_range").Add(float64(n))
		}
	}
	m.values.WithLabelValues(got.view.Ref(), "", "duplicate").Add(float64(got.counts.Duplicates))
	m.values.WithLabelValues(got.view.Ref(), "", "empty_key").Add(float64(got.counts.Nameless))
}
