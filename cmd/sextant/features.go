package main

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/internal/exit"
	"sextant/pipeline/evaluate"
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
			set, err := definitionsOf(args)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d views, %d features, %d services: all is well\n", len(set.Views), countFeatures(set.Views), len(set.Services))
			return nil
		},
	}, &cobra.Command{
		Use:     "list [folder]",
		Short:   "Print views and features, and what computes each",
		Example: "  sextant features list",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := definitionsOf(args)
			if err != nil {
				return err
			}
			paths, err := pathsOf(set.Views)
			if err != nil {
				return exit.Config(err)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "FEATURE\tTYPE\tUNIT\tTTL\tPATH\tDESCRIPTION")
			for _, v := range set.Views {
				for _, f := range v.Features {
					fmt.Fprintf(w, "%s:%s\t%s\t%s\t%s\t%s\t%s\n", v.Name, f.Name, f.DType, f.Unit, v.TTL, paths[v.Name+":"+f.Name], f.Description)
				}
			}
			return w.Flush()
		},
	})
	return cmd
}

// pathsOf says for each feature, as view:feature, what computes it: its compiled
// expression, or the PromQL engine, at many times the cost, and because of what.
func pathsOf(views []*features.View) (map[string]string, error) {
	e, err := evaluate.New(views, evaluate.Options{Lookback: time.Minute, GroupSize: 1})
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	e.Paths(func(view, feature string, why error) {
		paths[view+":"+feature] = "compiled"
		if why != nil {
			paths[view+":"+feature] = fmt.Sprintf("engine (%s)", why)
		}
	})
	return paths, nil
}

// definitionsOf loads the folder named on the command line, or what is built in.
func definitionsOf(args []string) (*features.Set, error) {
	if len(args) == 0 {
		return definitionsIn([]string{builtinViews})
	}
	if info, err := os.Stat(args[0]); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, exit.Usage(fmt.Errorf("%s is not a folder", args[0]))
	}
	return definitionsIn(args[:1])
}

func countFeatures(views []*features.View) int {
	n := 0
	for _, v := range views {
		n += len(v.Features)
	}
	return n
}
