package main

import (
	"github.com/spf13/cobra"

	"sextant/internal/bench/trainset"
)

func trainsetBenchCmd() *cobra.Command {
	var o trainset.Options
	cmd := &cobra.Command{
		Use: "training-set", Short: "Training sets from a generated store, beside Feast's point-in-time join",
		Long: `training-set stores rows of node_monitoring, joins labels to them, and lets Feast (PyPI, pinned, its DuckDB
offline store) do the same over a Parquet file of the same rows. Installing Feast takes minutes, once.`,
		Example: "  sextant bench training-set --labels 1000000,10000000", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := trainset.Run(cmd.Context(), o, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return r.Print(cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Nodes, "nodes", 200, "nodes with rows")
	f.IntVar(&o.Hours, "hours", 24, "hours of rows, each node every 10 s")
	f.IntSliceVar(&o.Labels, "labels", []int{1_000_000, 10_000_000}, "sizes of the sets")
	f.BoolVar(&o.Random, "random", false, "labels in no order of time")
	f.BoolVar(&o.Feast, "feast", true, "beside Feast")
	return cmd
}
