package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"sextant/internal/httpserve"
	"sextant/internal/kube"
)

func watchCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "watch", Short: "Watch what places work, and tell of tasks and nodes", Args: cobra.NoArgs,
		Example: "  sextant watch kubernetes --config sextant.yaml",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(watchKubernetesCmd())
	return cmd
}

func watchKubernetesCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kubernetes",
		Short: "Send what happens to pods, Jobs, PodGroups and Workloads as task events, and what the nodes are",
		Long: `kubernetes watches the API server and hands task events and node documents to Kafka. Any number of it may run: the one that
holds the lease watches, the others wait. It reads and never writes, except its lease. A restart says
nothing twice, and notices what was deleted in the meantime.`,
		Example: "  sextant watch kubernetes --config sextant.yaml",
		Args:    cobra.NoArgs,
	}
	load := configFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		return watchKubernetes(cmd.Context(), cfg)
	}
	return cmd
}

func watchKubernetes(ctx context.Context, cfg *Config) error {
	log, reg := cfg.logger(), newRegistry()
	metrics, err := kube.NewMetrics(reg)
	if err != nil {
		return fmt.Errorf("watch metrics: %w", err)
	}
	parts := newStages(ctx)
	if cfg.Watch.Listen != "" {
		server, err := httpserve.Listen(httpserve.Options{Addr: cfg.Watch.Listen, WebConfig: cfg.Watch.WebConfig, Log: log})
		if err != nil {
			return fmt.Errorf("watch.listen: %w", err)
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
		ok := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") } // who waits for the lease is ready too
		mux.HandleFunc("GET /healthz", ok)
		mux.HandleFunc("GET /readyz", ok)
		parts.Start("listener", func(ctx context.Context) error { return server.Run(ctx, mux) })
	}
	parts.Start("watch", func(ctx context.Context) error {
		return kube.Run(ctx, cfg.Watch.Config, kube.Options{Kafka: cfg.Kafka, Metrics: metrics, Log: log})
	})
	<-parts.Context().Done()
	return parts.Stop()
}
