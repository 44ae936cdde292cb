package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/features"
)

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	values   [4]prometheus.Counter // by features.Status
	pushed   *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	values := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sextant_api_values_total", Help: "Feature values answered, by status.",
	}, []string{"status"})
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sextant_api_requests_total", Help: "Requests answered, by path and HTTP status.",
		}, []string{"path", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sextant_api_request_seconds", Help: "Time from a request's headers to the last byte of the answer.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 11),
		}, []string{"path"}),
	}
	m.pushed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sextant_api_pushed_rows_total", Help: "Rows of push views that were stored.",
	}, []string{"view"})
	for st := range m.values {
		m.values[st] = values.WithLabelValues(features.Status(st).String())
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.pushed, values} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) count(statuses *[4]int) {
	for st, n := range statuses {
		m.values[st].Add(float64(n))
	}
}

// watch counts and times the requests of one path.
func (m *metrics) watch(path string, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		sw := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next(sw, r)
		m.observe(path, time.Since(start), sw.status)
	})
}

// observe counts a request of a path; a call over gRPC has the status that HTTP would.
func (m *metrics) observe(path string, took time.Duration, status int) {
	m.seconds.WithLabelValues(path).Observe(took.Seconds())
	m.requests.WithLabelValues(path, strconv.Itoa(status)).Inc()
}

// statusWriter remembers the status that was sent.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController, and MaxBytesReader, the writer below.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
