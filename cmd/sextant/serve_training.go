package main

import (
	"fmt"
	"log/slog"

	"sextant/features"
	"sextant/features/training"
	"sextant/internal/access"
	"sextant/internal/clickhouse"
	"sextant/internal/httpserve"
)

// TrainingConfig is the part of the API that builds training sets. See docs/training-sets.md.
type TrainingConfig struct {
	MaxBody     int64 `yaml:"max_body"`    // bytes of labels in one request; 0 serves no training sets
	Concurrency int   `yaml:"concurrency"` // sets at once; others are refused
}

func defaultTraining() TrainingConfig { return TrainingConfig{MaxBody: 1 << 30, Concurrency: 1} }

// check reports every fault under serve.training.
func (c TrainingConfig) check(fail func(key, format string, args ...any)) {
	if c.MaxBody < 0 || c.MaxBody > 1<<40 {
		fail("serve.training.max_body", "%d is not within 0 and %d", c.MaxBody, int64(1)<<40)
	}
	if c.Concurrency < 1 || c.Concurrency > 100 {
		fail("serve.training.concurrency", "%d is not within 1 and 100", c.Concurrency)
	}
}

// withTraining serves training sets beside next.
func withTraining(next *httpserve.Mux, gate *access.Gate, cfg *Config, set *features.Set, db *clickhouse.DB, log *slog.Logger) (*httpserve.Mux, error) {
	c := cfg.Serve.Training
	if c.MaxBody == 0 {
		return next, nil
	}
	handler, err := training.NewHandler(db, training.HTTPOptions{
		Set: set, MaxBody: c.MaxBody, Concurrency: c.Concurrency, Access: gate, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("training api: %w", err)
	}
	handler.Mount("/", next)
	return handler, nil
}
