package main

import (
	"github.com/spf13/cobra"

	"sextant/internal/bench/spool"
)

func spoolBenchCmd() *cobra.Command {
	var opts spool.Options
	c := &cobra.Command{
		Use: "spool", Short: "The agent's queue on disk: bytes per second, and what goes first after an outage",
		Example: "  sextant bench spool\n  sextant bench spool --dir /var/lib/sextant-agent --entries 5000", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := spool.Run(cmd.Context(), opts)
			if err != nil {
				return err
			}
			return r.Print(cmd.OutOrStdout())
		},
	}
	c.Flags().StringVar(&opts.Dir, "dir", "", "folder on the disk that is measured; a temporary one by default")
	c.Flags().IntVar(&opts.Entries, "entries", 2000, "scrapes of 1,500 series in each row")
	return c
}
