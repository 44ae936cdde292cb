package inventory

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/pipeline/kafka"
)

// metrics count what the reporter did.
type metrics struct {
	reads   *prometheus.CounterVec // result: ok, failed
	sends   *prometheus.CounterVec // result: ok, too_large, retry
	changes prometheus.Counter
	bytes   prometheus.Gauge
	faults  prometheus.Gauge
	acked   prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "sextant", Subsystem: "inventory", Name: name, Help: help}
	}
	m := &metrics{
		reads:   prometheus.NewCounterVec(prometheus.CounterOpts(opts("reads_total", "Readings of this node, by result.")), []string{"result"}),
		sends:   prometheus.NewCounterVec(prometheus.CounterOpts(opts("sends_total", "Documents that were tried, by result.")), []string{"result"}),
		changes: prometheus.NewCounter(prometheus.CounterOpts(opts("changes_total", "Readings with another content than the one before."))),
		bytes:   prometheus.NewGauge(prometheus.GaugeOpts(opts("document_bytes", "Size of the last document that was sent."))),
		faults:  prometheus.NewGauge(prometheus.GaugeOpts(opts("faults", "Parts of this node that the last reading could not read."))),
		acked:   prometheus.NewGauge(prometheus.GaugeOpts(opts("acknowledged_timestamp_seconds", "When the last document that Kafka has was read."))),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.reads, m.sends, m.changes, m.bytes, m.faults, m.acked} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) read(d *Document, err error) {
	if err != nil {
		m.reads.WithLabelValues("failed").Inc()
		return
	}
	m.reads.WithLabelValues("ok").Inc()
	m.faults.Set(float64(len(d.Faults)))
}

func (m *metrics) sent(err error, bytes int, read time.Time) {
	switch {
	case err == nil:
		m.sends.WithLabelValues("ok").Inc()
		m.bytes.Set(float64(bytes))
		m.acked.Set(float64(read.UnixMilli()) / 1e3)
	case errors.Is(err, kafka.ErrTooLarge):
		m.sends.WithLabelValues("too_large").Inc()
	default:
		m.sends.WithLabelValues("retry").Inc()
	}
}
