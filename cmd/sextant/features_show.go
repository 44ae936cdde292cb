package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/features/registry"
	"sextant/internal/clickhouse"
	"sextant/internal/exit"
)

func featuresDiffCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff [REF [REF]]",
		Short: "Compare files with what is in force, or two versions",
		Long: `Without arguments diff compares every definition with the one in force. With one REF, like node_static@v1 or
node_basics@v1, it compares that one; with two, the first with the second, each as it is in force, or in the files
where it is not. Exit status 2 says that they differ.`,
		Example: "  sextant features diff --config sextant.yaml\n  sextant features diff node_static@v1 node_static@v2",
		Args:    cobra.MaximumNArgs(2),
	}
	f := formatFlag(cmd)
	onStore(cmd, func(cmd *cobra.Command, args []string, cfg *Config, db *clickhouse.DB) error {
		files, err := cfg.definitions()
		if err != nil {
			return err
		}
		state, err := db.Registry(cmd.Context())
		if err != nil {
			return err
		}
		items := state.Plan(files, false).Items
		switch len(args) {
		case 1:
			items, err = diffOf(state.Active, files, args[0], args[0])
		case 2:
			items, err = diffOf(either(files, state.Active), either(files, state.Active), args[0], args[1])
		}
		if err != nil {
			return err
		}
		p := &registry.Plan{Items: items}
		if err := f.print(cmd.OutOrStdout(), p, func(out io.Writer) error { return printPlan(out, p) }); err != nil {
			return err
		}
		if n := len(items); n > 0 {
			return exit.Changes(fmt.Errorf("%d definitions differ", n))
		}
		return nil
	})
	return cmd
}

// either holds the definitions of two sets, where those of the second are found first.
func either(a, b *features.Set) *features.Set {
	return &features.Set{Views: slices.Concat(a.Views, b.Views), Services: slices.Concat(a.Services, b.Services)}
}

// diffOf lists what "to" of b changes in "from" of a: two views, or two services.
func diffOf(a, b *features.Set, from, to string) ([]registry.Item, error) {
	item := registry.Item{Action: registry.Update, Kind: registry.View, Ref: to}
	if from != to {
		item.Note = "against " + from
	}
	v, isView := a.View(from)
	w, areViews := b.View(to)
	x, isService := a.Service(from)
	y, areServices := b.Service(to)
	switch {
	case isView && areViews:
		item.Changes = registry.DiffViews(v, w)
	case isService && areServices:
		item.Kind, item.Changes = registry.Service, registry.DiffServices(x, y)
	case from == to:
		return nil, exit.Usage(fmt.Errorf("%s is not both in force and in the files", from))
	default:
		return nil, exit.Usage(fmt.Errorf("%s and %s are no two views and no two services", from, to))
	}
	if len(item.Changes) == 0 {
		return nil, nil
	}
	return []registry.Item{item}, nil
}

func featuresShowCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show REF",
		Short: "Print one view, feature or service",
		Long: `show prints the definition of a view (node_static, node_static@v1), a feature (node_static:cpu_count) or a service, with
expression, unit, range, table, what computes it and how far back it looks. --history adds when it was applied, retired and
restored, and by whom, from ClickHouse.`,
		Example: "  sextant features show node_monitoring:load_per_core_1m\n  sextant features show node_basics --history",
		Args:    cobra.ExactArgs(1),
	}
	load := configFlag(cmd)
	f := formatFlag(cmd)
	history := cmd.Flags().Bool("history", false, "also print its history")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		set, err := cfg.definitions()
		if err != nil {
			return err
		}
		s, err := shownOf(set, args[0])
		if err != nil {
			return err
		}
		if *history {
			if s.History, err = historyOf(cmd.Context(), cfg, s.Name); err != nil {
				return err
			}
		}
		return f.print(cmd.OutOrStdout(), s, s.table)
	}
	return cmd
}

func historyOf(ctx context.Context, cfg *Config, name string) ([]registry.Record, error) {
	db, err := clickhouse.Open(ctx, cfg.ClickHouse, cfg.logger(), nil)
	if err != nil {
		return nil, fmt.Errorf("clickhouse: %w", err)
	}
	list, err := db.FeatureHistory(ctx, name)
	return list, errors.Join(err, db.Close())
}

// shownDefinition is a view, a part of one, or a service, as features show prints it.
type shownDefinition struct {
	Kind        string            `json:"kind"`
	Ref         string            `json:"ref"`
	Name        string            `json:"name"`
	Hash        string            `json:"hash"`
	Entity      string            `json:"entity,omitempty"`
	Keys        []string          `json:"keys"`
	Tier        string            `json:"tier,omitempty"`
	Interval    string            `json:"interval,omitempty"`
	TTL         string            `json:"ttl,omitempty"`
	Owner       string            `json:"owner"`
	Table       string            `json:"table,omitempty"`
	Description string            `json:"description"`
	SQL         string            `json:"sql,omitempty"` // computes all features
	Features    []listed          `json:"features"`
	History     []registry.Record `json:"history,omitempty"`
}

func shownOf(set *features.Set, ref string) (*shownDefinition, error) {
	rows, err := listOf(set)
	if err != nil {
		return nil, err
	}
	view, feature, one := strings.Cut(ref, ":")
	if x, ok := set.Service(ref); ok {
		s := &shownDefinition{Kind: registry.Service, Ref: x.Ref(), Name: x.Name, Hash: x.Hash(), Keys: x.Keys, Owner: x.Owner, Description: x.Description}
		for _, c := range x.Columns {
			s.Features = append(s.Features, rows[c.Ref()])
		}
		return s, nil
	}
	v, ok := set.View(view)
	if !ok {
		return nil, exit.Usage(fmt.Errorf("no view or service is called %s", view))
	}
	s := &shownDefinition{Kind: registry.View, Ref: v.Ref(), Name: v.Name, Hash: v.Hash(), Entity: v.Entity, Keys: v.Keys, Tier: v.Tier,
		Interval: v.Interval.String(), TTL: v.TTL.String(), Owner: v.Owner, Table: v.Table(), Description: v.Description, SQL: v.SQL}
	for i := range v.Features {
		if name := v.Features[i].Name; !one || name == feature {
			s.Features = append(s.Features, rows[v.Ref()+":"+name])
		}
	}
	if len(s.Features) == 0 {
		return nil, exit.Usage(fmt.Errorf("view %s has no feature %s", v.Ref(), feature))
	}
	return s, nil
}

func (s *shownDefinition) table(out io.Writer) error {
	fmt.Fprintf(out, "%s %s\n  %s\n", s.Kind, s.Ref, s.Description)
	for _, line := range [][2]string{{"entity", s.Entity}, {"keys", strings.Join(s.Keys, ", ")}, {"tier", s.Tier}, {"interval", s.Interval},
		{"ttl", s.TTL}, {"owner", s.Owner}, {"table", s.Table}, {"hash", s.Hash[:12]}} {
		if line[1] != "" {
			fmt.Fprintf(out, "  %-9s %s\n", line[0], line[1])
		}
	}
	if s.SQL != "" {
		fmt.Fprintf(out, "\n%s\n", strings.TrimSpace(s.SQL))
	}
	for i, f := range s.Features {
		fmt.Fprintf(out, "\n%d  %s  %s %s  range %s  looks back %s  %s\n", i, f.Ref, f.DType, f.Unit, f.Range, f.Window, f.computed())
		fmt.Fprintf(out, "   %s\n", f.Description)
		if f.Expr == "" {
			continue
		}
		fmt.Fprintf(out, "     %s\n", strings.ReplaceAll(f.Expr, "\n", "\n     "))
	}
	if len(s.History) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "AT\tVERSION\tEVENT\tWHO\tHASH")
	for _, r := range s.History {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.At.UTC().Format(time.DateTime), r.Ref(), r.Event, r.Who, r.Hash[:min(12, len(r.Hash))])
	}
	return w.Flush()
}
