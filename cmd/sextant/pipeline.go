package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime/pprof"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sextant/features"
	"sextant/internal/clickhouse"
	"sextant/internal/httpserve"
	"sextant/pipeline"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

func pipelineCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pipeline",
		Short: "Turn telemetry in Kafka into samples and feature rows in ClickHouse",
		Long: `pipeline joins a consumer group on ` + topics.Samples + `, computes the feature views at
every 10-second tick of event time, and writes samples, features and the ledger of records to
ClickHouse. Groups beside it store the inventory of the nodes, what Kubernetes says of them, and the events of tasks. Start as many as you like:
Kafka gives each a share of the partitions. It commits
only what is stored, so it may be killed at any time.`,
		Example: "  sextant pipeline --config sextant.yaml\n  curl -s 127.0.0.1:9466/readyz",
		Args:    cobra.NoArgs,
	}
	load := configFlag(cmd)
	profile := cmd.Flags().String("cpu-profile", "", "write a CPU profile to this file until the end")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		stop, err := profileCPU(*profile)
		if err != nil {
			return err
		}
		return errors.Join(pipelineMain(cmd.Context(), cfg), stop())
	}
	return cmd
}

// profileCPU profiles until the function that it returns is called.
func profileCPU(path string) (func() error, error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

func pipelineMain(ctx context.Context, cfg *Config) error {
	log := cfg.logger()
	reg := newRegistry()
	files, err := cfg.definitions()
	if err != nil {
		return err
	}
	var ready atomic.Bool
	serve, err := opsServer(cfg.Pipeline, log, reg, ready.Load)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return serve(ctx) })
	g.Go(func() error {
		defer stop() // the listener ends with the pipeline
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
		ready.Store(true)
		log.Info("pipeline runs", "group", cfg.Pipeline.Group, "views", len(set.Views), "brokers", cfg.Kafka.Brokers)
		return runPipeline(ctx, cfg, set.Views, db, log, reg)
	})
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// runPipeline consumes until ctx is done. Each partition has a machine of its own; all
// write through one sink, which makes few large inserts of them.
func runPipeline(ctx context.Context, cfg *Config, views []*features.View, db *clickhouse.DB, log *slog.Logger, reg prometheus.Registerer) error {
	sink, err := db.NewSink(clickhouse.DefaultSinkConfig())
	if err != nil {
		return err
	}
	defer sink.Close()
	producer, err := kafka.NewProducer(cfg.Kafka, kafka.ProducerOptions{Topic: topics.DeadLetter, MaxRecordBytes: topics.MaxMessageBytes})
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer producer.Close()
	run := pipeline.RunConfig{
		MaxRows: cfg.Pipeline.BatchRows, MaxDelay: cfg.Pipeline.FlushEvery.D(),
		Dead: deadLetters{producer}, Metrics: pipeline.NewMetrics(reg), Log: log,
	}
	opts := kafka.ConsumerOptions{Group: cfg.Pipeline.Group, Topic: topics.Samples, Logger: log, Registerer: reg}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return runInventory(ctx, cfg, db, producer, log, reg) })
	g.Go(func() error { return runNodes(ctx, cfg, db, producer, log, reg) })
	g.Go(func() error { return runTasks(ctx, cfg, views, db, producer, log, reg) })
	g.Go(func() error { return runSamples(ctx, cfg, views, opts, sink, run) })
	return g.Wait()
}

// runSamples consumes the samples: a machine for each partition.
func runSamples(ctx context.Context, cfg *Config, views []*features.View, opts kafka.ConsumerOptions, sink pipeline.Sink, run pipeline.RunConfig) error {
	return kafka.Consume(ctx, cfg.Kafka, opts, func(ctx context.Context, p *kafka.Partition) error {
		from, err := pipeline.ParseCheckpoint(p.Start())
		if err != nil {
			return fmt.Errorf("partition %d: %w", p.ID(), err)
		}
		m, err := pipeline.NewMachine(pipeline.Config{
			Topic: p.Topic(), Partition: p.ID(), Views: views, Lateness: cfg.Pipeline.Lateness.D(),
		}, from)
		if err != nil {
			return err
		}
		return pipeline.Run(ctx, source{p}, m, sink, run)
	})
}

// source is a Kafka partition as the pipeline reads it: its checkpoint is the committed
// offset and that commit's metadata.
type source struct{ p *kafka.Partition }

func (s source) Fetch(ctx context.Context) ([]wire.Record, error) { return s.p.Fetch(ctx) }

func (s source) Commit(ctx context.Context, c pipeline.Checkpoint) error {
	return s.p.Commit(ctx, c.Offset, c.String())
}

// deadLetters keeps what can never be read in Kafka's dead-letter topic.
type deadLetters struct{ p *kafka.Producer }

func (d deadLetters) Keep(ctx context.Context, dead []pipeline.DeadLetter) error {
	for _, l := range dead {
		if err := d.p.SendDead(ctx, topics.Samples, l.Record, l.Reason); err != nil {
			return fmt.Errorf("dead letter of partition %d offset %d: %w", l.Record.Partition, l.Record.Offset, err)
		}
	}
	return nil
}

// opsServer binds the listener for metrics and health, and returns what serves it.
// Without an address it serves nothing.
func opsServer(cfg PipelineConfig, log *slog.Logger, reg *prometheus.Registry, ready func() bool) (func(context.Context) error, error) {
	if cfg.Listen == "" {
		return func(context.Context) error { return nil }, nil
	}
	server, err := httpserve.Listen(httpserve.Options{Addr: cfg.Listen, WebConfig: cfg.WebConfig, Log: log})
	if err != nil {
		return nil, fmt.Errorf("pipeline.listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{Registry: reg}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			http.Error(w, "clickhouse does not answer yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return func(ctx context.Context) error { return server.Run(ctx, mux) }, nil
}

// newRegistry holds a process's metrics, the Go runtime's among them.
func newRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}
