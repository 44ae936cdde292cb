// Package api serves features over HTTP and gRPC. POST /get-online-features and
// feast.serving.ServingService have the shape of Feast's feature server, so a client of it
// works unchanged.
package api

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sextant/features"
	"sextant/features/lineage"
	"sextant/features/online"
	"sextant/internal/access"
	"sextant/internal/httpserve"
	catalogue "sextant/schema/catalog"
)

// Limits of one request. A zero field has the default.
type Limits struct {
	Body     int64 // bytes; 4 MiB
	Entities int   // 100,000
	Features int   // 1,000
	Values   int   // entities times features; 2,000,000
}

func (l Limits) withDefaults() Limits {
	set(&l.Body, 4<<20)
	set(&l.Entities, 100_000)
	set(&l.Features, 1_000)
	set(&l.Values, 2_000_000)
	return l
}

func set[T int | int64](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Options of the handler. The zero value serves without metrics and without a token.
type Options struct {
	Now        func() time.Time // time.Now
	Limits     Limits
	Access     *access.Gate          // who may ask for what; nil lets everybody
	Registerer prometheus.Registerer // nil registers nothing
	Gatherer   prometheus.Gatherer   // what /metrics shows; nil leaves /metrics out
	Push       PushSink              // takes rows of push views; nil takes none
	Served     *ServedLog            // keeps a sample of the answers; nil keeps none
	Engines    map[string]Engine     // what computes each feature, by view@v1:name
	Lookback   time.Duration         // how long a sample stands for its series; a minute
	Version    string                // of this program, for GetFeastServingInfo
	Log        *slog.Logger          // slog.Default
}

type server struct {
	store   *online.Store
	access  *access.Gate
	catalog *catalog
	now     func() time.Time
	limits  Limits
	metrics *metrics
	log     *slog.Logger
	served  *ServedLog
	sink    PushSink
	lineage *lineage.Graph
	engines map[string]Engine
	version string
	scratch sync.Pool // of *scratch
}

// New is the handler over a store that holds the views of set. Everything but the paths of
// health stands behind the gate.
func New(store *online.Store, set *features.Set, opts Options) (*httpserve.Mux, error) {
	s := &server{store: store, access: opts.Access, catalog: newCatalog(set), now: opts.Now, limits: opts.Limits.withDefaults(), version: opts.Version,
		served: opts.Served, sink: opts.Push, engines: opts.Engines, log: opts.Log}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	s.lineage = lineage.New(set, catalogue.Default(), cmp.Or(opts.Lookback, time.Minute))
	s.scratch.New = func() any { return new(scratch) }
	for _, v := range set.Views {
		if store.Snapshot(v) == nil {
			return nil, fmt.Errorf("view %s is not in the store", v.Ref())
		}
	}
	var err error
	if s.metrics, err = newMetrics(opts.Registerer); err != nil {
		return nil, fmt.Errorf("register API metrics: %w", err)
	}
	return s.routes(opts), nil
}

// Refuse answers a request that is not let through, or that no path takes.
func Refuse(w http.ResponseWriter, _ *http.Request, status int, why string) {
	writeError(w, &requestError{status, why})
}

// routes puts every path behind what it needs.
func (s *server) routes(opts Options) *httpserve.Mux {
	mux := httpserve.NewMux(Refuse)
	guard, push, whole := opts.Access.Guard(access.Read, Refuse), opts.Access.Guard(access.Push, Refuse), opts.Access.Whole(access.Read, Refuse)
	counted := func(guard func(http.Handler) http.Handler, method, path string, h http.HandlerFunc) {
		mux.Route(path, guard(s.metrics.watch(path, h)), method)
	}
	for path, h := range map[string]http.HandlerFunc{"/health": s.healthz, "/healthz": s.healthz, "/readyz": s.readyz} { // the first is Feast's name
		mux.Route(path, h, http.MethodGet)
	}
	counted(guard, http.MethodPost, "/get-online-features", s.getOnlineFeatures)
	if s.sink != nil {
		counted(push, http.MethodPost, "/push", s.push)
		counted(push, http.MethodPost, "/write-to-online-store", s.push)
	}
	mux.Mount(servingService, opts.Access.Guard(access.Read, access.GRPC(Refuse))(s.grpc()))
	for path, h := range map[string]http.HandlerFunc{
		"/v1/features": s.listFeatures, "/v1/views": s.listViews, "/v1/views/{view}": s.describeView, "/v1/entities": s.listEntities,
		"/v1/services": s.listServices, "/v1/services/{service}": s.describeService, "/v1/lineage": s.describeLineage,
	} {
		counted(guard, http.MethodGet, path, h)
	}
	if opts.Gatherer != nil {
		mux.Route("/metrics", whole(promhttp.HandlerFor(opts.Gatherer, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})), http.MethodGet)
	}
	return mux
}

func (s *server) getOnlineFeatures(w http.ResponseWriter, r *http.Request) {
	sc := s.scratch.Get().(*scratch)
	defer s.putBack(sc)
	if err := s.answer(w, r, sc); err != nil {
		var bad *requestError
		if errors.As(err, &bad) {
			writeError(w, bad)
			return
		}
		// The status is sent already. The client went away, as a rule.
		s.log.Debug("answer cut off", "remote", r.RemoteAddr, "err", err)
	}
}

// answer is one request from its body to its last byte. Its errors are a requestError as
// long as nothing is written.
func (s *server) answer(w http.ResponseWriter, r *http.Request, sc *scratch) error {
	if err := sc.readBody(w, r, s.limits.Body); err != nil {
		return err
	}
	req, err := decodeRequest(sc.body, s.limits)
	if err != nil {
		return err
	}
	p, err := s.prepare(r.Context(), origin{r.RemoteAddr, r.URL.Path}, req, sc)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	e := encoder{w: w, buf: sc.buf[:0], ofColumn: sc.ofColumn, before: sc.before}
	e.response(p, sc.groups)
	sc.buf, sc.ofColumn, sc.before = e.buf, e.ofColumn, e.before
	s.metrics.count(&e.statuses)
	return e.err
}
