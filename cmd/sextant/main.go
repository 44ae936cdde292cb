// Sextant's server side and command line: the pipeline, the feature API, set-up, and a
// demo that runs the whole line in one process.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"sextant/internal/exit"
	"sextant/internal/health"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	err = interrupted(ctx, err)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sextant:", err)
		os.Exit(exit.Status(err))
	}
}

// interrupted replaces the errors that a Ctrl-C makes of whatever it cuts off. They name
// steps that did not fail.
func interrupted(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && (errors.Is(err, cause) || errors.Is(err, context.Canceled)) {
		return errors.New("stopped before it was done")
	}
	return err
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sextant",
		Short: "Telemetry of a cluster's processors, as features for placing work",
		Long: `Sextant turns 10-second telemetry of every CPU, GPU, NPU and DPU of a cluster into
features for placing work. The agent on each node is sextant-agent; this program is
everything behind Kafka.`,
		Example: `  sextant demo                      # the whole line on this host, nothing else needed
  sextant setup --config s.yaml     # topics, tables and views
  sextant pipeline --config s.yaml  # Kafka → features → ClickHouse
  sextant serve --config s.yaml     # the feature API
  sextant ingest --config s.yaml    # task events over HTTP
  sextant watch kubernetes          # task events of a Kubernetes cluster
  sextant report utilization        # where the hours of accelerators went`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.CompletionOptions.HiddenDefaultCmd = true
	cmd.AddCommand(demoCmd(), setupCmd(), topicsCmd(), migrateCmd(), pipelineCmd(), serveCmd(),
		ingestCmd(), watchCmd(), tasksCmd(), featuresCmd(), reportCmd(), ledgerCmd(), inventoryCmd(), simulateCmd(), embeddedCmd(), fetchCmd(), benchCmd(),
		health.Command("sextant", "http://"+defaultConfig().Pipeline.Listen), versionCmd())
	exit.Strict(cmd)
	return cmd
}
