package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/features/statapi"
	"sextant/features/statistics"
	"sextant/internal/access"
	"sextant/internal/clickhouse"
	"sextant/internal/exit"
	"sextant/internal/httpserve"
	"sextant/pipeline/profile"
)

// defaultThresholds are what a feature may be like before anybody has said otherwise: a quarter is
// where drift is called large; of null ratios only their users know.
func defaultThresholds() statistics.Thresholds {
	return statistics.Thresholds{NullRatio: 1, OutOfRangeRatio: 0.01, PSI: 0.25, SkewRatio: 0.01}
}

func featuresQualityCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "quality",
		Short: "How the values of features were: missing, out of range, spread, drift, skew",
		Long: `quality prints what the pipeline has measured of each closed hour: the share of rows without a value, of values out
of range, quantiles, the drift against each baseline (PSI, the worst hour), and how many of the values that were served are not
what is stored. Exit status 1 says that a feature crosses a threshold. SQL: feature_quality, feature_drift, feature_skew.`,
		Example: "  sextant features quality --view node_monitoring --from 24h\n  sextant features quality --max-null-ratio 0.5 --max-age 10m --format json",
		Args:    cobra.NoArgs,
	}
	limits := defaultThresholds()
	view := cmd.Flags().String("view", "", "the view, or one version of it: node_static@v2; default: all in force")
	feature := cmd.Flags().String("feature", "", "only this feature of --view")
	from := cmd.Flags().String("from", "24h", "first hour: RFC 3339 with a zone, or how long ago")
	to := cmd.Flags().String("to", "0s", "the hour after the last, likewise")
	cmd.Flags().Float64Var(&limits.NullRatio, "max-null-ratio", limits.NullRatio, "share of rows without a value")
	cmd.Flags().Float64Var(&limits.OutOfRangeRatio, "max-out-of-range-ratio", limits.OutOfRangeRatio, "share of values out of range")
	cmd.Flags().Float64Var(&limits.PSI, "max-psi", limits.PSI, "drift of an hour against a baseline")
	cmd.Flags().Float64Var(&limits.SkewRatio, "max-skew-ratio", limits.SkewRatio, "share of served values that are not what is stored")
	cmd.Flags().DurationVar(&limits.Age, "max-age", 0, "age of the newest measured value; 0: any")
	f := formatFlag(cmd)
	onStore(cmd, func(cmd *cobra.Command, _ []string, _ *Config, db *clickhouse.DB) error {
		q, err := hoursOf(*from, *to, time.Now())
		if err != nil {
			return exit.Usage(err)
		}
		set, err := viewsOf(cmd.Context(), db, *view)
		if err != nil {
			return err
		}
		if *feature != "" && *view == "" {
			return exit.Usage(errors.New("--feature: say of which --view"))
		}
		if q.Feature = *feature; *view != "" {
			q.View = set[0].Ref()
		}
		return printQuality(cmd, db, q, limits, f)
	})
	return cmd
}

// viewsOf are the views in force, or the one that is named.
func viewsOf(ctx context.Context, db *clickhouse.DB, name string) ([]*features.View, error) {
	state, err := db.Registry(ctx)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return state.Active.Views, nil
	}
	v, ok := state.Active.View(name)
	if !ok {
		return nil, exit.Usage(fmt.Errorf("--view: %q is not in force: sextant features apply, or list", name))
	}
	return []*features.View{v}, nil
}

// hoursOf reads a range.
func hoursOf(from, to string, now time.Time) (q statistics.Question, err error) {
	first, err := moment(from, now)
	if err != nil {
		return q, fmt.Errorf("--from: %w", err)
	}
	last, err := moment(to, now)
	if err != nil {
		return q, fmt.Errorf("--to: %w", err)
	}
	if last <= first {
		return q, fmt.Errorf("--to: %s is not after --from", text(last))
	}
	q.From, q.To = time.UnixMilli(first), time.UnixMilli(last)
	return q, nil
}

func printQuality(cmd *cobra.Command, db *clickhouse.DB, q statistics.Question, limits statistics.Thresholds, f *format) error {
	list, err := db.Quality(cmd.Context(), q)
	if err != nil {
		return err
	}
	crossed := 0
	for i := range list {
		if limits.Judge(&list[i], q.To); len(list[i].Crossed) > 0 {
			crossed++
		}
	}
	if list == nil {
		list = []statistics.Feature{}
	}
	if err := f.print(cmd.OutOrStdout(), list, func(out io.Writer) error { return qualityTable(out, list) }); err != nil {
		return err
	}
	if crossed > 0 {
		return fmt.Errorf("%d of %d features cross a threshold", crossed, len(list))
	}
	return nil
}

func qualityTable(out io.Writer, list []statistics.Feature) error {
	if len(list) == 0 {
		fmt.Fprintln(out, "nothing was measured of these hours: each is, some minutes after it has ended")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "FEATURE\tHOURS\tROWS\tNULL\tOUT OF RANGE\tP05\tP50\tP95\tMAX\tPSI\tSKEW\tCROSSED")
	for i := range list {
		f := &list[i]
		psi := make([]string, len(f.PSI))
		for k, d := range f.PSI {
			psi[k] = fmt.Sprintf("%s %.3f", d.Baseline, d.PSI)
		}
		skew := "-"
		if f.Served > 0 {
			skew = fmt.Sprintf("%.2f%%", 100*f.SkewRatio)
		}
		fmt.Fprintf(w, "%s:%s\t%d\t%d\t%.2f%%\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.View, f.Feature, f.Hours, f.Rows, 100*f.NullRatio, f.OutOfRange,
			figure(f.P05), figure(f.P50), figure(f.P95), figure(f.Max), orDash(strings.Join(psi, ", ")), skew, orDash(strings.Join(f.Crossed, ", ")))
	}
	return w.Flush()
}

func figure(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.4g", *x)
}

func featuresBaselineCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "baseline", Short: "Hours that the drift of features is measured against", Args: cobra.NoArgs,
		Example: "  sextant features baseline set training --from 2026-01-01T00:00:00Z --to 2026-01-08T00:00:00Z\n  sextant features baseline list",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(baselineSetCmd(), baselineListCmd(), baselineRemoveCmd())
	return cmd
}

// refusedBaseline is a mistake on the command line where the store refuses what it was asked for.
func refusedBaseline(err error) error {
	if errors.Is(err, clickhouse.ErrBaseline) {
		return exit.Usage(err)
	}
	return err
}

func baselineSetCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Make the values of some hours a baseline, or replace it",
		Long: `set adds up the hours in [from, to), such as those that a model was trained on, and keeps how their values are spread
as the baseline NAME. Hours that were not measured yet are measured first. Other views keep what they had under the name.`,
		Example: "  sextant features baseline set training --from 168h --to 0s --view node_monitoring",
		Args:    cobra.ExactArgs(1),
	}
	from := cmd.Flags().String("from", "", "first hour: RFC 3339 with a zone, or how long ago, as 168h")
	to := cmd.Flags().String("to", "0s", "the hour after the last, likewise")
	view := cmd.Flags().String("view", "", "only this view, or version of it")
	onStore(cmd, func(cmd *cobra.Command, args []string, cfg *Config, db *clickhouse.DB) error {
		if *from == "" {
			return exit.Usage(errors.New("--from is needed"))
		}
		now := time.Now()
		q, err := hoursOf(*from, *to, now)
		if err != nil {
			return exit.Usage(err)
		}
		views, err := viewsOf(cmd.Context(), db, *view)
		if err != nil {
			return err
		}
		q.From, q.To = q.From.Truncate(time.Hour), q.To.Truncate(time.Hour)
		store := db.NewProfileStore(cfg.Pipeline.Lateness.D())
		measured, err := profile.Fill(cmd.Context(), store, views, q.From.UnixMilli(), q.To.UnixMilli(), now.UnixMilli())
		if err != nil {
			return err
		}
		n, err := db.SetBaseline(cmd.Context(), args[0], views, q.From, q.To, whoami())
		if err != nil {
			return refusedBaseline(err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d features from %s to %s; %d hours of views were measured for it\n", args[0], n, text(q.From.UnixMilli()), text(q.To.UnixMilli()), measured)
		return nil
	})
	return cmd
}

func baselineListCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "Print the baselines", Example: "  sextant features baseline list --format json", Args: cobra.NoArgs}
	f := formatFlag(cmd)
	onStore(cmd, func(cmd *cobra.Command, _ []string, _ *Config, db *clickhouse.DB) error {
		list, err := db.Baselines(cmd.Context())
		if err != nil {
			return err
		}
		if list == nil {
			list = []clickhouse.Baseline{}
		}
		return f.print(cmd.OutOrStdout(), list, func(out io.Writer) error {
			w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "BASELINE\tFEATURES\tFROM\tTO\tSET\tBY\tVIEWS")
			for _, b := range list {
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", b.Name, b.Features, text(b.From.UnixMilli()), text(b.To.UnixMilli()), text(b.Set.UnixMilli()), b.Who, strings.Join(b.Views, ", "))
			}
			return w.Flush()
		})
	})
	return cmd
}

func baselineRemoveCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "remove NAME", Short: "Take a baseline away", Example: "  sextant features baseline remove training", Args: cobra.ExactArgs(1)}
	onStore(cmd, func(cmd *cobra.Command, args []string, _ *Config, db *clickhouse.DB) error {
		if err := db.RemoveBaseline(cmd.Context(), args[0], whoami()); err != nil {
			return refusedBaseline(err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), args[0], "is removed")
		return nil
	})
	return cmd
}

// profiling measures the values of features in the background, until its context is done.
type profiling struct {
	store *clickhouse.ProfileStore
	cfg   profile.Config
}

func newProfiling(cfg *Config, views []*features.View, db *clickhouse.DB, log *slog.Logger, reg prometheus.Registerer) *profiling {
	return &profiling{db.NewProfileStore(cfg.Pipeline.Lateness.D()), profile.Config{Views: views, Metrics: profile.NewMetrics(reg), Log: log}}
}

func (p *profiling) run(ctx context.Context) error {
	if err := profile.Run(ctx, p.store, p.cfg); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // the partition went elsewhere
}

// withQuality serves the quality of features beside next.
func withQuality(next *httpserve.Mux, gate *access.Gate, set *features.Set, db *clickhouse.DB, log *slog.Logger) *httpserve.Mux {
	mux := statapi.New(db, statapi.Options{Set: set, Thresholds: defaultThresholds(), Access: gate, Log: log})
	mux.Mount("/", next)
	return mux
}
