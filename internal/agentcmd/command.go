package agentcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"sextant/collectors"
	"sextant/collectors/plugins"
	"sextant/internal/config"
	"sextant/internal/exit"
	"sextant/internal/health"
)

const long = `sextant-agent runs once on every node. It scrapes Prometheus exporters and reads the
kernel every 10 s, keeps what it got on disk, and ships it to Kafka.

The configuration is Prometheus' own (global, scrape_configs) with a few sections
beside it (node, self, host, dcgm, nvml, kafka, spool, web). deploy/agent.example.yaml explains
each key. Keys of those sections can be set by the environment: SEXTANT_KAFKA_BROKERS
for kafka.brokers, SEXTANT_SPOOL_DIR for spool.dir, SEXTANT_NODE for node.

Exit status 64 says that the command line is wrong, 78 that the configuration is.

While it runs: GET /targets, /metrics, /-/healthy, /-/ready on 127.0.0.1:9465. The
scrape configuration is read again on SIGHUP and on POST /-/reload.`

const example = `  # This host alone, to a broker on this machine:
  SEXTANT_KAFKA_BROKERS=127.0.0.1:9092 SEXTANT_SPOOL_DIR=/tmp/spool sextant-agent

  # With exporters, as a service would run it:
  sextant-agent check /etc/sextant/agent.yaml
  sextant-agent --config /etc/sextant/agent.yaml

  # Which targets are up, and why not:
  curl -s 127.0.0.1:9465/targets`

// flags are what the command line can say; everything else stands in the file.
type flags struct {
	runner    plugins.Runner
	config    string
	node      string
	listen    string
	logLevel  string
	logFormat string
}

// load reads the configuration and puts the flags over it.
func (f *flags) load() (*collectors.Config, error) {
	cfg, err := collectors.LoadWith(f.config, f.lookup, f.runner)
	_, strays := foreign()
	return cfg, exit.Config(errors.Join(strays, err))
}

// foreign gives the environment variables that only sextant reads; one that neither
// program reads is an error.
func foreign() ([]string, error) {
	return config.Strays(config.Prefix, os.Environ(), &collectors.Section{}, config.AgentVariables)
}

// loadUnsent is load for a command that sends nothing, so that a missing broker is no
// fault.
func (f *flags) loadUnsent() (*collectors.Config, error) {
	cfg, err := collectors.LoadWith(f.config, func(name string) (string, bool) {
		if name == collectors.EnvPrefix+"_KAFKA_BROKERS" {
			return "127.0.0.1:9092", true
		}
		return f.lookup(name)
	}, f.runner)
	return cfg, exit.Config(err)
}

// lookup is the environment with the flags over it.
func (f *flags) lookup(name string) (string, bool) {
	switch {
	case name == collectors.EnvPrefix+"_NODE" && f.node != "":
		return f.node, true
	case name == collectors.EnvPrefix+"_WEB_LISTEN" && f.listen != "":
		return f.listen, true
	}
	return os.LookupEnv(name)
}

func command(runner plugins.Runner, out, errOut io.Writer) *cobra.Command {
	f := flags{runner: runner}
	root := &cobra.Command{
		Use: "sextant-agent", Short: "Collect the telemetry of this node and ship it to Kafka",
		Long: long, Example: example, Args: cobra.NoArgs,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), &f, errOut) },
	}
	root.SetOut(out)
	root.SetErr(errOut)
	p := root.PersistentFlags()
	p.StringVar(&f.config, "config", "", "configuration file; without one, only this host and the agent itself are read")
	p.StringVar(&f.node, "node", "", "name of this node; default: node of the file, then the host name")
	p.StringVar(&f.listen, "listen", "", "host:port of the agent's own pages; default: web.listen of the file")
	p.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	p.StringVar(&f.logFormat, "log-format", "text", "text or json")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(runCommand(&f, errOut), checkCommand(&f, out, errOut), onceCommand(&f, out, errOut),
		health.Command("sextant-agent", "http://"+collectors.Defaults().Web.Listen), versionCommand(out))
	exit.Strict(root)
	return root
}

func runCommand(f *flags, errOut io.Writer) *cobra.Command {
	return &cobra.Command{
		Use: "run", Short: "Run the agent (what sextant-agent does without a command)", Args: cobra.NoArgs,
		Example: "  sextant-agent run --config /etc/sextant/agent.yaml --node gpu-017",
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), f, errOut) },
	}
}

func versionCommand(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs, Example: "  sextant-agent version",
		Run: func(*cobra.Command, []string) {
			version, revision := "devel", ""
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = " " + s.Value
					}
				}
			}
			fmt.Fprintf(out, "sextant-agent %s%s %s %s/%s\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}

// run is the agent's life: read, start, wait for the end.
func run(ctx context.Context, f *flags, errOut io.Writer) error {
	log, err := logger(errOut, f.logLevel, f.logFormat)
	if err != nil {
		return err
	}
	cfg, err := f.load()
	if err != nil {
		return err
	}
	if names, _ := foreign(); len(names) > 0 {
		log.Warn("variables of the environment that only sextant reads", "names", names)
	}
	if os.Getenv("GOMAXPROCS") == "" && !cfg.Receive.Enabled() {
		// A node's own agent works for a millisecond or two in a second. With more processors each
		// step wakes another thread that finds nothing to do, which on two cores is a third
		// of what a small agent costs; on a node with hundreds the garbage collector would
		// start a worker on each that is idle.
		runtime.GOMAXPROCS(1)
	}
	if os.Getenv("GOGC") == "" {
		// A steady scrape makes little garbage, so collecting it earlier costs next to
		// nothing and spares the node the memory.
		debug.SetGCPercent(50)
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	return collectors.Run(ctx, cfg, collectors.Deps{Log: log, Reload: f.load, Hangup: hangup})
}

func logger(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, exit.Usage(fmt.Errorf("--log-level %q: want debug, info, warn or error", level))
	}
	opts := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, exit.Usage(fmt.Errorf("--log-format %q: want text or json", format))
}
