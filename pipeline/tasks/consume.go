// Package tasks carries task events from their topic to the store. There is no state
// between events: what a task is, the store derives from all of them. So a partition is
// read, decoded, stored and committed in turns.
package tasks

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/pipeline/stateless"
	schema "sextant/schema/tasks"
)

// Row is one record of the topic, decoded.
type Row struct {
	Partition int32
	Offset    int64
	Ingest    int64 // append time of the broker, unix ms
	Event     *schema.Event
	Text      string // the event in its canonical form
}

// DeadLetter, Source and Keep are those of every consumer of records that stand for
// themselves.
type (
	DeadLetter = stateless.DeadLetter
	Source     = stateless.Source
	Keep       = stateless.Keep
)

// Sink stores rows. They are durable on return; rows that are written again replace
// themselves.
type Sink interface {
	WriteTasks(ctx context.Context, rows []Row) error
}

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
	return stateless.Run(ctx, src, stateless.Config[Row]{
		What: "task events", MaxRows: cfg.MaxRows, MaxDelay: cfg.MaxDelay,
		Decode: Decode, Write: sink.WriteTasks, Dead: cfg.Dead, Count: cfg.Metrics.count, Log: cfg.Log,
	})
}

func (m *Metrics) count(rows []Row, dead int) {
	m.events.WithLabelValues("stored").Add(float64(len(rows)))
	m.events.WithLabelValues("dead").Add(float64(dead))
}
