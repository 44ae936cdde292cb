// Package promapi serves the HTTP API of Prometheus over any storage.Queryable, with the
// upstream engine, so that Grafana's Prometheus data source, promtool and the Go client
// work unchanged. Answers, error types and status codes are those of Prometheus.
package promapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/metadata"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/httputil"

	"sextant/internal/access"
	"sextant/internal/httpserve"
)

// Source is what is asked. An error that means "not now" or "too slow" is told apart by
// Options.
type Source interface {
	storage.Queryable
	// Metadata is what is known of each metric, by name.
	Metadata(ctx context.Context) (map[string]metadata.Metadata, error)
}

// Options of the handler. The durations and counts are needed.
type Options struct {
	Lookback    time.Duration // how long a sample stands for its series, unless a query says otherwise
	Timeout     time.Duration // of one query
	MaxSamples  int           // that one query holds in memory
	Concurrency int           // queries that run at once; the others wait, within Timeout
	Access      *access.Gate  // who may ask; nil lets everybody
	Version     string        // of this program

	Away, TimedOut func(error) bool // whether an error of the source is of a store that is away, or gave up

	Now        func() time.Time      // time.Now
	Registerer prometheus.Registerer // nil registers nothing
	Log        *slog.Logger          // slog.Default
}

// maxBody bounds a form that is posted, in bytes.
const maxBody = 1 << 20

type server struct {
	Options
	source Source
	engine *promql.Engine
	parser parser.Parser
	gate   gate // queries and look-ups together
}

// New is the handler of the paths below /api/v1/.
func New(source Source, o Options) (*httpserve.Mux, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	p, slots := parser.NewParser(parser.Options{}), newGate(o.Concurrency)
	s := &server{Options: o, source: source, parser: p, gate: slots, engine: promql.NewEngine(promql.EngineOpts{
		Logger: o.Log, Reg: o.Registerer, MaxSamples: o.MaxSamples, Timeout: o.Timeout, LookbackDelta: o.Lookback,
		ActiveQueryTracker: slots, NoStepSubqueryIntervalFn: func(int64) int64 { return subqueryStep.Milliseconds() },
		EnableAtModifier: true, EnableNegativeOffset: true, EnablePerStepStats: true, Parser: p,
	})}
	return s.routes(), nil
}

// Refuse answers a request that no path takes, or that is not let through.
func Refuse(w http.ResponseWriter, _ *http.Request, status int, why string) {
	writeError(w, &apiError{status, denials[status], errors.New(why)})
}

// denials are the error types of requests that are refused.
var denials = map[int]string{http.StatusNotFound: "not_found", http.StatusMethodNotAllowed: "bad_data", http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden",
	http.StatusTooManyRequests: "unavailable", http.StatusServiceUnavailable: "unavailable"}

// subqueryStep is that of a subquery that names none: Prometheus' default evaluation
// interval.
const subqueryStep = time.Minute

func (s *server) routes() *httpserve.Mux {
	mux, guard := httpserve.NewMux(Refuse), s.Access.Whole(access.Read, Refuse)
	route := func(path string, f answerer, methods ...string) {
		mux.Route(path, guard(httputil.CompressionHandler{Handler: s.handle(f)}), methods...)
	}
	for path, f := range map[string]answerer{
		"/api/v1/query": s.query, "/api/v1/query_range": s.queryRange, "/api/v1/query_exemplars": s.exemplars, "/api/v1/format_query": s.formatQuery,
		"/api/v1/series": s.inTurn(s.series), "/api/v1/labels": s.inTurn(s.labelNames),
	} {
		route(path, f, http.MethodGet, http.MethodPost)
	}
	for path, f := range map[string]answerer{
		"/api/v1/label/{name}/values": s.inTurn(s.labelValues), "/api/v1/metadata": s.inTurn(s.metadata),
		"/api/v1/status/buildinfo": s.buildInfo, "/api/v1/rules": s.rules, "/api/v1/alerts": s.alerts,
	} {
		route(path, f, http.MethodGet)
	}
	return mux
}

// inTurn has a look-up wait for its turn among the queries, as they read the same store.
func (s *server) inTurn(f answerer) answerer {
	return func(r *http.Request) (answer, *apiError) {
		turn, err := s.gate.Insert(r.Context(), "")
		if err != nil {
			return answer{}, s.failure(err)
		}
		defer s.gate.Delete(turn)
		return f(r)
	}
}

// answer is what a request is answered with.
type answer struct {
	data  any
	notes []error // warnings of the API's own
	from  annotated
}

type answerer func(r *http.Request) (answer, *apiError)

func (s *server) handle(f answerer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if err := r.ParseForm(); err != nil {
			writeError(w, badData(fmt.Errorf("error parsing form values: %w", err)))
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
		defer cancel()
		a, failed := f(r.WithContext(ctx))
		if a.from.done != nil {
			defer a.from.done()
		}
		if failed != nil {
			writeError(w, failed)
			return
		}
		if err := writeAnswer(w, a, r.FormValue("query")); err != nil {
			s.Log.Debug("answer cut off", "remote", r.RemoteAddr, "err", err)
		}
	})
}

// gate lets a number of queries through at once. It implements promql.QueryTracker.
type gate chan struct{}

func newGate(n int) gate { return make(gate, n) }

func (g gate) GetMaxConcurrent() int { return cap(g) }
func (g gate) Delete(int)            { <-g }
func (g gate) Close() error          { return nil }

func (g gate) Insert(ctx context.Context, _ string) (int, error) {
	select {
	case g <- struct{}{}:
		return 0, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return 0, promql.ErrQueryTimeout("query queue")
		}
		return 0, promql.ErrQueryCanceled("query queue")
	}
}
