package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sextant/internal/clickhouse"
	"sextant/internal/exit"
	"sextant/internal/report"
)

func reportCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Where the hours went: utilization, promises, waste, health",
		Long: `report answers from hours that the pipeline rolls up, so a question about a month costs what its hours
cost and not what its samples cost. Times are now, offsets such as -7d, or RFC 3339 with a zone; a report
is of the whole hours that they touch. docs/reports.md has the meaning, unit and SQL of every column.`,
		Example: `  sextant report utilization --from -7d --group-by tenant
  sextant report sla --from -24h --where tenant=acme --format html --output sla.html
  sextant report waste --from -30d --group-by node_group,model --where simulated=false
  sextant report health --check        # exit status 4 when samples were lost
  sextant report prices set --item device_hour --model H100 --price 2.50 --currency EUR`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, r := range report.Reports {
		cmd.AddCommand(reportOneCmd(r))
	}
	cmd.AddCommand(reportPricesCmd(), reportTargetsCmd(), reportRollCmd())
	return cmd
}

// reportHelp says what each report is good for.
var reportHelp = map[string]struct{ short, example string }{
	"utilization": {"Where the hours of accelerators went", `  sextant report utilization                                  # the last 24 h, by model
  sextant report utilization --from -7d --group-by tenant,queue
  sextant report utilization --from -7d --group-by day --where vendor=nvidia --format csv
  sextant report utilization --from -30d --format html --output july.html`},
	"sla": {"Broken promises, error budgets, waiting and running times", `  sextant report sla --from -7d --group-by tenant
  sextant report sla --question budgets --format json
  sextant report sla --from -1h --check      # exit status 4 when a budget is overdrawn`},
	"waste": {"What was held and idle, free, or stranded, and what it cost", `  sextant report waste --from -7d --group-by tenant
  sextant report waste --question idle_tasks --top 50
  sextant report waste --from 2026-03-01T00:00:00Z --to 2026-04-01T00:00:00Z --where simulated=false`},
	"health": {"Devices in trouble, what became worse, and the data itself", `  sextant report health --from -30d --group-by node
  sextant report health --question regressions
  sextant report health --check              # exit status 4 when samples were lost`},
}

// formats that a report can be printed in.
var formats = []string{"table", "csv", "json", "parquet", "html"}

// reportFlags are those of every report.
type reportFlags struct {
	from, to, groupBy, format, output, question string
	where                                       []string
	top                                         int
	check                                       bool
}

func reportOneCmd(r *report.Report) *cobra.Command {
	help := reportHelp[r.Name]
	var questions []string
	dims := map[string]bool{}
	for _, q := range r.Questions {
		questions = append(questions, fmt.Sprintf("  %-12s %s. %s", q.Name, q.Title, q.Meaning))
		for _, d := range q.Dimensions {
			dims[d] = true
		}
	}
	var known []string
	for d := range dims {
		known = append(known, d)
	}
	slices.Sort(known)
	cmd := &cobra.Command{
		Use:   r.Name,
		Short: help.short,
		Long: help.short + ".\n\nQuestions:\n" + strings.Join(questions, "\n") + "\n\nDimensions to group and filter by: " + strings.Join(known, ", ") +
			".\nA question that cannot be grouped or filtered so is left out.\n\nExit status: 0, 3 when nothing was found, 4 when --check fails, 64 for wrong flags.",
		Example: help.example,
		Args:    cobra.NoArgs,
	}
	var o reportFlags
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "-24h", "begin: now, -7d, -90m or 2026-03-01T00:00:00Z")
	f.StringVar(&o.to, "to", "now", "end, likewise")
	f.StringVar(&o.groupBy, "group-by", "", "dimensions, with commas; default: each question's own")
	f.StringArrayVar(&o.where, "where", nil, "only rows with dimension=value, or dimension=value,value; may be given again")
	f.IntVar(&o.top, "top", 20, "rows of each question, at most")
	f.StringVar(&o.question, "question", "", "only this question; csv and parquet take the first without it")
	f.StringVar(&o.format, "format", "table", strings.Join(formats, ", "))
	f.StringVarP(&o.output, "output", "o", "-", "file, or - for standard output")
	if r.Name == "sla" || r.Name == "health" {
		f.BoolVar(&o.check, "check", false, "exit status 4 when something is not as it should be")
	}
	onStore(cmd, func(cmd *cobra.Command, _ []string, _ *Config, db *clickhouse.DB) error {
		return runReport(cmd.Context(), db, r, o, cmd.OutOrStdout(), time.Now())
	})
	// Wrong flags are told before a store is looked for.
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := o.ask(r, time.Now()); err != nil {
			return exit.Usage(err)
		}
		return run(cmd, args)
	}
	return cmd
}

// ask reads the flags.
func (o reportFlags) ask(r *report.Report, now time.Time) (report.Ask, error) {
	var a report.Ask
	var errs []error
	from, err := report.ParseTime(o.from, now)
	errs = append(errs, named("--from", err))
	to, err := report.ParseTime(o.to, now)
	errs = append(errs, named("--to", err))
	a.Where, err = report.ParseWhere(o.where)
	errs = append(errs, err)
	a.Top, a.Only = o.top, o.question
	if o.top < 1 || o.top > 10_000 {
		errs = append(errs, fmt.Errorf("--top %d: want 1 to 10000", o.top))
	}
	if !slices.Contains(formats, o.format) {
		errs = append(errs, fmt.Errorf("--format %q: want one of %s", o.format, strings.Join(formats, ", ")))
	}
	if o.format == "parquet" && o.output == "-" && isTerminal(os.Stdout) {
		errs = append(errs, errors.New("--format parquet: not to a terminal, want --output FILE"))
	}
	if o.groupBy != "" {
		a.GroupBy = strings.Split(o.groupBy, ",")
	}
	if err := errors.Join(errs...); err != nil {
		return a, err
	}
	if a.From, a.To, err = report.Period(from, to); err != nil {
		return a, err
	}
	if a.Only == "" && (o.format == "csv" || o.format == "parquet") {
		a.Only = r.Questions[0].Name
	}
	_, err = r.Queries(a)
	return a, err
}

func named(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %w", flag, err)
}

// isTerminal reports whether f is one, and no file or pipe.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func runReport(ctx context.Context, db *clickhouse.DB, r *report.Report, o reportFlags, out io.Writer, now time.Time) error {
	a, err := o.ask(r, now)
	if err != nil {
		return exit.Usage(err)
	}
	found, err := report.Make(ctx, db, r, a, now)
	if err != nil {
		return fmt.Errorf("report %s: %w", r.Name, err)
	}
	if err := writeReport(found, o, out); err != nil {
		return err
	}
	if found.Empty() {
		return exit.Empty(fmt.Errorf("nothing from %s to %s: sextant report health --question rollups says which hours there are",
			a.From.Format(time.RFC3339), a.To.Format(time.RFC3339)))
	}
	if o.check {
		return exit.Broken(found.Check())
	}
	return nil
}

// writeReport writes to out, or whole to a file: one that is cut short would look like a report.
func writeReport(found *report.Result, o reportFlags, out io.Writer) error {
	var buf bytes.Buffer
	formats := map[string]func(io.Writer) error{"table": found.Table, "json": found.JSON, "html": found.HTML, "csv": found.Sections[0].CSV, "parquet": found.Sections[0].Parquet}
	if err := formats[o.format](&buf); err != nil {
		return fmt.Errorf("write as %s: %w", o.format, err)
	}
	if o.output == "-" {
		_, err := out.Write(buf.Bytes())
		return err
	}
	return os.WriteFile(o.output, buf.Bytes(), 0o644)
}
