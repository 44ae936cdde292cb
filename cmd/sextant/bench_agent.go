package main

import (
	"github.com/spf13/cobra"

	"sextant/internal/bench/agent"
)

func agentBenchCmd() *cobra.Command {
	var opts agent.Options
	var nodes int
	c := &cobra.Command{
		Use: "agent", Short: "The agent beside vmagent, Prometheus, Telegraf and the OpenTelemetry collector, built from their sources",
		Long: `agent scrapes the pages of one node (node_exporter, dcgm-exporter, cAdvisor) with every agent at
once, and the pages of --nodes with one after the other. Each costs CPU time and memory, and what it
delivered is taken apart and compared with what the pages had: "all" means each sample once.

The peers are built into the cache once, from Go modules, which takes about half an hour on two cores. One
that cannot be built is named, and the others are measured. vmagent and Prometheus send to an HTTP
server and pay for no Kafka producer: beside those that do they are not like for like.`,
		Example: "  sextant bench agent\n  sextant bench agent --rounds 3 --intervals 12\n  sextant bench agent --only sextant,vmagent --nodes 10",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Workloads = agent.Workloads(nodes)
			r, err := agent.Run(cmd.Context(), opts, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return r.Print(cmd.OutOrStdout())
		},
	}
	f := c.Flags()
	f.IntVar(&nodes, "nodes", 50, "nodes whose pages one agent scrapes")
	f.DurationVar(&opts.Interval, "interval", 0, "between scrapes (default 10s)")
	f.IntVar(&opts.Warm, "warm", 0, "intervals before the measurement (default 2)")
	f.IntVar(&opts.Intervals, "intervals", 0, "intervals measured, twice as many of one node (default 3)")
	f.IntVar(&opts.Rounds, "rounds", 1, "how often all is measured; medians are printed")
	f.BoolVar(&opts.Gzip, "gzip", true, "the pages answer gzip, as promhttp does")
	f.StringSliceVar(&opts.Only, "only", nil, `parts of the names of agents; "alone", "scrape" and "write 1" have rows that are not shown without`)
	return c
}
