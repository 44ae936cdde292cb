package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/internal/clickhouse"
	"sextant/pipeline/kafka"
	"sextant/pipeline/nodes"
	"sextant/schema/topics"
)

// nodesGroup is the consumer group that reads what Kubernetes says of nodes.
func nodesGroup(group string) string { return group + "-nodes" }

// runNodes stores what Kubernetes says of nodes until ctx is done. dead keeps what can never
// be read.
func runNodes(ctx context.Context, cfg *Config, db *clickhouse.DB, dead *kafka.Producer, log *slog.Logger, reg prometheus.Registerer) error {
	sink := db.NewNodeSink()
	run := nodes.Config{Metrics: nodes.NewMetrics(reg), Log: log, Dead: func(ctx context.Context, letters []nodes.DeadLetter) error {
		for _, l := range letters {
			if err := dead.SendDead(ctx, topics.Nodes, l.Record, l.Reason); err != nil {
				return fmt.Errorf("dead letter: %w", err)
			}
		}
		return nil
	}}
	opts := kafka.ConsumerOptions{Group: nodesGroup(cfg.Pipeline.Group), Topic: topics.Nodes, Logger: log}
	return kafka.Consume(ctx, cfg.Kafka, opts, func(ctx context.Context, p *kafka.Partition) error {
		return nodes.Run(ctx, offsetSource{p}, sink, run)
	})
}
