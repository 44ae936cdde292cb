// Package tasks carries task events from their topic to the store. There is no state
// between events: what a task is, the store derives from all of them. So a partition is
// read, decoded, stored and committed in turns.
package tasks

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	schema "sextant/schema/tasks"
	"sextant/schema/wire"
)

// Row is one record of the topic, decoded.
type Row struct {
	Partition int32
	Offset    int64
	Ingest    int64 // append time of the broker, unix ms
	Event     *schema.Event
	Text      string // the event in its canonical form
}

// DeadLetter is a record that can never be read, copied, with the reason.
type DeadLetter struct {
	Record wire.Record
	Reason string
}

// Source is one partition of the topic.
type Source interface {
	// Fetch returns the next records, or none after a while. They are valid until the next
	// Fetch.
	Fetch(ctx context.Context) ([]wire.Record, error)
	// Commit makes a restart begin at next.
	Commit(ctx context.Context, next int64) error
}

// Sink stores rows. They are durable on return; rows that are written again replace
// themselves.
type Sink interface {
	WriteTasks(ctx context.Context, rows []Row) error
}

// Keep stores dead letters durably.
type Keep func(ctx context.Context, dead []DeadLetter) error

// Config says how much is gathered for one write. A zero field takes the default.
type Config struct {
	MaxRows  int           // default 10,000
	MaxDelay time.Duration // default 1 s: a store wants few large inserts
	Dead     Keep          // needed
	Metrics  *Metrics
	Log      *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.MaxRows == 0 {
		c.MaxRows = 10_000
	}
	if c.MaxDelay == 0 {
		c.MaxDelay = time.Second
	}
	if c.Metrics == nil {
		c.Metrics = NewMetrics(nil)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Metrics count events.
type Metrics struct{ events *prometheus.CounterVec }

// NewMetrics registers the metrics on reg, which may be nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sextant", Subsystem: "tasks", Name: "events_total",
		Help: "Task events read from Kafka, by result: stored or dead."}, []string{"result"})}
	if reg != nil {
		reg.MustRegister(m.events)
	}
	return m
}

// Run reads until ctx ends or a part fails. It commits only what is stored.
func Run(ctx context.Context, src Source, sink Sink, cfg Config) error {
	cfg = cfg.withDefaults()
	b := &batch{}
	for {
		records, err := src.Fetch(ctx)
		if err != nil {
			return err // what is gathered is read again by the next owner of the partition
		}
		for i := range records {
			b.add(&records[i])
		}
		if len(b.rows)+len(b.dead) >= cfg.MaxRows || b.next > 0 && time.Since(b.began) >= cfg.MaxDelay {
			if err := b.flush(ctx, src, sink, cfg); err != nil {
				return err
			}
		}
	}
}

// batch is what is stored and committed together.
type batch struct {
	rows  []Row
	dead  []DeadLetter
	next  int64 // offset to commit; 0: the batch is empty
	began time.Time
}

func (b *batch) add(r *wire.Record) {
	if b.next == 0 {
		b.began = time.Now()
	}
	b.next = r.Offset + 1
	row, err := Decode(r)
	if err != nil {
		b.dead = append(b.dead, DeadLetter{Record: clone(r), Reason: err.Error()})
		return
	}
	b.rows = append(b.rows, row)
}

func (b *batch) flush(ctx context.Context, src Source, sink Sink, cfg Config) error {
	if len(b.rows) > 0 {
		if err := sink.WriteTasks(ctx, b.rows); err != nil {
			return fmt.Errorf("store %d task events: %w", len(b.rows), err)
		}
	}
	if len(b.dead) > 0 {
		if err := cfg.Dead(ctx, b.dead); err != nil {
			return err
		}
		d := &b.dead[0]
		cfg.Log.Warn("task events cannot be read", "events", len(b.dead), "partition", d.Record.Partition, "offset", d.Record.Offset, "reason", d.Reason)
	}
	if err := src.Commit(ctx, b.next); err != nil {
		return fmt.Errorf("commit %d: %w", b.next, err)
	}
	cfg.Metrics.events.WithLabelValues("stored").Add(float64(len(b.rows)))
	cfg.Metrics.events.WithLabelValues("dead").Add(float64(len(b.dead)))
	*b = batch{}
	return nil
}
