package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"sextant/collectors"
	"sextant/collectors/telegraf"
	"sextant/features"
	"sextant/internal/clickhouse"
	"sextant/internal/config"
	"sextant/internal/exit"
)

// demoOptions are the flags of sextant demo.
type demoOptions struct {
	dir         string
	duration    time.Duration
	listen      string
	clickhouse  string
	agentConfig string
	simulate    int
}

func demoCmd() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the whole line in this process, on this host's own telemetry",
		Long: `demo starts a Kafka-protocol broker, the ClickHouse engine, the agent, the pipeline and the
feature API in one process, all on loopback. The agent reads this host's kernel every 10
seconds; the first features are served within half a minute. Beside it runs a simulated cluster
of five vendors' accelerators, whose series all carry simulated="true". The data stays in --dir,
and a second start continues from it. Ctrl-C stops.`,
		Example: `  sextant demo
  sextant demo --duration 60s                 # exit status 0 when a feature was served
  sextant demo --simulate 0                   # this host alone
  sextant demo --agent-config exporters.yaml  # scrape your own exporters too`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", filepath.Join("data", "demo"), "data directory")
	f.DurationVar(&o.duration, "duration", 0, "stop after this long; 0 runs until Ctrl-C")
	f.StringVar(&o.listen, "listen", "127.0.0.1:6566", "address of the feature API")
	f.StringVar(&o.clickhouse, "clickhouse", "127.0.0.1:18123", "address of ClickHouse's HTTP interface")
	f.StringVar(&o.agentConfig, "agent-config", "", "agent configuration with further scrape_configs")
	f.IntVar(&o.simulate, "simulate", demoNodes, "simulated nodes beside this host, all labelled simulated=\"true\"; 0: none")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.simulate < 0 || o.simulate > maxDemoNodes {
			return exit.Usage(fmt.Errorf("--simulate %d: want 0 to %d", o.simulate, maxDemoNodes))
		}
		return demo(cmd.Context(), o, cmd.OutOrStdout())
	}
	return cmd
}

// demo runs the line until ctx ends or the duration is over. It fails when a part fails,
// and when time is over and no feature was served.
func demo(ctx context.Context, o demoOptions, out io.Writer) error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	screen := newScreen(out)
	defer screen.Close()
	log, closeLog, err := demoLog(filepath.Join(o.dir, "sextant.log"), screen)
	if err != nil {
		return err
	}
	defer func() { _ = closeLog() }() // the last line is written by then
	reg := newRegistry()
	began := time.Now()

	cfg := defaultConfig()
	cfg.Serve.Listen = o.listen
	cfg.Pipeline.Lateness = config.Duration(2 * time.Second) // one host, one clock
	cfg.Serve.Snapshot.Settle = config.Duration(4 * time.Second)
	api, err := listenAPI(cfg, log)
	if err != nil {
		return fmt.Errorf("%w (choose another with --listen)", err)
	}
	screen.Print("starting broker and ClickHouse, data in %s", o.dir)
	parts, err := startEmbedded(ctx, embeddedConfig{dir: o.dir, kafka: "127.0.0.1:0", clickhouse: o.clickhouse, group: cfg.Pipeline.Group}, screen, log, reg)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w (choose another with --clickhouse)", err)
	}
	if err != nil {
		return err
	}
	defer parts.Close()
	cfg.Kafka.Brokers = []string{parts.broker.Addr()}
	cfg.ClickHouse.Addr, cfg.ClickHouse.Protocol = []string{parts.clickhouse.Addr()}, "http"
	agentCfg, err := demoAgent(o, cfg.Kafka.Brokers)
	if err != nil {
		return exit.Config(err)
	}
	set, db, err := demoStore(ctx, cfg, log, reg)
	if err != nil {
		return err
	}
	defer db.Close()

	// Parts are stopped backwards: the agent first, so that what it sent is still read.
	line := newStages(ctx)
	line.Start("api", func(ctx context.Context) error { return runAPI(ctx, cfg, api, set, db, log, reg) })
	line.Start("pipeline", func(ctx context.Context) error { return runPipeline(ctx, cfg, set.Views, db, log, reg) })
	line.Start("agent", func(ctx context.Context) error {
		return collectors.Run(ctx, agentCfg, collectors.Deps{Log: log, Registry: reg})
	})
	if o.simulate > 0 {
		line.Start("simulation", func(ctx context.Context) error { return runSimulation(ctx, o, cfg.Kafka, log, reg) })
	}
	ask := newQuestion("http://"+api.Addr(), agentCfg.Node, set.Views)
	watch(line.Context(), watching{screen: screen, reg: reg, ask: ask, began: began, duration: o.duration,
		sql: "http://" + parts.clickhouse.Addr(), simulated: o.simulate > 0})
	if err := line.Stop(); err != nil {
		return err
	}
	screen.Close()
	return demoEnd(db, ask, out)
}

// demoStore makes the store ready.
func demoStore(ctx context.Context, cfg *Config, log *slog.Logger, reg prometheus.Registerer) (*features.Set, *clickhouse.DB, error) {
	set, err := cfg.definitions()
	if err != nil {
		return nil, nil, err
	}
	db, err := clickhouse.Open(ctx, cfg.ClickHouse, log, reg)
	if err != nil {
		return nil, nil, fmt.Errorf("clickhouse: %w", err)
	}
	// The rows of a demo are one host's, and its definitions change as a program is built.
	if _, err := applyDefinitions(ctx, db, set, applying{who: whoami(), replace: true}); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	if set, err = inForce(ctx, db, set, log); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return set, db, nil
}

// demoAgent is the agent's configuration: this host, and what the user's file adds.
func demoAgent(o demoOptions, brokers []string) (*collectors.Config, error) {
	return collectors.LoadWith(o.agentConfig, func(name string) (string, bool) {
		switch name {
		case collectors.EnvPrefix + "_KAFKA_BROKERS":
			return brokers[0], true
		case collectors.EnvPrefix + "_SPOOL_DIR":
			return filepath.Join(o.dir, "spool"), true
		case collectors.EnvPrefix + "_WEB_LISTEN":
			return "127.0.0.1:0", true
		}
		return os.LookupEnv(name)
	}, telegraf.Runner{})
}

// demoEnd prints the balance of the ledger and judges the run.
func demoEnd(db *clickhouse.DB, ask *question, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	sum, err := db.Ledger(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "stopped. ledger: %d records and %d samples stored, lost %d and %d, duplicate %d\n",
		sum.Received, sum.Visible, sum.Lost, sum.Missing, sum.Duplicate)
	if !ask.Served() {
		return errors.New("no feature was served")
	}
	return nil
}

// demoLog writes everything to a file, and warnings to the screen too.
func demoLog(path string, screen io.Writer) (*slog.Logger, func() error, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, err
	}
	h := slog.NewMultiHandler(
		slog.NewTextHandler(f, nil),
		slog.NewTextHandler(screen, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return slog.New(h), f.Close, nil
}
