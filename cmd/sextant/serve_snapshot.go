package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/features"
	"sextant/features/online"
	"sextant/features/snapshot"
	"sextant/internal/access"
	"sextant/internal/clickhouse"
	"sextant/internal/config"
	"sextant/internal/httpserve"
)

// SnapshotConfig is the part of the API that serves the whole cluster at once. See
// docs/snapshot.md.
type SnapshotConfig struct {
	Settle    config.Duration `yaml:"settle"`     // after a tick until its version is served: longer than pipeline.lateness
	AsOf      int             `yaml:"as_of"`      // questions about the past at once; others are refused
	MaxValues int             `yaml:"max_values"` // numbers in one matrix
	Watchers  int             `yaml:"watchers"`   // streams of changes at once; others are refused
}

func defaultSnapshot() SnapshotConfig {
	return SnapshotConfig{Settle: config.Duration(8 * time.Second), AsOf: 2, MaxValues: 128 << 20, Watchers: 64}
}

// check reports every fault under serve.snapshot.
func (c SnapshotConfig) check(fail func(key, format string, args ...any)) {
	if d := c.Settle.D(); d < time.Second || d > snapshot.Step-time.Second {
		fail("serve.snapshot.settle", "%v is not within 1s and %v", d, snapshot.Step-time.Second)
	}
	if c.AsOf < 1 || c.AsOf > 100 {
		fail("serve.snapshot.as_of", "%d is not within 1 and 100", c.AsOf)
	}
	if c.Watchers < 1 || c.Watchers > 10_000 {
		fail("serve.snapshot.watchers", "%d is not within 1 and 10,000", c.Watchers)
	}
	if c.MaxValues < 1_000 || c.MaxValues > 1<<31 {
		fail("serve.snapshot.max_values", "%d is not within 1,000 and %d", c.MaxValues, int64(1)<<31)
	}
}

// withSnapshot serves the whole cluster beside next.
func withSnapshot(next *httpserve.Mux, gate *access.Gate, cfg *Config, set *features.Set, store *online.Store, db *clickhouse.DB, log *slog.Logger, reg *prometheus.Registry) (*httpserve.Mux, *snapshot.Server, error) {
	c := cfg.Serve.Snapshot
	server, err := snapshot.New(store, set, db, snapshot.Options{
		Settle: c.Settle.D(), AsOf: c.AsOf, MaxValues: c.MaxValues, Watchers: c.Watchers, Reach: time.Duration(cfg.ClickHouse.Retention.FeaturesDays) * 24 * time.Hour,
		Access: gate, Registerer: reg, Log: log,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("snapshot api: %w", err)
	}
	handler := server.Handler()
	handler.Mount("/", next)
	return handler, server, nil
}
