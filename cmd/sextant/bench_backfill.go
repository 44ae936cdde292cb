package main

import (
	"github.com/spf13/cobra"

	"sextant/internal/bench/backfill"
)

func backfillBenchCmd() *cobra.Command {
	var o backfill.Options
	c := &cobra.Command{
		Use: "backfill", Short: "Stored samples to feature rows, beside the bare reading of the samples",
		Long: `backfill stores what a fleet of 150 series a node sent, computes the past of the views from it, and reads the
same samples once more to throw them away. Samples that no view names are not read.`,
		Example: "  sextant bench backfill\n  sextant bench backfill --view node_monitoring --nodes 32 --ticks 8640", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := backfill.Run(cmd.Context(), o, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return r.Print(cmd.OutOrStdout())
		},
	}
	f := c.Flags()
	f.IntVar(&o.Nodes, "nodes", 64, "nodes of the fleet")
	f.IntVar(&o.Ticks, "ticks", 2160, "scrapes of each node, one every 10 s")
	f.StringSliceVar(&o.Views, "view", nil, "views, separated by commas; default: those of node_state that the pipeline computes")
	f.IntVar(&o.Parallel, "parallel", 1, "groups of nodes at once")
	f.StringVar(&o.Dir, "dir", "", "keep data, logs and the profile in this folder")
	return c
}
