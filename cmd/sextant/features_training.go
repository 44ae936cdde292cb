package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/features/training"
	"sextant/internal/clickhouse"
	"sextant/internal/exit"
)

// trainingOptions are the flags of features training-set.
type trainingOptions struct {
	service, features, timestamp, labels, out string
	fullNames, statuses, asCorrected          bool
}

// text gives a flag by the name that the API's parameter has.
func (o *trainingOptions) text(name string) string {
	return map[string]string{"service": o.service, "features": o.features, "timestamp": o.timestamp,
		"full_feature_names": strconv.FormatBool(o.fullNames), "statuses": strconv.FormatBool(o.statuses), "as_corrected": strconv.FormatBool(o.asCorrected)}[name]
}

func featuresTrainingCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "training-set",
		Short: "Join features to labels, as they were known at each label's time",
		Long: `training-set reads labels, rows with the join keys and a time, and writes each with the features of its
entities as they were known at that time and no later: a row for each label, in their order. The names of
the files say their format: .parquet, .arrow, .arrows (a stream) or .csv. See docs/training-sets.md.`,
		Example: `  sextant features training-set --service node_basics --labels labels.parquet --out set.parquet
  sextant features training-set --features node_monitoring:load_per_core_1m --labels labels.csv --out set.csv --statuses`,
		Args: cobra.NoArgs,
	}
	o, f := &trainingOptions{}, cmd.Flags()
	f.StringVar(&o.service, "service", "", "feature service: its newest version, or NAME@vN")
	f.StringVar(&o.features, "features", "", "features one by one, as view:feature,view@v2:feature")
	f.StringVar(&o.labels, "labels", "", "file of labels")
	f.StringVar(&o.out, "out", "", "file to write")
	f.StringVar(&o.timestamp, "timestamp", training.DefaultTimestamp, "the labels' column of times")
	f.BoolVar(&o.fullNames, "full-feature-names", false, "name columns view__feature")
	f.BoolVar(&o.statuses, "statuses", false, "a column beside each feature that says PRESENT, NULL_VALUE, NOT_FOUND or OUTSIDE_MAX_AGE")
	f.BoolVar(&o.asCorrected, "as-corrected", false, "values as later corrections left them: what no model could have seen at the time")
	for _, name := range []string{"labels", "out"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic("BUG: " + err.Error())
		}
	}
	onStore(cmd, func(cmd *cobra.Command, _ []string, _ *Config, db *clickhouse.DB) error {
		state, err := db.Registry(cmd.Context())
		if err != nil {
			return err
		}
		return writeTrainingSet(cmd, o, state.Active, db)
	})
	return cmd
}

func writeTrainingSet(cmd *cobra.Command, o *trainingOptions, set *features.Set, db *clickhouse.DB) error {
	spec, err := training.SpecOf(set, o.text)
	if err != nil {
		return exit.Usage(err)
	}
	in, err := training.ByExtension(o.labels)
	if err != nil {
		return exit.Usage(fmt.Errorf("--labels: %w", err))
	}
	out, err := training.ByExtension(o.out)
	if err != nil {
		return exit.Usage(fmt.Errorf("--out: %w", err))
	}
	from, err := os.Open(o.labels)
	if err != nil {
		return err
	}
	defer from.Close()
	labels, err := in.Open(cmd.Context(), from)
	if err != nil {
		return fmt.Errorf("%s: %w", o.labels, err)
	}
	defer labels.Release()
	plan, err := training.New(spec, labels.Schema())
	if err != nil {
		return fmt.Errorf("%s: %w", o.labels, err)
	}
	var sum training.Summary
	err = replaceFile(o.out, func(w io.Writer) error {
		table, err := out.Create(w, plan.Schema())
		if err != nil {
			return err
		}
		sum, err = plan.Build(cmd.Context(), db, labels, table)
		return errors.Join(err, table.Close())
	})
	if err != nil {
		return fmt.Errorf("training set of %s: %w", o.labels, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d rows, %d features; cut-off: %s\n", o.out, sum.Rows, len(spec.Columns), spec.Cutoff())
	for st, n := range sum.Statuses {
		fmt.Fprintf(cmd.OutOrStdout(), "  %-16s %d values\n", features.Status(st), n)
	}
	return nil
}

// replaceFile writes a file beside its place and moves it there when it is whole. Closing
// what it hands out does nothing: Parquet's writer closes what it can.
func replaceFile(name string, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-")
	if err != nil {
		return err
	}
	err = errors.Join(fill(struct{ io.Writer }{f}), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
