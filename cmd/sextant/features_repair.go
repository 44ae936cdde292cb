package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/internal/clickhouse"
	"sextant/pipeline/backfill"
)

// How repairs run beside the stream: a few hours of nodes at a time, with pauses.
const (
	repairEvery = time.Minute
	repairLimit = 16
)

func featuresRepairCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Compute the rows anew that samples changed which came too late",
		Long: `repair takes the hours of nodes in which samples came too late for their rows, computes the rows with them, and
keeps those that change beside what was known in time: <view>_corrected shows them, <view> and the feature API do
not. An hour is repaired when its last late sample is in no window that is still open. The pipeline does the same by
itself, a little at a time. SQL: repairs_pending, repairs.`,
		Example: "  sextant features repair\n  sextant features repair --watch",
		Args:    cobra.NoArgs,
	}
	watch := cmd.Flags().Bool("watch", false, "go on, and look for more every minute")
	again := cmd.Flags().Bool("again", false, "also what is repaired already, as after a backfill of a new feature")
	onStore(cmd, func(cmd *cobra.Command, _ []string, cfg *Config, db *clickhouse.DB) error {
		if *watch && *again {
			return errors.New("--watch and --again exclude each other")
		}
		state, err := db.Registry(cmd.Context())
		if err != nil {
			return err
		}
		limit := repairLimit
		if *again {
			limit = 1_000_000
		}
		r := &repairing{db: db, metrics: newRepairMetrics(nil), log: cfg.logger(), cfg: backfill.RepairConfig{
			Views: state.Active.Views, Lateness: cfg.Pipeline.Lateness.D(), Limit: limit, Again: *again, Now: time.Now}}
		if *watch {
			return r.run(cmd.Context())
		}
		sum, err := r.all(cmd.Context())
		fmt.Fprintf(cmd.OutOrStdout(), "%d hours of nodes repaired, %d failed, %d rows corrected\n", sum.Done, sum.Failed, sum.Rows)
		if err == nil && sum.Failed > 0 {
			err = errors.New("some repairs failed: the SQL table repairs says why")
		}
		return err
	})
	return cmd
}

// repairing repairs in the background, until its context is done.
type repairing struct {
	db      *clickhouse.DB
	cfg     backfill.RepairConfig
	metrics *repairMetrics
	log     *slog.Logger
	failing bool
}

func newRepairing(cfg *Config, views []*features.View, db *clickhouse.DB, log *slog.Logger, reg prometheus.Registerer) *repairing {
	return &repairing{db: db, metrics: newRepairMetrics(reg), log: log, cfg: backfill.RepairConfig{
		Views: views, Lateness: cfg.Pipeline.Lateness.D(), Limit: repairLimit, Now: time.Now}}
}

func (r *repairing) run(ctx context.Context) error {
	timer := time.NewTimer(repairEvery)
	defer timer.Stop()
	for {
		_, err := r.all(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !r.failing:
			r.failing = true
			r.log.Error("late samples are not repaired, trying again", "err", err)
		case err == nil && r.failing:
			r.failing = false
			r.log.Info("late samples are repaired again")
		}
		timer.Reset(repairEvery)
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
	}
}

// all repairs what can be repaired now.
func (r *repairing) all(ctx context.Context) (sum backfill.RepairCounts, err error) {
	sink, err := r.db.NewSink(clickhouse.DefaultSinkConfig())
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	store := r.db.NewBackfillStore(sink).Gentle()
	for {
		c, err := backfill.Repair(ctx, store, r.cfg)
		sum.Done, sum.Failed, sum.Rows = sum.Done+c.Done, sum.Failed+c.Failed, sum.Rows+c.Rows
		r.metrics.add(c)
		if err != nil || !c.More {
			return sum, err
		}
	}
}

type repairMetrics struct {
	repairs *prometheus.CounterVec
	rows    prometheus.Counter
}

func newRepairMetrics(reg prometheus.Registerer) *repairMetrics {
	m := &repairMetrics{
		repairs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sextant_repairs_total", Help: "Hours of nodes with late samples whose rows were computed again.",
		}, []string{"outcome"}),
		rows: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sextant_repairs_rows_total", Help: "Rows that late samples changed.",
		}),
	}
	m.repairs.WithLabelValues("done")
	m.repairs.WithLabelValues("failed")
	if reg != nil {
		reg.MustRegister(m.repairs, m.rows)
	}
	return m
}

func (m *repairMetrics) add(c backfill.RepairCounts) {
	m.repairs.WithLabelValues("done").Add(float64(c.Done))
	m.repairs.WithLabelValues("failed").Add(float64(c.Failed))
	m.rows.Add(float64(c.Rows))
}
