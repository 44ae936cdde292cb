package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sextant/features"
	"sextant/features/api"
	"sextant/features/online"
	"sextant/internal/clickhouse"
	"sextant/internal/httpserve"
)

func serveCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the latest features over HTTP, in Feast's shape",
		Long: `serve answers POST /get-online-features from memory. It reads new rows from ClickHouse every
half second and goes on serving, with honest ages, while ClickHouse is away.`,
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
	set, err := cfg.definitions()
	if err != nil {
		return err
	}
	server, err := listenAPI(cfg, log)
	if err != nil {
		return err
	}
	log.Info("api serves", "listen", server.Addr(), "views", len(set.Views), "services", len(set.Services))
	g, ctx := errgroup.WithContext(ctx)
	src := &opening{done: make(chan struct{})}
	g.Go(func() error {
		db, err := clickhouse.Open(ctx, cfg.ClickHouse, log, reg)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("clickhouse: %w", err)
		}
		src.db = db
		close(src.done)
		return nil
	})
	g.Go(func() error { return runAPI(ctx, cfg, server, set, src, log, reg) })
	err = g.Wait()
	if src.db != nil {
		err = errors.Join(err, src.db.Close())
	}
	return err
}

// opening is a store that may not answer yet. Until it does, the API is alive, says that
// it is not ready, and a supervisor sees no reason to restart it.
type opening struct {
	db   *clickhouse.DB // set before done is closed; nil when the API stopped before
	done chan struct{}
}

func (o *opening) LatestRows(ctx context.Context, v *features.View, afterTick int64) (*features.Rows, error) {
	select {
	case <-o.done:
		if o.db != nil {
			return o.db.LatestRows(ctx, v, afterTick)
		}
		return nil, context.Canceled
	case <-ctx.Done():
		return nil, fmt.Errorf("clickhouse does not answer yet: %w", ctx.Err())
	}
}

func listenAPI(cfg *Config, log *slog.Logger) (*httpserve.Server, error) {
	server, err := httpserve.Listen(httpserve.Options{
		Addr: cfg.Serve.Listen, WebConfig: cfg.Serve.WebConfig, Authenticated: cfg.Serve.TokenFile != "", Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w", err)
	}
	return server, nil
}

// runAPI serves until ctx is done.
func runAPI(ctx context.Context, cfg *Config, server *httpserve.Server, set *features.Set, src online.Source, log *slog.Logger, reg *prometheus.Registry) error {
	store, err := online.New(src, set.Views, online.Options{Refresh: cfg.Serve.RefreshEvery.D(), Registerer: reg, Log: log})
	if err != nil {
		return err
	}
	handler, err := api.New(store, set, api.Options{TokenFile: cfg.Serve.TokenFile, Registerer: reg, Gatherer: reg, Log: log})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return store.Run(ctx) })
	g.Go(func() error { return server.Run(ctx, handler) })
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
