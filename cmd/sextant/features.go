package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/internal/exit"
)

func featuresCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "features", Short: "Feature views: check and list their definitions", Args: cobra.NoArgs,
		Example: "  sextant features validate ./views\n  sextant features list",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(&cobra.Command{
		Use:   "validate [folder]",
		Short: "Check a folder of feature views; every fault with file and line",
		Long: `validate reads every .yaml file of the folder, one view each, and reports all that is wrong:
unknown keys, PromQL that does not parse, names that are taken. Exit status 78 says that a
definition is wrong.`,
		Example: "  sextant features validate ./views",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			views, err := viewsOf(args)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d views, %d features: all is well\n", len(views), countFeatures(views))
			return nil
		},
	}, &cobra.Command{
		Use:     "list [folder]",
		Short:   "Print views and features",
		Example: "  sextant features list",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			views, err := viewsOf(args)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "FEATURE\tTYPE\tUNIT\tTTL\tDESCRIPTION")
			for _, v := range views {
				for _, f := range v.Features {
					fmt.Fprintf(w, "%s:%s\t%s\t%s\t%s\t%s\n", v.Name, f.Name, f.DType, f.Unit, v.TTL, f.Description)
				}
			}
			return w.Flush()
		},
	})
	return cmd
}

// viewsOf loads the folder named on the command line, or what is built in.
func viewsOf(args []string) ([]*features.View, error) {
	if len(args) == 0 {
		return features.Builtin()
	}
	if info, err := os.Stat(args[0]); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, exit.Usage(fmt.Errorf("%s is not a folder", args[0]))
	}
	return viewsIn(args[0])
}

func countFeatures(views []*features.View) int {
	n := 0
	for _, v := range views {
		n += len(v.Features)
	}
	return n
}
