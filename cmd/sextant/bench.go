package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"sextant/internal/bench/codec"
	"sextant/internal/bench/features"
	"sextant/internal/bench/fresh"
	"sextant/internal/bench/line"
)

func benchCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the line on this machine, beside a peer or the bare limit",
		Long: `bench prints tables. Figures of different machines, or of a busy one, say little; the ratios
within a table say more. CPU seconds per million samples is the firmest.`,
		Example: "  sextant bench pipeline --nodes 2000\n  sextant bench all",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var lineOpts line.Options
	pipelineBench := &cobra.Command{
		Use: "pipeline", Short: "Kafka to rows and features, beside inserts of ready blocks",
		Example: "  sextant bench pipeline --nodes 5000 --ticks 40", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := line.Run(cmd.Context(), lineOpts, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return r.Print(cmd.OutOrStdout())
		},
	}
	pipelineBench.Flags().IntVar(&lineOpts.Nodes, "nodes", 5000, "nodes of the fleet")
	pipelineBench.Flags().StringVar(&lineOpts.Dir, "dir", "", "keep data, logs and the profile in this folder")
	pipelineBench.Flags().IntVar(&lineOpts.Ticks, "ticks", 40, "scrapes of each node")

	var freshOpts fresh.Options
	freshBench := &cobra.Command{
		Use: "freshness", Short: "How old a feature is when it can first be read",
		Example: "  sextant bench freshness --nodes 200 --ticks 6", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := fresh.Run(cmd.Context(), freshOpts, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return r.Print(cmd.OutOrStdout())
		},
	}
	freshBench.Flags().IntVar(&freshOpts.Nodes, "nodes", 200, "nodes of the fleet")
	freshBench.Flags().IntVar(&freshOpts.Ticks, "ticks", 6, "ticks of 10 s")

	var featureOpts features.Options
	var featureMemory int64
	featureBench := &cobra.Command{
		Use: "features", Short: "The evaluation of features beside Prometheus' rule engine over its own TSDB",
		Long: `features evaluates the features of PromQL that the services node_state and task_state read, and the same
expressions as recording rules, over the same samples.`,
		Example: "  sextant bench features --nodes 1000,10000", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			featureOpts.Memory = featureMemory << 20
			r, err := features.Run(cmd.Context(), featureOpts, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return r.Print(cmd.OutOrStdout())
		},
	}
	featureBench.Flags().IntSliceVar(&featureOpts.Nodes, "nodes", []int{1_000, 10_000, 100_000}, "sizes of the fleet")
	featureBench.Flags().Int64Var(&featureMemory, "memory", 6<<10, "MiB that the state of one engine may take; a larger fleet is measured in part")
	featureBench.Flags().DurationVar(&featureOpts.Slow, "slow", 20*time.Second, "leave out a size at which a tick would take more CPU time")

	codecBench := &cobra.Command{
		Use: "codec", Short: "The wire codec beside the generated one, and the normalising behind it",
		Example: "  sextant bench codec", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := codec.Run()
			if err != nil {
				return err
			}
			return codec.Print(cmd.OutOrStdout(), rows)
		},
	}

	cmd.AddCommand(pipelineBench, featureBench, agentBenchCmd(), freshBench, codecBench, spoolBenchCmd(), backfillBenchCmd(), trainsetBenchCmd(), servingBenchCmd())
	cmd.AddCommand(&cobra.Command{
		Use: "all", Short: "Everything, one after the other", Example: "  sextant bench all", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, b := range cmd.Commands() {
				if b == c || b.RunE == nil {
					continue
				}
				b.SetContext(c.Context())
				b.SetOut(os.Stdout)
				if err := b.RunE(b, nil); err != nil {
					return err
				}
			}
			return nil
		},
	})
	return cmd
}
