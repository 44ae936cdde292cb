package ship

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/collectors/spool"
)

type metrics struct {
	sent, retried, backlog, oversize, readFailed prometheus.Counter
	up                                           prometheus.Gauge
	sendSeconds, lag                             prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	var all []prometheus.Collector
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sextant", Subsystem: "ship", Name: name, Help: help})
		all = append(all, c)
		return c
	}
	seconds := func(name, help string, buckets []float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "sextant", Subsystem: "ship", Name: name, Help: help, Buckets: buckets})
		all = append(all, h)
		return h
	}
	m := &metrics{
		sent:       counter("sent_total", "Records that the broker has acknowledged."),
		retried:    counter("retried_total", "Records that were not acknowledged and are sent again."),
		backlog:    counter("backlog_records_total", "Records that were no longer fresh when they were sent, repeated ones included."),
		oversize:   counter("oversize_total", "Records that are too large for the broker and were side-lined."),
		readFailed: counter("spool_read_failed_total", "Failed reads of the spool."),
		up: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "sextant", Subsystem: "ship", Name: "broker_up",
			Help: "Whether the last Send stored anything."}),
		sendSeconds: seconds("send_seconds", "Time of one Send.", prometheus.ExponentialBuckets(0.001, 4, 8)),
		lag: seconds("scrape_to_ack_seconds", "Time from the start of a scrape to the broker's acknowledgement.",
			[]float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120, 600, 3600, 4 * 3600, 24 * 3600}),
	}
	all = append(all, m.up)
	for i, c := range all {
		if err := reg.Register(c); err != nil {
			for _, done := range all[:i] {
				reg.Unregister(done)
			}
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) observeLag(now time.Time, items []spool.Item) {
	for _, it := range items {
		m.lag.Observe(now.Sub(time.UnixMilli(it.Scrape)).Seconds())
	}
}
