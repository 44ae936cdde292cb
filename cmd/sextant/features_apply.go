package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/features/registry"
	"sextant/internal/clickhouse"
	"sextant/internal/exit"
)

// applying says how definitions are applied.
type applying struct {
	who     string
	replace bool // change in place what needs a new version
}

// applyDefinitions brings the schema and the registry to the definitions of files.
func applyDefinitions(ctx context.Context, db *clickhouse.DB, files *features.Set, o applying) (*registry.Plan, error) {
	if err := db.Migrate(ctx); err != nil {
		return nil, err
	}
	state, err := db.Registry(ctx)
	if err != nil {
		return nil, err
	}
	p := state.Plan(files, o.replace)
	if err := p.Refused(); err != nil {
		return p, exit.Config(err)
	}
	return p, db.Apply(ctx, p, o.who, time.Now())
}

// inForce is what a program runs: all that is applied and not retired. Where files say more
// than that, their rows would have no place, or their numbers another meaning: it says so
// once, and waits until they are applied or ctx is done. Programs may start in any order.
func inForce(ctx context.Context, db *clickhouse.DB, files *features.Set, log *slog.Logger) (*features.Set, error) {
	for said := false; ; said = true {
		set, err := applied(ctx, db, files)
		if err == nil {
			logKept(set, files, log)
			return set, nil
		}
		if !said && ctx.Err() == nil {
			log.Warn("not ready: waiting for the feature definitions", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(2 * time.Second):
		}
	}
}

// applied is what is in force now, if it has all of files.
func applied(ctx context.Context, db *clickhouse.DB, files *features.Set) (*features.Set, error) {
	state, err := db.Registry(ctx)
	if err != nil {
		return nil, err
	}
	return state.Active, state.Missing(files)
}

func logKept(active, files *features.Set, log *slog.Logger) {
	for _, v := range active.Views {
		if _, ok := files.View(v.Ref()); !ok {
			log.Info("feature view is in force and in no file here", "view", v.Ref())
		}
	}
}

// whoami names the user and the host in the history.
func whoami() string {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}

// onStore gives cmd --config and runs f with the configuration and an open store.
func onStore(cmd *cobra.Command, f func(cmd *cobra.Command, args []string, cfg *Config, db *clickhouse.DB) error) {
	load := configFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		db, err := clickhouse.Open(cmd.Context(), cfg.ClickHouse, cfg.logger(), nil)
		if err != nil {
			return fmt.Errorf("clickhouse: %w", err)
		}
		return errors.Join(f(cmd, args, cfg, db), db.Close())
	}
}

// formatFlag adds --format to cmd.
func formatFlag(cmd *cobra.Command) *format {
	f := format("table")
	cmd.Flags().Var(&f, "format", "table or json")
	return &f
}

// format is how an answer is written: table or json.
type format string

func (f *format) String() string { return string(*f) }
func (f *format) Type() string   { return "format" }
func (f *format) Set(s string) error {
	if s != "table" && s != "json" {
		return fmt.Errorf("%q is neither table nor json", s)
	}
	*f = format(s)
	return nil
}

// print writes x as JSON, or lets table write it.
func (f *format) print(out io.Writer, x any, table func(io.Writer) error) error {
	if *f == "table" {
		return table(out)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(x)
}

func featuresPlanCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say what apply would change, and what computes each feature",
		Long: `plan compares the definitions with those in force in ClickHouse. A change that would give rows or
vectors another meaning needs a new version and is refused. Exit status 0 says that there is nothing
to apply, 2 that there is, 78 that something is refused.`,
		Example: "  sextant features plan --config sextant.yaml\n  sextant features plan --format json",
		Args:    cobra.NoArgs,
	}
	f := formatFlag(cmd)
	onStore(cmd, func(cmd *cobra.Command, _ []string, cfg *Config, db *clickhouse.DB) error {
		files, err := cfg.definitions()
		if err != nil {
			return err
		}
		paths, err := pathsOf(files.Views)
		if err != nil {
			return exit.Config(err)
		}
		state, err := db.Registry(cmd.Context())
		if err != nil {
			return err
		}
		p := state.Plan(files, false)
		answer := planned{Plan: p, Engine: byEngine(files, paths), Compiled: compiledOf(paths), Panes: long(paths)}
		if err := f.print(cmd.OutOrStdout(), answer, answer.table); err != nil {
			return err
		}
		return planStatus(p)
	})
	return cmd
}

// planStatus is the exit status of a plan.
func planStatus(p *registry.Plan) error {
	if err := p.Refused(); err != nil {
		return exit.Config(err)
	}
	if n := p.Pending(); n > 0 {
		return exit.Changes(fmt.Errorf("%d definitions are not applied yet", n))
	}
	return nil
}

func featuresApplyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Make the definitions the ones in force",
		Long: `apply creates the tables and columns that the definitions need and records each in the history, with who
and when. A view whose expression changed needs a new version; the old one is evaluated beside it until
'sextant features retire'. setup and migrate apply too.`,
		Example: "  sextant features apply --config sextant.yaml --as release-12",
		Args:    cobra.NoArgs,
	}
	f := formatFlag(cmd)
	who := cmd.Flags().String("as", whoami(), "who is named in the history")
	replace := cmd.Flags().Bool("replace", false, "change in place what needs a new version: rows before and after mean different things")
	onStore(cmd, func(cmd *cobra.Command, _ []string, cfg *Config, db *clickhouse.DB) error {
		files, err := cfg.definitions()
		if err != nil {
			return err
		}
		if _, err := pathsOf(files.Views); err != nil {
			return exit.Config(err)
		}
		p, err := applyDefinitions(cmd.Context(), db, files, applying{who: *who, replace: *replace})
		if err != nil {
			return err
		}
		return f.print(cmd.OutOrStdout(), p, func(out io.Writer) error { return printPlan(out, p) })
	})
	return cmd
}

func featuresRetireCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retire REF",
		Short: "Take a version of a view or service out of force",
		Long: `retire ends the evaluation of a view's version, or the serving of a service's, when the pipeline and the API
start next. Its rows and its history stay, and files that still hold it do not bring it back: --undo does. A view that a
service in force reads cannot be retired.`,
		Example: "  sextant features retire node_static@v1\n  sextant features retire --undo node_static@v1",
		Args:    cobra.ExactArgs(1),
	}
	who := cmd.Flags().String("as", whoami(), "who is named in the history")
	undo := cmd.Flags().Bool("undo", false, "put it in force again")
	onStore(cmd, func(cmd *cobra.Command, args []string, _ *Config, db *clickhouse.DB) error {
		state, err := db.Registry(cmd.Context())
		if err != nil {
			return err
		}
		change := state.Retire
		if *undo {
			change = state.Restore
		}
		r, err := change(args[0])
		if err != nil {
			return err
		}
		if err := db.Record(cmd.Context(), []registry.Record{r}, *who, time.Now()); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s is %s; pipelines and APIs take it up when they start\n", r.Kind, r.Ref(), r.Event)
		return nil
	})
	return cmd
}
