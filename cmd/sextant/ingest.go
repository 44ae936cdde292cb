package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"sextant/internal/access"
	"sextant/internal/httpserve"
	"sextant/internal/ingest"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

func ingestCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ingest",
		Short: "Take task events over HTTP and hand them to Kafka",
		Long: `ingest answers POST /v1/tasks/events for schedulers that speak no Kafka. What it acknowledges is on
all in-sync replicas; sextant pipeline stores it. GET /openapi.json describes the interface.`,
		Example: `  sextant ingest --config sextant.yaml
  curl -s 127.0.0.1:6567/v1/tasks/events -H 'Content-Type: application/json' -d '{
    "event_id": "4711-1", "task": "4711", "state": "submitted", "time": "2026-03-01T12:00:00Z", "source": "hook"}'`,
		Args: cobra.NoArgs,
	}
	load := configFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		return ingestMain(cmd.Context(), cfg)
	}
	return cmd
}

func ingestMain(ctx context.Context, cfg *Config) error {
	log := cfg.logger()
	reg := newRegistry()
	producer, err := taskProducer(cfg)
	if err != nil {
		return err
	}
	defer producer.Close()
	gate, err := access.NewGate(access.Options{TokenFile: cfg.Ingest.TokenFile, Limits: cfg.Ingest.Limits, Registerer: reg, Log: log})
	if err != nil {
		return fmt.Errorf("ingest.token_file: %w", err)
	}
	handler, err := ingest.New(producer, ingest.Options{Access: gate, Registerer: reg, Gatherer: reg, Log: log})
	if err != nil {
		return err
	}
	server, err := httpserve.Listen(httpserve.Options{
		Addr: cfg.Ingest.Listen, WebConfig: cfg.Ingest.WebConfig, Authenticated: cfg.Ingest.TokenFile != "", Log: log,
	})
	if err != nil {
		return fmt.Errorf("ingest.listen: %w", err)
	}
	log.Info("ingest serves", "listen", server.Addr(), "brokers", cfg.Kafka.Brokers)
	return server.Run(ctx, handler)
}

// taskProducer sends task events.
func taskProducer(cfg *Config) (*kafka.Producer, error) {
	p, err := kafka.NewProducer(cfg.Kafka, kafka.ProducerOptions{Topic: topics.Tasks})
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	return p, nil
}
