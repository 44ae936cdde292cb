// Package broker is a Kafka broker inside this process, for one machine: the demo, tests
// and single-node use. It is kfake, which calls itself a fake for testing, with what it
// lacks put around it: a lock on its directory, safe settings that cannot be changed, a
// trimmer, and a cap on disk with back-pressure.
//
// What it promises: one copy, at least once, and whatever it acknowledged survives
// kill -9. It does not protect from power loss or bit rot.
package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"

	"sextant/schema/topics"
)

// Config says where the broker keeps its data and what it serves.
type Config struct {
	Dir      string         // created if missing; one process at a time
	Addr     string         // loopback host:port; port 0 or empty: any free port
	Topics   []topics.Topic // created if missing, with this broker's own retention
	Group    string         // the consumer group whose commits allow trimming
	Groups   []string       // further such groups, of other topics
	MaxBytes int64          // disk cap; default 1 GiB

	Logger     *slog.Logger          // nil: slog.Default()
	Registerer prometheus.Registerer // nil: no metrics
}

// Defaults and sizes.
const (
	DefaultMaxBytes = 1 << 30
	segmentBytes    = 16 << 20 // trimming frees whole segments
	trimInterval    = 2 * time.Second
)

// Broker is a running broker.
type Broker struct {
	cfg     Config
	cluster *kfake.Cluster
	lock    *os.File
	metrics *metrics
	log     *slog.Logger

	used atomic.Int64 // bytes on disk at the last look, and produced since
	full atomic.Bool  // whether the last record was refused for the cap

	closing atomic.Bool // no record is taken any more

	stop context.CancelFunc
	done sync.WaitGroup
}

// Start opens the data directory and serves it until Close. It returns once clients can
// connect and all topics exist.
func Start(ctx context.Context, cfg Config) (*Broker, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	host, port, err := listenAddr(cfg.Addr)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	lock, err := lockDir(cfg.Dir)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("embedded broker metrics: %w", err)
	}
	b := &Broker{cfg: cfg, lock: lock, metrics: m, log: cfg.Logger.With("component", "embedded broker")}
	if b.cluster, err = kfake.NewCluster(b.options(host, port)...); err != nil {
		lock.Close()
		return nil, fmt.Errorf("embedded broker: %s: %w", cfg.Dir, err)
	}
	b.guard()
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	ctx, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	b.done.Go(func() { b.trimLoop(ctx) })
	b.log.Info("listening", "addr", b.Addr(), "dir", cfg.Dir, "bytes", b.used.Load())
	return b, nil
}

// options are the settings that make kfake keep what it acknowledged.
func (b *Broker) options(host string, port int) []kfake.Opt {
	return []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.Ports(port),
		kfake.ListenFn(listenOn(host)),
		kfake.DataDir(filepath.Join(b.cfg.Dir, "log")),
		kfake.SyncWrites(),
		kfake.ClusterID("sextant-embedded"),
		kfake.WithLogger(logger{b.log}),
		kfake.BrokerConfigs(map[string]string{
			// kfake's own retention resets the high watermark when it empties a log.
			"log.retention.ms":           "-1",
			"log.retention.bytes":        "-1",
			"log.segment.bytes":          strconv.Itoa(segmentBytes),
			"message.max.bytes":          strconv.Itoa(topics.MaxMessageBytes),
			"default.replication.factor": "1",
			"min.insync.replicas":        "1",
			"offsets.retention.minutes":  "5256000", // ten years: a commit outlives any pause
		}),
	}
}

// Addr returns host:port, for clients of this machine.
func (b *Broker) Addr() string { return b.cluster.ListenAddrs()[0] }

// Close stops serving, writes a snapshot and gives the directory free.
func (b *Broker) Close() error {
	if b.stop != nil {
		b.stop()
	}
	b.done.Wait()
	b.closing.Store(true)
	b.cluster.Close()
	return b.lock.Close()
}

// prepare creates topics, mends commits and measures the directory.
func (b *Broker) prepare(ctx context.Context) error {
	for _, t := range b.cfg.Topics {
		if b.cluster.TopicInfo(t.Name) != nil {
			continue
		}
		if err := b.cluster.CreateTopic(t.Name, int32(t.Partitions), ownSettings(t)); err != nil {
			return fmt.Errorf("embedded broker: create topic %s: %w", t.Name, err)
		}
	}
	if err := b.mendCommits(ctx); err != nil {
		return fmt.Errorf("embedded broker: %w", err)
	}
	return b.measure()
}

// ownSettings are a topic's settings as this broker keeps them: it never expires or
// compacts a record, it trims what was consumed.
func ownSettings(t topics.Topic) map[string]string {
	return map[string]string{
		"cleanup.policy":         "delete",
		"retention.ms":           "-1",
		"retention.bytes":        "-1",
		"segment.bytes":          strconv.Itoa(segmentBytes),
		"min.insync.replicas":    "1",
		"max.message.bytes":      t.Config["max.message.bytes"],
		"message.timestamp.type": t.Config["message.timestamp.type"],
		"compression.type":       "producer",
	}
}
