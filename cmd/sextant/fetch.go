package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"sextant/internal/fetch"
)

func fetchCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "fetch",
		Short: "Fetch the pinned ClickHouse engine into the cache",
		Long: `fetch gets what the embedded mode needs, checks it against its checksum and keeps it in the
cache ($SEXTANT_CACHE, else the user's cache folder). Afterwards no network is needed.`,
		Example: "  sextant fetch",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := fetch.Chdb(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), path)
			return nil
		},
	}
}
