// Package inventory carries inventory documents from their topic to the store. There is
// no state between documents: each stands for its node alone, so a partition is read,
// decoded, stored and committed in turns.
package inventory

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/pipeline/stateless"
	schema "sextant/schema/inventory"
)

// Row is one record of the topic, decoded.
type Row struct {
	Partition int32
	Offset    int64
	Ingest    int64            // append time of the broker, unix ms
	Node      string           // the record's key
	Document  *schema.Document // nil: the node is gone
	Text      string           // the document as it was sent
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
	WriteInventory(ctx context.Context, rows []Row) error
}

// Config says how much is gathered for one write. A zero field takes the default.
type Config struct {
	MaxRows  int           // default 256
	MaxDelay time.Duration // default 2 s: a store wants few large inserts, and nobody waits for a document
	Dead     Keep          // needed
	Metrics  *Metrics
	Log      *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.MaxRows == 0 {
		c.MaxRows = 256
	}
	if c.MaxDelay == 0 {
		c.MaxDelay = 2 * time.Second
	}
	if c.Metrics == nil {
		c.Metrics = NewMetrics(nil)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Metrics count documents.
type Metrics struct{ documents *prometheus.CounterVec }

// NewMetrics registers the metrics on reg, which may be nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sextant", Subsystem: "inventory", Name: "documents_total",
		Help: "Inventory documents read from Kafka, by result: stored, gone or dead."}, []string{"result"})}
	if reg != nil {
		reg.MustRegister(m.documents)
	}
	return m
}

// Run reads until ctx ends or a part fails. It commits only what is stored.
func Run(ctx context.Context, src Source, sink Sink, cfg Config) error {
	cfg = cfg.withDefaults()
	return stateless.Run(ctx, src, stateless.Config[Row]{
		What: "inventory documents", MaxRows: cfg.MaxRows, MaxDelay: cfg.MaxDelay,
		Decode: Decode, Write: sink.WriteInventory, Dead: cfg.Dead, Count: cfg.Metrics.count, Log: cfg.Log,
	})
}

func (m *Metrics) count(rows []Row, dead int) {
	for i := range rows {
		result := "stored"
		if rows[i].Document == nil {
			result = "gone"
		}
		m.documents.WithLabelValues(result).Inc()
	}
	m.documents.WithLabelValues("dead").Add(float64(dead))
}
