// Package ingest takes task events over HTTP and gRPC and hands them to Kafka, for senders that
// speak no Kafka. What it acknowledged is on all in-sync replicas.
package ingest

import (
	_ "embed"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sextant/internal/access"
	"sextant/pipeline/kafka"
)

// Limits of one request.
const (
	MaxBody   = 8 << 20 // bytes
	MaxEvents = 10_000
)

// OpenAPI is the description of the interface, as GET /openapi.json answers it.
//
//go:embed openapi.json
var OpenAPI []byte

// Options of the handler.
type Options struct {
	Now        func() time.Time      // time.Now
	Access     *access.Gate          // who may send; nil lets everybody
	Registerer prometheus.Registerer // nil registers nothing
	Gatherer   prometheus.Gatherer   // what /metrics shows; nil leaves /metrics out
	Log        *slog.Logger          // nil logs nothing
}

type server struct {
	producer *kafka.Producer
	now      func() time.Time
	log      *slog.Logger
	requests *prometheus.CounterVec
	events   *prometheus.CounterVec
}

// New is the handler that sends with producer. Everything but /healthz, /readyz, /openapi.json
// and the health service of gRPC asks Access.
func New(producer *kafka.Producer, opts Options) (http.Handler, error) {
	s := &server{producer: producer, now: opts.Now, log: opts.Log,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sextant_ingest_requests_total", Help: "Requests with task events, by HTTP status, or code of gRPC."}, []string{"code"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sextant_ingest_events_total", Help: "Task events received, by result: accepted, refused, or unsent because Kafka did not take them."},
			[]string{"result"})}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	deny := func(w http.ResponseWriter, _ *http.Request, status int, why string) { refuse(w, status, why) }
	if opts.Registerer != nil {
		for _, c := range []prometheus.Collector{s.requests, s.events} {
			if err := opts.Registerer.Register(c); err != nil {
				return nil, fmt.Errorf("ingest metrics: %w", err)
			}
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/tasks/events", opts.Access.Whole(access.Push, deny)(http.HandlerFunc(s.taskEvents)))
	s.register(mux, opts.Access.Whole(access.Push, access.GRPC(deny)))
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(OpenAPI) // a client that went away needs no answer
	})
	ok := func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	}
	mux.HandleFunc("GET /healthz", ok)
	mux.HandleFunc("GET /readyz", ok) // what it cannot store it refuses, so it is ready at once
	if opts.Gatherer != nil {
		mux.Handle("GET /metrics", opts.Access.Whole(access.Read, deny)(promhttp.HandlerFor(opts.Gatherer, promhttp.HandlerOpts{})))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "no such path") })
	return mux, nil
}

// taskEvents is POST /v1/tasks/events.
func (s *server) taskEvents(w http.ResponseWriter, r *http.Request) {
	status := http.StatusMethodNotAllowed
	if r.Method == http.MethodPost {
		status = s.accept(w, r)
	} else {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, status, "method "+r.Method+": want POST")
	}
	s.requests.WithLabelValues(strconv.Itoa(status)).Inc()
}
