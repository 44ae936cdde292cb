package broker

import (
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
)

type metrics struct {
	bytes   prometheus.Gauge
	trimmed prometheus.Counter
	refused prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		bytes: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "sextant", Name: "embedded_broker_bytes",
			Help: "Bytes that the embedded broker has on disk."}),
		trimmed: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sextant", Name: "embedded_broker_trimmed_records_total",
			Help: "Records deleted after they were consumed."}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sextant", Name: "embedded_broker_refused_requests_total",
			Help: "Produce requests refused at the disk cap."}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.bytes, m.trimmed, m.refused} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// logger passes kfake's warnings and errors on. What it says at lower levels is about its
// clients' every request.
type logger struct{ log *slog.Logger }

func (l logger) Logf(level kfake.LogLevel, format string, args ...any) {
	switch level {
	case kfake.LogLevelError:
		l.log.Error(fmt.Sprintf(format, args...))
	case kfake.LogLevelWarn:
		l.log.Warn(fmt.Sprintf(format, args...))
	}
}
