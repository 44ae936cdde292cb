package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/features"
	"sextant/features/promapi"
	"sextant/internal/access"
	"sextant/internal/clickhouse"
	"sextant/internal/config"
	"sextant/internal/httpserve"
)

// PrometheusConfig is the part of the query API that speaks PromQL. See docs/promql.md.
type PrometheusConfig struct {
	Enabled     bool            `yaml:"enabled"`
	Lookback    config.Duration `yaml:"lookback"`    // how long a sample stands for its series
	Timeout     config.Duration `yaml:"timeout"`     // of one query
	MaxSeries   int             `yaml:"max_series"`  // that one selector may match
	MaxSamples  int             `yaml:"max_samples"` // that one selector may read, and one query hold
	MaxRange    config.Duration `yaml:"max_range"`   // of time that one selector may read
	Concurrency int             `yaml:"concurrency"` // queries at once; the others wait
}

func defaultPrometheus() PrometheusConfig {
	return PrometheusConfig{Enabled: true, Lookback: config.Duration(5 * time.Minute), Timeout: config.Duration(time.Minute),
		MaxSeries: 100_000, MaxSamples: 50_000_000, MaxRange: config.Duration(32 * 24 * time.Hour), Concurrency: 8}
}

// check reports every fault under serve.prometheus.
func (c PrometheusConfig) check(fail func(key, format string, args ...any)) {
	for _, d := range []struct {
		key  string
		d    config.Duration
		most time.Duration
	}{{"lookback", c.Lookback, 24 * time.Hour}, {"timeout", c.Timeout, time.Hour}, {"max_range", c.MaxRange, 100 * 366 * 24 * time.Hour}} {
		if d.d.D() < time.Second || d.d.D() > d.most {
			fail("serve.prometheus."+d.key, "%v is not within 1s and %v", d.d.D(), d.most)
		}
	}
	for _, n := range []struct {
		key     string
		n, most int
	}{{"max_series", c.MaxSeries, 10_000_000}, {"max_samples", c.MaxSamples, 2_000_000_000}, {"concurrency", c.Concurrency, 1_000}} {
		if n.n < 1 || n.n > n.most {
			fail("serve.prometheus."+n.key, "%d is not within 1 and %d", n.n, n.most)
		}
	}
}

// withPrometheus serves the query API of Prometheus beside next.
func withPrometheus(next *httpserve.Mux, gate *access.Gate, cfg *Config, views []*features.View, db *clickhouse.DB, log *slog.Logger, reg *prometheus.Registry) (*httpserve.Mux, error) {
	c := cfg.Serve.Prometheus
	if !c.Enabled {
		return next, nil
	}
	source := db.Prometheus(views, clickhouse.PromLimits{Series: c.MaxSeries, Samples: c.MaxSamples, Range: c.MaxRange.D()})
	handler, err := promapi.New(source, promapi.Options{
		Lookback: c.Lookback.D(), Timeout: c.Timeout.D(), MaxSamples: c.MaxSamples, Concurrency: c.Concurrency,
		Access: gate, Version: buildVersion(), Registerer: reg, Log: log,
		Away: clickhouse.Away, TimedOut: clickhouse.TimedOut,
	})
	if err != nil {
		return nil, fmt.Errorf("prometheus api: %w", err)
	}
	next.Mount("/api/v1/", handler)
	return next, nil
}
