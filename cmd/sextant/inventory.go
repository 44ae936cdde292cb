package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/internal/clickhouse"
	"sextant/pipeline/inventory"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

// inventoryGroup is the consumer group that reads the inventory. It is not the one of the
// samples: the members of a group must all read the same topics, and a rebalance of one
// topic should not stop the other.
func inventoryGroup(group string) string { return group + "-inventory" }

// runInventory stores inventory documents until ctx is done. dead keeps what can never be
// read.
func runInventory(ctx context.Context, cfg *Config, db *clickhouse.DB, dead *kafka.Producer, log *slog.Logger, reg prometheus.Registerer) error {
	sink := db.NewInventorySink()
	run := inventory.Config{Metrics: inventory.NewMetrics(reg), Log: log, Dead: func(ctx context.Context, letters []inventory.DeadLetter) error {
		for _, l := range letters {
			if err := dead.SendDead(ctx, topics.Inventory, l.Record, l.Reason); err != nil {
				return fmt.Errorf("dead letter: %w", err)
			}
		}
		return nil
	}}
	opts := kafka.ConsumerOptions{Group: inventoryGroup(cfg.Pipeline.Group), Topic: topics.Inventory, Logger: log}
	return kafka.Consume(ctx, cfg.Kafka, opts, func(ctx context.Context, p *kafka.Partition) error {
		return inventory.Run(ctx, offsetSource{p}, sink, run)
	})
}

// offsetSource is a Kafka partition of which the offset is all that a restart needs.
type offsetSource struct{ p *kafka.Partition }

func (s offsetSource) Fetch(ctx context.Context) ([]wire.Record, error) { return s.p.Fetch(ctx) }

func (s offsetSource) Commit(ctx context.Context, next int64) error {
	return s.p.Commit(ctx, next, "")
}
