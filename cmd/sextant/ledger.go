package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sextant/internal/clickhouse"
)

func ledgerCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Prove that nothing is lost and nothing is counted twice",
		Long: `ledger prints what became of the agents' numbered records, and the samples that the ledger claims
against those that a reader finds. The SQL views ledger (by agent) and ingest_audit (by node
and hour) have the details. Exit status 1 says that something is lost or doubled.`,
		Example: "  sextant ledger --config sextant.yaml",
		Args:    cobra.NoArgs,
	}
	load := configFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), time.Minute)
		defer cancel()
		db, err := clickhouse.Open(ctx, cfg.ClickHouse, cfg.logger(), nil)
		if err != nil {
			return fmt.Errorf("clickhouse: %w", err)
		}
		defer db.Close()
		return printLedger(ctx, db, cmd)
	}
	return cmd
}

func printLedger(ctx context.Context, db *clickhouse.DB, cmd *cobra.Command) error {
	sum, err := db.Ledger(ctx)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "records of %d agents\treceived %d\tlost %d\tpending %d\tdropped %d\tresent %d\n",
		sum.Agents, sum.Received, sum.Lost, sum.Pending, sum.Dropped, sum.Resent)
	fmt.Fprintf(w, "samples\texpected %d\tlost %d\tduplicate %d\tvisible %d\n", sum.Expected, sum.Missing, sum.Duplicate, sum.Visible)
	if err := w.Flush(); err != nil {
		return err
	}
	if sum.Lost+sum.Missing+sum.Duplicate > 0 {
		return fmt.Errorf("the ledger does not balance: %d records and %d samples lost, %d samples doubled; the SQL views ledger and ingest_audit say whose",
			sum.Lost, sum.Missing, sum.Duplicate)
	}
	fmt.Fprintln(out, "nothing lost, nothing double")
	return nil
}
