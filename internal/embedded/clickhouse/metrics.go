package clickhouse

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/internal/chdb"
)

// metrics count what the front answered. Without a registerer they are counted all the same.
type metrics struct {
	requests *prometheus.CounterVec // by exception code, "0" for none
	seconds  prometheus.Counter
	rows     *prometheus.CounterVec // by direction
}

func newMetrics(reg prometheus.Registerer, s *slots) (*metrics, error) {
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "sextant", Subsystem: "embedded_clickhouse", Name: name, Help: help}
	}
	m := &metrics{
		requests: prometheus.NewCounterVec(counter("requests_total", "Requests, by ClickHouse exception code (0: none)."), []string{"code"}),
		seconds:  prometheus.NewCounter(counter("request_seconds_total", "Seconds spent on requests, waiting included.")),
		rows:     prometheus.NewCounterVec(counter("rows_total", "Rows read from storage and written to it."), []string{"direction"}),
	}
	if reg == nil {
		return m, nil
	}
	running := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "sextant", Subsystem: "embedded_clickhouse", Name: "running",
		Help: "Statements at work."}, func() float64 { return float64(len(s.free)) })
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "sextant", Subsystem: "embedded_clickhouse", Name: "waiting",
		Help: "Requests that wait for a statement to end."}, func() float64 { return float64(s.waiting.Load()) })
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.rows, running, waiting} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) observe(err error, s chdb.Stats, took time.Duration) {
	code := 0
	if err != nil {
		code = exception(err).Code
	}
	m.requests.WithLabelValues(strconv.Itoa(code)).Inc()
	m.seconds.Add(took.Seconds())
	m.rows.WithLabelValues("read").Add(float64(s.ReadRows))
	m.rows.WithLabelValues("written").Add(float64(s.WrittenRows))
}
