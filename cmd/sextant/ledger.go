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
		Long: `ledger prints, for each agent, what became of its numbered records, and for the whole store the
samples that the ledger claims against those that a reader finds. Exit status 1 says that
something is lost or doubled.`,
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
	agents, err := db.Ledger(ctx)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "node\tagent\treceived\tlost\tpending\tdropped\tresent\t")
	var lost uint64
	for _, a := range agents {
		fmt.Fprintf(w, "%s\t%.8s\t%d\t%d\t%d\t%d\t%d\t\n", a.Node, a.Agent, a.Received, a.Lost, a.Pending, a.Dropped, a.Resent)
		lost += a.Lost
	}
	if err := w.Flush(); err != nil {
		return err
	}
	audit, err := db.Audit(ctx)
	if err != nil {
		return fmt.Errorf("audit the samples: %w", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\nsamples: expected %d, visible %d, lost %d, duplicate %d\n",
		audit.Expected, audit.Visible, audit.Lost, audit.Duplicate)
	if lost+audit.Lost+audit.Duplicate > 0 {
		return fmt.Errorf("the ledger does not balance: %d records and %d samples lost, %d samples doubled", lost, audit.Lost, audit.Duplicate)
	}
	return nil
}
