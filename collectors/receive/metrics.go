package receive

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count what senders sent and what became of it.
type metrics struct {
	requests *prometheus.CounterVec // by protocol, code
	samples  *prometheus.CounterVec // by protocol
	refused  *prometheus.CounterVec // by protocol, reason
	limits   *prometheus.CounterVec // by limit
	bytes    *prometheus.CounterVec // by protocol
	plans    *prometheus.CounterVec // by known
	entries  prometheus.Counter
	inFlight prometheus.Gauge
	seconds  prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	opts := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "sextant_agent", Subsystem: "receive", Name: name, Help: help}
	}
	m := &metrics{
		requests: prometheus.NewCounterVec(opts("requests_total", "Remote-write requests by protocol version and status code."), []string{"protocol", "code"}),
		samples:  prometheus.NewCounterVec(opts("samples_total", "Samples of remote-write requests that are durable in the spool."), []string{"protocol"}),
		refused: prometheus.NewCounterVec(opts("refused_total", "Samples, native histograms and exemplars of remote-write requests that were refused, by reason."),
			[]string{"protocol", "reason"}),
		limits: prometheus.NewCounterVec(opts("limits_total", "Requests that passed a limit: body, request, series, samples, concurrent."), []string{"limit"}),
		bytes:  prometheus.NewCounterVec(opts("bytes_total", "Bytes of remote-write requests, compressed."), []string{"protocol"}),
		plans: prometheus.NewCounterVec(opts("layouts_total", "Requests by whether one with the same series in the same order was remembered."),
			[]string{"known"}),
		entries:  prometheus.NewCounter(opts("records_total", "Records that remote-write requests became.")),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "sextant_agent", Subsystem: "receive", Name: "requests_in_flight", Help: "Remote-write requests that are being worked on."}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "sextant_agent", Subsystem: "receive", Name: "request_seconds",
			Help: "Time from the head of a remote-write request until it was durable.", Buckets: []float64{.001, .005, .02, .1, .5, 1, 2, 5, 10}}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.samples, m.refused, m.limits, m.bytes, m.plans, m.entries, m.inFlight, m.seconds} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// answered counts a request.
func (m *metrics) answered(a answer, began time.Time) {
	protocol := a.protocol.String()
	m.requests.WithLabelValues(protocol, strconv.Itoa(a.code)).Inc()
	m.seconds.Observe(time.Since(began).Seconds())
	if a.limit != "" {
		m.limits.WithLabelValues(a.limit).Inc()
	}
	m.samples.WithLabelValues(protocol).Add(float64(a.done.written))
	m.entries.Add(float64(a.done.entries))
	for r, n := range a.done.refused {
		if n > 0 {
			m.refused.WithLabelValues(protocol, reason(r).String()).Add(float64(n))
		}
	}
}

func (m *metrics) layout(known bool) { m.plans.WithLabelValues(strconv.FormatBool(known)).Inc() }
