// Package nodes carries what Kubernetes says of its nodes from the topic to the store.
// There is no state between documents: each stands for its node alone.
package nodes

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/pipeline/stateless"
	schema "sextant/schema/nodes"
	"sextant/schema/wire"
)

// Row is one record of the topic, decoded.
type Row struct {
	Partition int32
	Offset    int64
	Ingest    int64 // append time of the broker, unix ms
	Cluster   string
	Node      string
	Document  *schema.Node // nil: the node was deleted
	Text      string       // the document as it was sent
}

// Sink stores rows. They are durable on return; rows that are written again replace
// themselves.
type Sink interface {
	WriteNodes(ctx context.Context, rows []Row) error
}

// DeadLetter, Source and Keep are those of every consumer of records that stand for
// themselves.
type (
	DeadLetter = stateless.DeadLetter
	Source     = stateless.Source
	Keep       = stateless.Keep
)

// How much is gathered for one write. A watcher that starts tells all nodes at once; a node
// that is not ready should be known soon.
const (
	maxRows  = 256
	maxDelay = time.Second
)

// Config of Run. All fields but Log are needed.
type Config struct {
	Dead    Keep
	Metrics *Metrics
	Log     *slog.Logger
}

// Metrics count documents.
type Metrics struct{ documents *prometheus.CounterVec }

// NewMetrics registers the metrics on reg, which may be nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sextant", Subsystem: "nodes", Name: "documents_total",
		Help: "What Kubernetes says of nodes, read from Kafka, by result: stored, gone or dead."}, []string{"result"})}
	if reg != nil {
		reg.MustRegister(m.documents)
	}
	return m
}

// Run reads until ctx ends or a part fails. It commits only what is stored.
func Run(ctx context.Context, src Source, sink Sink, cfg Config) error {
	return stateless.Run(ctx, src, stateless.Config[Row]{
		What: "node documents", MaxRows: maxRows, MaxDelay: maxDelay,
		Decode: Decode, Write: sink.WriteNodes, Dead: cfg.Dead, Count: cfg.Metrics.count, Log: cfg.Log,
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

// Decode reads one record. Every error is permanent. The row holds nothing of the record.
func Decode(r *wire.Record) (Row, error) {
	key := string(r.Key)
	at := strings.LastIndexByte(key, '/') // a cluster may have one in its name, a node has none
	if at < 1 || at == len(key)-1 || len(key) > 2*schema.MaxName || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return Row{}, fmt.Errorf("key %.64q is no cluster/node", key)
	}
	row := Row{Partition: r.Partition, Offset: r.Offset, Ingest: r.Ingest, Cluster: key[:at], Node: key[at+1:]}
	if len(r.Value) == 0 {
		return row, nil
	}
	d, err := schema.Decode(r.Value)
	if err != nil {
		return Row{}, err
	}
	if d.Cluster != row.Cluster || d.Node != row.Node {
		return Row{}, fmt.Errorf("document of node %q of %q under the key %q", d.Node, d.Cluster, key)
	}
	row.Document, row.Text = d, string(r.Value)
	return row, nil
}
