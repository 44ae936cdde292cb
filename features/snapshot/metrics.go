package snapshot

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	requests *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	build    *prometheus.HistogramVec
	dropped  prometheus.Counter
}

func newMetrics(s *Server, reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sextant_snapshot_requests_total", Help: "Requests for the whole cluster that were answered, by path, format and HTTP status.",
		}, []string{"path", "format", "code"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sextant_snapshot_bytes_total", Help: "Bytes of answers for the whole cluster, as they were sent.",
		}, []string{"path", "format"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sextant_snapshot_request_seconds", Help: "Time from a request's headers to the last byte of the answer.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 11),
		}, []string{"path"}),
		build: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sextant_snapshot_build_seconds", Help: "Time to build what a version is asked for: the matrix, the graph, an encoding, the past.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2.5, 11),
		}, []string{"what"}),
	}
	m.dropped = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "sextant_snapshot_watch_dropped_total", Help: "Streams of changes that were ended because their reader was too slow.",
	})
	if reg == nil {
		return m, nil
	}
	watchers := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sextant_snapshot_watchers", Help: "Streams of changes that are open.",
	}, func() float64 { return float64(s.watching.Load()) })
	version := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sextant_snapshot_version_seconds", Help: "Version that is served, as unix time; 0 before the first.",
	}, func() float64 {
		if e := s.current.Load(); e != nil {
			return float64(e.Tick) / 1000
		}
		return 0
	})
	for _, c := range []prometheus.Collector{m.requests, m.bytes, m.seconds, m.build, m.dropped, version, watchers} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// took times a build: defer m.took("matrix")().
func (m *metrics) took(what string) func() {
	start := time.Now()
	return func() { m.build.WithLabelValues(what).Observe(time.Since(start).Seconds()) }
}

// watch counts and times the requests of one path.
func (m *metrics) watch(path string, next http.HandlerFunc) http.Handler {
	counted := m.count(path, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		counted.ServeHTTP(w, r)
		m.seconds.WithLabelValues(path).Observe(time.Since(start).Seconds())
	})
}

// count counts the requests of one path. The time of a stream says nothing.
func (m *metrics) count(path string, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cw := &countingWriter{ResponseWriter: w, status: http.StatusOK}
		next(cw, r)
		format := r.URL.Query().Get("format")
		if _, ok := media[format]; !ok && format != formatEvents {
			format = "default"
		}
		m.requests.WithLabelValues(path, format, strconv.Itoa(cw.status)).Inc()
		m.bytes.WithLabelValues(path, format).Add(float64(cw.bytes))
	})
}

// countingWriter remembers the status that was sent, and counts bytes.
type countingWriter struct {
	http.ResponseWriter
	status int
	bytes  int
}

func (w *countingWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.bytes += n
	return n, err
}

// Unwrap gives http.ResponseController the writer below.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
