package main

import (
	"time"

	"github.com/spf13/cobra"

	"sextant/internal/bench/serving"
)

func servingBenchCmd() *cobra.Command {
	var o serving.Options
	cmd := &cobra.Command{
		Use: "serving", Short: "The feature API under load, beside Feast's own Python feature server",
		Long: `serving asks sextant serve, over HTTP and gRPC, for 1, 100 and 1,000 entities × 50 features, and for a whole
cluster × 64 as Arrow; then Feast's Python feature server (PyPI, pinned: scripts/feast.sh fetch) for the same
rows, with its SQLite online store, and with Redis where there is a redis-server.`,
		Example: "  sextant bench serving --duration 10s\n  sextant bench serving --feast=false", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := serving.Run(cmd.Context(), o, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return r.Print(cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Entities, "entities", 10_000, "entities of the view that both serve")
	f.IntVar(&o.Nodes, "nodes", 100_000, "nodes of the whole cluster")
	f.DurationVar(&o.Duration, "duration", 5*time.Second, "of each load; the whole cluster is asked for 22 s at least")
	f.IntVar(&o.Clients, "clients", 1, "connections, each with one request at a time")
	f.BoolVar(&o.Feast, "feast", true, "beside Feast")
	return cmd
}
