package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sextant/features/lineage"
	"sextant/internal/exit"
	"sextant/schema/catalog"
)

func featuresLineageCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lineage [VIEW:FEATURE]",
		Short: "Where a feature comes from and who reads it, from a vendor's metric to the model",
		Long: `lineage follows a feature to the canonical metrics that its PromQL selects, or that the features and tables in its SQL
lead to, and on to the metrics of each exporter; and to the services that read it. --metric starts from a canonical metric,
--service from a service. It is worked out from the definitions in the configuration, and needs no store.`,
		Example: `  sextant features lineage node_accelerators:devices_idle
  sextant features lineage --metric accel_power_watts
  sextant features lineage --service node_state --json`,
		Args: cobra.MaximumNArgs(1),
	}
	load, f := configFlag(cmd), formatFlag(cmd)
	metric := cmd.Flags().String("metric", "", "a canonical metric")
	service := cmd.Flags().String("service", "", "a service: its newest version, or NAME@vN")
	asJSON := cmd.Flags().Bool("json", false, "the same as --format json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		given := slices.DeleteFunc([]string{*metric, *service, strings.Join(args, "")}, func(s string) bool { return s == "" })
		if len(given) != 1 {
			return exit.Usage(errors.New("want one of VIEW:FEATURE, --metric and --service"))
		}
		cfg, err := load()
		if err != nil {
			return err
		}
		set, err := cfg.definitions()
		if err != nil {
			return err
		}
		if *asJSON {
			*f = "json"
		}
		g := lineage.New(set, catalog.Default(), lookback)
		answer, table, err := lineageOf(g, *metric, *service, args)
		if missing := (*lineage.Unknown)(nil); errors.As(err, &missing) {
			return exit.Usage(err)
		}
		if err != nil {
			return err
		}
		return f.print(cmd.OutOrStdout(), answer, table)
	}
	return cmd
}

// lineageOf is the answer, and how it is written as a table.
func lineageOf(g *lineage.Graph, metric, service string, args []string) (any, func(io.Writer) error, error) {
	switch {
	case metric != "":
		m, err := g.Metric(metric)
		return m, func(out io.Writer) error { return printMetricLineage(out, m) }, err
	case service != "":
		s, err := g.Service(service)
		return s, func(out io.Writer) error { return printServiceLineage(out, s) }, err
	}
	f, err := g.Feature(args[0])
	return f, func(out io.Writer) error { return printFeatureLineage(out, f) }, err
}

func printFeatureLineage(out io.Writer, f *lineage.Feature) error {
	fmt.Fprintf(out, "%s  (%s)\n", f.Ref, f.Kind)
	if f.Kind == lineage.KindPromQL {
		fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(strings.TrimSpace(f.Expression), "\n", "\n  "))
	}
	for _, t := range f.Tables {
		fmt.Fprintf(out, "  reads %s%s\n", t.Name, tableNote(t))
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	if len(f.Reads) > 0 {
		fmt.Fprintln(w, "\nMETRIC\tREAD AS\tEXPORTER\tEXPOSED AS\tHOW")
	}
	for _, r := range f.Reads {
		printRead(w, r)
	}
	if len(f.Services) > 0 {
		fmt.Fprintln(w, "\nSERVICE\tPLACE\tTHROUGH\tMODEL\t")
	}
	for _, s := range f.Services {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t\n", s.Service, s.Place, orDash(s.Through), orDash(s.Model))
	}
	return w.Flush()
}

func tableNote(t lineage.Table) string {
	switch {
	case t.View != "":
		return fmt.Sprintf(" (%s: %s)", t.View, strings.Join(t.Features, ", "))
	case t.Through != "":
		return " (through " + t.Through + ")"
	}
	return ""
}

// printRead writes one line for each origin of a metric, its name and its selectors on the
// first ones.
func printRead(w io.Writer, r lineage.Read) {
	readAs := r.Through
	for _, s := range r.Selectors {
		readAs = append(readAs, s.Text)
	}
	metric := r.Metric
	for i := range max(1, len(readAs), len(r.Origins)) {
		var as string
		exporter, exposed, how := "-", "-", "no exporter of the catalogue has it"
		if i < len(readAs) {
			as = readAs[i]
		}
		if i < len(r.Origins) {
			o := r.Origins[i]
			exporter, exposed, how = o.Exporter, orDash(o.Metric), o.Way
			if o.Convert != "" {
				how += ", " + o.Convert
			}
		} else if i > 0 {
			exporter, exposed, how = "", "", ""
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", metric, as, exporter, exposed, how)
		metric = ""
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func printMetricLineage(out io.Writer, m *lineage.Metric) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "METRIC\tREAD AS\tEXPORTER\tEXPOSED AS\tHOW")
	printRead(w, lineage.Read{Metric: m.Name, Origins: m.Origins})
	fmt.Fprintln(w, "\nFEATURE\tKIND\tSERVICES\t\t")
	for _, f := range m.Features {
		fmt.Fprintf(w, "%s\t%s\t%s\t\t\n", f.Ref, f.Kind, orDash(strings.Join(servicesOf(f), ", ")))
	}
	return w.Flush()
}

func servicesOf(f lineage.Feature) []string {
	var names []string
	for _, s := range f.Services {
		if !slices.Contains(names, s.Service) {
			names = append(names, s.Service)
		}
	}
	return names
}

func printServiceLineage(out io.Writer, s *lineage.Service) error {
	fmt.Fprintf(out, "%s, model %s\n", s.Ref, orDash(s.Model))
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "PLACE\tFEATURE\tKIND\tMETRICS")
	for i, f := range s.Features {
		var names []string
		for _, r := range f.Reads {
			names = append(names, r.Metric)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", i, f.Ref, f.Kind, orDash(strings.Join(names, ", ")))
	}
	return w.Flush()
}
