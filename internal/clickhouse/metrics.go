package clickhouse

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of all sinks of a DB.
type metrics struct {
	rows       *prometheus.CounterVec
	bytes      *prometheus.CounterVec
	inserts    *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	retries    *prometheus.CounterVec
	refused    prometheus.Counter
	duplicates prometheus.Counter
	pending    prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "sextant", Subsystem: "clickhouse", Name: name, Help: help}, []string{"table"})
	}
	m := &metrics{
		rows:    counter("rows_total", "Rows that were stored, copies included."),
		bytes:   counter("bytes_total", "Bytes of rows that were stored, before compression."),
		inserts: counter("inserts_total", "Inserts that the server acknowledged."),
		retries: counter("retries_total", "Inserts that failed and were sent again."),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "sextant", Subsystem: "clickhouse", Name: "refused_batches_total",
			Help: "Batches given back because the server refuses their rows for good."}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "sextant", Subsystem: "clickhouse", Name: "insert_seconds",
			Help:    "Time from the first byte of an insert to its acknowledgement.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 14)}, []string{"table"}),
		duplicates: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "sextant", Subsystem: "clickhouse", Name: "duplicate_samples_total",
			Help: "Samples left out of an insert because it held the same series and time again."}),
		pending: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "sextant", Subsystem: "clickhouse", Name: "pending_rows",
			Help: "Rows that writers wait for."}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.rows, m.bytes, m.inserts, m.seconds, m.retries, m.refused, m.duplicates, m.pending} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}
