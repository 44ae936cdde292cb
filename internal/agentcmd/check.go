package agentcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sextant/collectors"
	"sextant/internal/exit"
)

func checkCommand(f *flags, out, errOut io.Writer) *cobra.Command {
	var noScrape, asJSON bool
	c := &cobra.Command{
		Use: "check [FILE]", Short: "Check the configuration, and show the targets and metrics that it collects", Args: cobra.MaximumNArgs(1),
		Long: `Check reads the configuration and reports every fault with file, line and key. Then it
collects once, with the agent's own scrape loop, and prints each target with its state and
the metrics by job, with the number of their series. Nothing is kept or sent.

Exit status 0: all is well. 78: the configuration has faults. 1: it has none, but a target
did not answer. --no-scrape asks nobody: static targets are shown as the file has them, and
those of service discovery not at all.`,
		Example: "  sextant-agent check /etc/sextant/agent.yaml\n  sextant-agent check --no-scrape agent.yaml\n  sextant-agent check --json agent.yaml | jq '.targets[].labels.instance'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.config = args[0]
			}
			cfg, err := f.load()
			if err != nil {
				return fmt.Errorf("the configuration is not usable\n%w", err)
			}
			log, err := logger(errOut, f.logLevel, f.logFormat)
			if err != nil {
				return err
			}
			p, err := collectors.Check(cmd.Context(), cfg, !noScrape, log)
			if err != nil {
				return exit.Config(err)
			}
			if err := printPlan(out, p, asJSON); err != nil {
				return err
			}
			if n := p.Failed(); n > 0 {
				return fmt.Errorf("the configuration is valid, but %d of %s did not answer", n, number(len(p.Targets), "target"))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&noScrape, "no-scrape", false, "only check the configuration; read no target")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printPlan(w io.Writer, p *collectors.Plan, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(p)
	}
	fmt.Fprintf(w, "ok: node %s, every %s, to kafka %s, spool %s\n", p.Node, p.Interval, p.Kafka, p.Spool)
	fmt.Fprintf(w, "collectors: %s\n", switches(p.Own))
	if p.Receive != "" {
		fmt.Fprintf(w, "remote-write is received on %s\n", p.Receive)
	}
	if len(p.Later) > 0 {
		fmt.Fprintf(w, "service discovery names targets of: %s\n", strings.Join(p.Later, ", "))
	}
	fmt.Fprintf(w, "\n%s\n", number(len(p.Targets), "target"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, x := range p.Targets {
		fmt.Fprintf(t, "  %s\t%s\t%d series\tevery %s\t%s\t%s\t%s\n", x.Job, x.State, x.Series, x.Interval, x.URL, labelText(x.Labels), x.Error)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	printMetrics(w, p)
	return nil
}

// number is a count with its noun.
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func switches(own map[string]bool) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(own)) {
		state := "off"
		if own[name] {
			state = "on"
		}
		out = append(out, name+" "+state)
	}
	return strings.Join(out, ", ")
}

// labelText is the labels of a target but its job.
func labelText(labels map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if name != "job" {
			out = append(out, fmt.Sprintf("%s=%q", name, labels[name]))
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

// printMetrics prints the metrics of each job with their series, over all of its targets.
func printMetrics(w io.Writer, p *collectors.Plan) {
	jobs := map[string]map[string]int{}
	for _, t := range p.Targets {
		for name, n := range t.Metrics {
			if jobs[t.Job] == nil {
				jobs[t.Job] = map[string]int{}
			}
			jobs[t.Job][name] += n
		}
	}
	for _, job := range slices.Sorted(maps.Keys(jobs)) {
		sum := 0
		for _, n := range jobs[job] {
			sum += n
		}
		fmt.Fprintf(w, "\njob %s: %s, %d series\n", job, number(len(jobs[job]), "metric"), sum)
		for _, name := range slices.Sorted(maps.Keys(jobs[job])) {
			fmt.Fprintf(w, "  %6d  %s\n", jobs[job][name], name)
		}
	}
}
