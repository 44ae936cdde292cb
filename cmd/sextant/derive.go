package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"sextant/features"
	"sextant/internal/clickhouse"
	"sextant/pipeline"
	"sextant/pipeline/derive"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

// Times of the views that the store computes.
const (
	deriveWrite   = 5 * time.Second  // from the end of lateness until rows of a tick are written
	deriveSettle  = 2 * time.Second  // clocks that differ, and inserts under way
	deriveWait    = 30 * time.Second // for the groups of both streams, in one round
	deriveCatchUp = time.Hour        // that is made up for after a stop, beside the newest ticks
)

// deriving is what the owner of partition 0 of the task events does beside: one member of the
// group has the store evaluate the views that it computes. While a partition changes hands there may be two,
// which is harmless.
type deriving struct {
	cfg     *Config
	views   []*features.View
	db      *clickhouse.DB
	metrics *derive.Metrics
	log     *slog.Logger
}

// run evaluates until ctx is done.
func (d *deriving) run(ctx context.Context) error {
	tasks, err := kafka.NewFollower(d.cfg.Kafka, tasksGroup(d.cfg.Pipeline.Group), topics.Tasks)
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer tasks.Close()
	samples, err := kafka.NewFollower(d.cfg.Kafka, d.cfg.Pipeline.Group, topics.Samples)
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer samples.Close()
	stored := func(ctx context.Context, tick int64) error {
		ctx, cancel := context.WithTimeout(ctx, deriveWait)
		defer cancel()
		if err := samples.Await(ctx, closed(tick)); err != nil {
			return err
		}
		return tasks.Await(ctx, kafka.Committed)
	}
	store := d.db.NewDeriveStore()
	g, ctx := errgroup.WithContext(ctx)
	for _, long := range []bool{false, true} {
		g.Go(func() error {
			return derive.Run(ctx, store, derive.Config{
				Views: d.views, Long: long, Schedule: deriveSchedule(d.cfg), Stored: stored, Metrics: d.metrics, Log: d.log,
			})
		})
	}
	err = g.Wait()
	if errors.Is(err, context.Canceled) {
		return nil // the partition went elsewhere
	}
	return err
}

// closed is the progress of the pipeline: enough is done when the rows of a tick are durable.
// A checkpoint that cannot be read says nothing.
func closed(tick int64) kafka.Progress {
	return func(offset int64, meta string) (written int64, enough bool) {
		c, err := pipeline.ParseCheckpoint(offset, meta)
		if err != nil {
			return offset, false
		}
		return c.Written, c.Watermark >= tick
	}
}
