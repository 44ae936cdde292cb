package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sextant/dashboards/console/web"
	"sextant/features"
	"sextant/features/api"
	"sextant/features/online"
	"sextant/features/promapi"
	"sextant/features/snapshot"
	"sextant/internal/access"
	"sextant/internal/clickhouse"
	"sextant/internal/httpserve"
	"sextant/internal/openapi"
)

func serveCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the latest features over HTTP, in Feast's shape",
		Long: `serve answers POST /get-online-features from memory. It reads new rows from ClickHouse every
half second and goes on serving, with honest ages, while ClickHouse is away. Under /api/v1/ it
answers PromQL over the stored samples and features, as Prometheus does: docs/promql.md. A
browser finds the console at its address: docs/console.md.`,
		Example: `  sextant serve --config sextant.yaml
  curl -s 127.0.0.1:6566/get-online-features -d '{
    "features": ["node_monitoring:cpu_utilization_1m"], "entities": {"node": ["n1"]}}'`,
		Args: cobra.NoArgs,
	}
	load := configFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		return serveMain(cmd.Context(), cfg)
	}
	return cmd
}

func serveMain(ctx context.Context, cfg *Config) error {
	log := cfg.logger()
	reg := newRegistry()
	files, err := cfg.definitions()
	if err != nil {
		return err
	}
	server, err := listenAPI(cfg, log)
	if err != nil {
		return err
	}
	log.Info("api listens", "listen", server.Addr())
	front, err := newFront()
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Run(ctx, front) })
	g.Go(func() error {
		db, err := clickhouse.Open(ctx, cfg.ClickHouse, log, reg)
		if err != nil && ctx.Err() != nil {
			return nil // asked to stop while it waited
		}
		if err != nil {
			return fmt.Errorf("clickhouse: %w", err)
		}
		defer db.Close()
		set, err := inForce(ctx, db, files, log)
		if err != nil {
			return err
		}
		a, err := newAPI(cfg, set, db, log, reg)
		if err != nil {
			return err
		}
		front.Open(a)
		log.Info("api serves", "views", len(set.Views), "services", len(set.Services))
		return a.run(ctx)
	})
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// front is the API before it knows what it serves. It is alive and says that it is not
// ready, so that a supervisor sees no reason to restart it while ClickHouse is away.
type front struct {
	behind atomic.Pointer[http.Handler]
}

func newFront() (*front, error) {
	page, err := web.Handler()
	if err != nil {
		return nil, err
	}
	f := &front{}
	f.Open(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/console") {
			page.ServeHTTP(w, r) // it shows what is missing
			return
		}
		notReady(w, r)
	}))
	return f, nil
}

const notReadyWhy = "clickhouse does not answer yet, or the feature definitions are not applied"

// notReady answers as each path would if its answer were an error.
func notReady(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/healthz", r.URL.Path == "/health":
		fmt.Fprintln(w, `{"status":"ok"}`)
	case r.URL.Path == "/readyz":
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, `{"status":"not ready","detail":%q,"views":[]}`+"\n", notReadyWhy)
	case strings.HasPrefix(r.URL.Path, "/api/v1/"):
		promapi.Refuse(w, r, http.StatusServiceUnavailable, notReadyWhy)
	default:
		api.Refuse(w, r, http.StatusServiceUnavailable, notReadyWhy)
	}
}

// Open answers with h from now on.
func (f *front) Open(h http.Handler) { f.behind.Store(&h) }

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*f.behind.Load()).ServeHTTP(w, r) }

func listenAPI(cfg *Config, log *slog.Logger) (*httpserve.Server, error) {
	server, err := httpserve.Listen(httpserve.Options{
		Addr: cfg.Serve.Listen, WebConfig: cfg.Serve.WebConfig, Authenticated: cfg.Serve.TokenFile != "", Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w", err)
	}
	return server, nil
}

// featureAPI is what answers, and what runs beside it.
type featureAPI struct {
	*httpserve.Mux
	store  *online.Store
	whole  *snapshot.Server
	served *api.ServedLog // nil when nothing is logged
}

// run refreshes and logs until ctx is done.
func (a *featureAPI) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.store.Run(ctx) })
	g.Go(func() error { return a.whole.Run(ctx) })
	if a.served != nil {
		g.Go(func() error { return a.served.Run(ctx) })
	}
	return g.Wait()
}

// newAPI is the store of the latest rows, and the API over it.
func newAPI(cfg *Config, set *features.Set, src *clickhouse.DB, log *slog.Logger, reg *prometheus.Registry) (*featureAPI, error) {
	store, err := online.New(src, set.Views, online.Options{Refresh: cfg.Serve.RefreshEvery.D(), Settle: cfg.Serve.Snapshot.Settle.D(), Registerer: reg, Log: log})
	if err != nil {
		return nil, err
	}
	a := &featureAPI{store: store}
	if cfg.Serve.LogRate > 0 {
		if a.served, err = api.NewServedLog(src, api.ServedOptions{Rate: cfg.Serve.LogRate, Registerer: reg, Log: log}); err != nil {
			return nil, err
		}
	}
	gate, err := access.NewGate(access.Options{TokenFile: cfg.Serve.TokenFile, Limits: cfg.Serve.Limits, Registerer: reg, Log: log})
	if err != nil {
		return nil, fmt.Errorf("serve.token_file: %w", err)
	}
	engines, err := enginesOf(set.Views)
	if err != nil {
		return nil, err
	}
	handler, err := api.New(store, set, api.Options{Access: gate, Push: src, Served: a.served, Engines: engines, Lookback: lookback,
		Version: buildVersion(), Registerer: reg, Gatherer: reg, Log: log})
	if err != nil {
		return nil, err
	}
	if handler, a.whole, err = withSnapshot(handler, gate, cfg, set, store, src, log, reg); err != nil {
		return nil, err
	}
	if handler, err = withTraining(handler, gate, cfg, set, src, log); err != nil {
		return nil, err
	}
	if handler, err = withPrometheus(withQuality(handler, gate, set, src, log), gate, cfg, set.Views, src, log, reg); err != nil {
		return nil, err
	}
	if a.Mux, err = withConsole(handler, gate, set.Views, store, src, log); err != nil {
		return nil, err
	}
	return a, openapi.Serve(a.Mux, gate.Guard(access.Read, api.Refuse))
}

// runAPI serves until ctx is done.
func runAPI(ctx context.Context, cfg *Config, server *httpserve.Server, set *features.Set, src *clickhouse.DB, log *slog.Logger, reg *prometheus.Registry) error {
	a, err := newAPI(cfg, set, src, log, reg)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.run(ctx) })
	g.Go(func() error { return server.Run(ctx, a) })
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
