package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sextant/internal/clickhouse"
	"sextant/internal/exit"
	"sextant/internal/report"
	"sextant/pipeline/rollup"
)

var currencies = regexp.MustCompile(`^[A-Z]{3}$`)

func reportPricesCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prices",
		Short: "Print what device hours and energy cost",
		Long: `prices prints the table prices. Of the prices that are valid in an hour the one that says most counts: of
the model, of the vendor, of all; and of those the newest.`,
		Example: `  sextant report prices
  sextant report prices set --item device_hour --price 1.20 --currency EUR
  sextant report prices set --item device_hour --vendor nvidia --model H100 --price 2.50 --currency EUR --valid-from 2026-03-01T00:00:00Z
  sextant report prices set --item kwh --price 0.18 --currency EUR`,
		Args: cobra.NoArgs,
	}
	f := formatFlag(cmd)
	onStore(cmd, func(cmd *cobra.Command, _ []string, _ *Config, db *clickhouse.DB) error {
		list, err := db.Prices(cmd.Context())
		if err != nil {
			return err
		}
		if *f == "json" {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(append([]clickhouse.Price{}, list...))
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "ITEM\tVENDOR\tMODEL\tVALID FROM\tPRICE\tNOTE")
		for _, p := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%g %s\t%s\n", p.Item, orAny(p.Vendor), orAny(p.Model), p.ValidFrom.UTC().Format(time.RFC3339), p.Price, p.Currency, p.Note)
		}
		return w.Flush()
	})
	cmd.AddCommand(pricesSetCmd())
	return cmd
}

// orAny shows what stands for all.
func orAny(s string) string {
	if s == "" {
		return "any"
	}
	return s
}

func pricesSetCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "set", Short: "Set a price from a time on", Args: cobra.NoArgs,
		Example: "  sextant report prices set --item kwh --price 0.18 --currency EUR --valid-from -30d",
	}
	var p clickhouse.Price
	f := cmd.Flags()
	f.StringVar(&p.Item, "item", "", "device_hour: an hour of a whole device; kwh: a kilowatt-hour at the device")
	f.StringVar(&p.Vendor, "vendor", "", "of this vendor, as the inventory names it; empty: any")
	f.StringVar(&p.Model, "model", "", "of this model; empty: any")
	f.Float64Var(&p.Price, "price", 0, "in the currency")
	f.StringVar(&p.Currency, "currency", "", "such as EUR; one for all prices")
	f.StringVar(&p.Note, "note", "", "such as where it is from")
	from := f.String("valid-from", "now", "from when on: now, -30d or RFC 3339")
	onStore(cmd, func(cmd *cobra.Command, _ []string, _ *Config, db *clickhouse.DB) error {
		var errs []error
		var err error
		if p.ValidFrom, err = report.ParseTime(*from, time.Now()); err != nil {
			errs = append(errs, named("--valid-from", err))
		}
		if p.Item != "device_hour" && p.Item != "kwh" {
			errs = append(errs, fmt.Errorf("--item %q: want device_hour or kwh", p.Item))
		}
		if !(p.Price >= 0) || math.IsInf(p.Price, 0) || !cmd.Flags().Changed("price") {
			errs = append(errs, errors.New("--price: want a number, 0 or more"))
		}
		if !currencies.MatchString(p.Currency) {
			errs = append(errs, fmt.Errorf("--currency %q: want three letters such as EUR", p.Currency))
		}
		if err := errors.Join(errs...); err != nil {
			return exit.Usage(err)
		}
		have, err := db.Currency(cmd.Context())
		if err != nil {
			return err
		}
		if have != "" && have != p.Currency {
			return exit.Usage(fmt.Errorf("--currency %s: the other prices are in %s, and costs are added up", p.Currency, have))
		}
		return db.SetPrice(cmd.Context(), p)
	})
	return cmd
}

func reportTargetsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "targets",
		Short: "Print which share of promises is to be kept",
		Long: `targets prints the table slo_targets: service level objectives by tenant and queue. Of those that are valid
the one that says most counts. Without one it is 99 %.`,
		Example: "  sextant report targets\n  sextant report targets set --tenant acme --target 0.995",
		Args:    cobra.NoArgs,
	}
	f := formatFlag(cmd)
	onStore(cmd, func(cmd *cobra.Command, _ []string, _ *Config, db *clickhouse.DB) error {
		list, err := db.Targets(cmd.Context())
		if err != nil {
			return err
		}
		if *f == "json" {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(append([]clickhouse.Target{}, list...))
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "TENANT\tQUEUE\tVALID FROM\tTARGET\tNOTE")
		for _, t := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%g\t%s\n", orAny(t.Tenant), orAny(t.Queue), t.ValidFrom.UTC().Format(time.RFC3339), t.Target, t.Note)
		}
		return w.Flush()
	})
	cmd.AddCommand(targetsSetCmd())
	return cmd
}

func targetsSetCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "set", Short: "Set a target from a time on", Args: cobra.NoArgs,
		Example: "  sextant report targets set --queue serving --target 0.999",
	}
	var t clickhouse.Target
	f := cmd.Flags()
	f.StringVar(&t.Tenant, "tenant", "", "of this tenant; empty: any")
	f.StringVar(&t.Queue, "queue", "", "of this queue; empty: any")
	f.Float64Var(&t.Target, "target", 0, "share of promises to keep, above 0 and below 1")
	f.StringVar(&t.Note, "note", "", "such as who agreed to it")
	from := f.String("valid-from", "now", "from when on: now, -30d or RFC 3339")
	onStore(cmd, func(cmd *cobra.Command, _ []string, _ *Config, db *clickhouse.DB) error {
		var err error
		if t.ValidFrom, err = report.ParseTime(*from, time.Now()); err != nil {
			return exit.Usage(named("--valid-from", err))
		}
		if !(t.Target > 0 && t.Target < 1) {
			return exit.Usage(fmt.Errorf("--target %g: want a share above 0 and below 1, such as 0.99", t.Target))
		}
		return db.SetTarget(cmd.Context(), t)
	})
	return cmd
}

func reportRollCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "roll",
		Short: "Compute the hours of reports again",
		Long: `roll computes the hours of a time from what the store holds, as the pipeline does by itself for the hour that
lasts and for hours of which rows came late. It is needed after a backfill of old hours. It may run beside a pipeline, and
again.`,
		Example: "  sextant report roll --from -2d\n  sextant report roll --from 2026-03-01T00:00:00Z --to 2026-03-08T00:00:00Z",
		Args:    cobra.NoArgs,
	}
	from := cmd.Flags().String("from", "-24h", "begin: now, -7d, -90m or 2026-03-01T00:00:00Z")
	to := cmd.Flags().String("to", "now", "end, likewise")
	onStore(cmd, func(cmd *cobra.Command, _ []string, _ *Config, db *clickhouse.DB) error {
		now := time.Now()
		begin, err := report.ParseTime(*from, now)
		end, err2 := report.ParseTime(*to, now)
		if err := errors.Join(named("--from", err), named("--to", err2)); err != nil {
			return exit.Usage(err)
		}
		if begin, end, err = report.Period(begin, end); err != nil {
			return exit.Usage(err)
		}
		hours := 0
		store := db.NewRollupStore()
		for at := begin; at.Before(end) && at.Before(now); at = at.Add(time.Hour) {
			if err := store.Roll(cmd.Context(), rollup.HourAt(at.UnixMilli(), now, rollup.Defaults().Settle)); err != nil {
				return err
			}
			hours++
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%d hours computed in %v\n", hours, time.Since(now).Round(time.Millisecond))
		return nil
	})
	return cmd
}
