package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sextant/collectors"
	"sextant/internal/exit"
	"sextant/internal/httpserve"
	"sextant/internal/simulate"
	"sextant/internal/simulate/fleet"
	"sextant/internal/simulate/serve"
	"sextant/internal/simulate/submit"
	"sextant/pipeline/kafka"
	schema "sextant/schema/tasks"
	"sextant/schema/topics"
)

func simulateCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Simulated hardware that speaks the vendors' own metrics",
		Long: `simulate stands in for accelerators that are not at hand. A cluster file describes nodes, devices,
work and faults; a small physical model makes readings that agree with each other. All that comes
from it carries the label simulated="true".`,
		Example: `  sextant simulate example > cluster.yaml
  sextant simulate exporters --cluster cluster.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(simulateExportersCmd(), simulateAgentsCmd(), simulateExampleCmd())
	return cmd
}

// simulationFlags are what both commands take.
type simulationFlags struct {
	cluster, listen string
}

func (s *simulationFlags) add(cmd *cobra.Command, listen string) {
	f := cmd.Flags()
	f.StringVar(&s.cluster, "cluster", "", "cluster file; default: the cluster of the demo")
	f.StringVar(&s.listen, "listen", listen, "address of the exporters, on loopback")
}

func simulateExportersCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "exporters",
		Short: "Serve the exporters of a simulated cluster",
		Long: `exporters serves dcgm-exporter, npu-exporter, device-metrics-exporter, xpumd, xpum, the Gaudi exporter,
DOCA telemetry, node_exporter and cAdvisor of every node of the cluster, each at its own path of one
address, and their list for http_sd. It prints an agent configuration that scrapes them.`,
		Example: `  sextant simulate exporters --cluster cluster.yaml
  curl http://127.0.0.1:9600/sim-h100-00/dcgm-exporter/metrics`,
		Args: cobra.NoArgs,
	}
	var o simulationFlags
	o.add(cmd, "127.0.0.1:9600")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		log := defaultConfig().logger()
		sim, err := newSimulation(o, log, nil)
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		nodes := sim.exporters.Nodes()
		fmt.Fprintf(out, `# %d simulated nodes. Targets, with the label simulated="true": %s
# An agent speaks for one node. This is the agent of %s; for another, change the name twice.
# sextant simulate agents runs all of them in one process.
node: %s
host: {enabled: false}
inventory: {enabled: false}
%s`, len(nodes), sim.sd(), nodes[0], nodes[0], fleet.AgentConfig(sim.sd()+"?node="+nodes[0], collectors.DefaultInterval))
		return sim.run(cmd.Context())
	}
	return cmd
}

func simulateAgentsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Serve the exporters and run an agent for each simulated node",
		Long: `agents does what exporters does and scrapes them too: one agent for each node, each with its own name,
spool and sequence numbers, all in this process, into the Kafka cluster of the configuration. The jobs
that keep the devices busy are told as task events, on the topic tasks.`,
		Example: "  sextant simulate agents --config sextant.yaml --cluster cluster.yaml",
		Args:    cobra.NoArgs,
	}
	var o simulationFlags
	o.add(cmd, "127.0.0.1:0")
	load := configFlag(cmd)
	dir := cmd.Flags().String("dir", filepath.Join("data", "simulate"), "data directory: the agents' spools")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		reg := newRegistry()
		sim, err := newSimulation(o, cfg.logger(), reg)
		if err != nil {
			return err
		}
		return sim.runAgents(cmd.Context(), *dir, cfg.Kafka, reg)
	}
	return cmd
}

func simulateExampleCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "example",
		Short:   "Print the cluster file of the demo",
		Example: "  sextant simulate example > cluster.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(simulate.DemoText())
			return err
		},
	}
}

// simulation is a simulated cluster behind a bound address.
type simulation struct {
	exporters *serve.Server
	http      *httpserve.Server
	log       *slog.Logger
}

// newSimulation makes the cluster of a file, or the demo's, and binds its address.
func newSimulation(o simulationFlags, log *slog.Logger, reg prometheus.Registerer) (*simulation, error) {
	cfg, err := simulate.Demo(demoNodes)
	if o.cluster != "" {
		cfg, err = simulate.Load(o.cluster)
	}
	if err != nil {
		return nil, exit.Config(err)
	}
	return bindSimulation(cfg, o, log, reg)
}

// Sizes of the demo's cluster.
const (
	demoNodes    = 64
	maxDemoNodes = 500
)

// runSimulation is the demo's simulated cluster with its agents, until ctx ends.
func runSimulation(ctx context.Context, o demoOptions, to kafka.Config, log *slog.Logger, reg prometheus.Registerer) error {
	cfg, err := simulate.Demo(o.simulate)
	if err != nil {
		return err
	}
	log = slog.New(calm{log.With("simulated", true).Handler()})
	sim, err := bindSimulation(cfg, simulationFlags{listen: "127.0.0.1:0"}, log, reg)
	if err != nil {
		return err
	}
	return sim.runAgents(ctx, filepath.Join(o.dir, "simulate"), to, reg)
}

// calm makes warnings information: that a simulated node fails is the point of it.
type calm struct{ slog.Handler }

// Enabled says what the level is worth after Handle.
func (c calm) Enabled(ctx context.Context, l slog.Level) bool {
	return c.Handler.Enabled(ctx, calmed(l))
}

// Handle passes the record on.
func (c calm) Handle(ctx context.Context, r slog.Record) error {
	r.Level = calmed(r.Level)
	return c.Handler.Handle(ctx, r)
}

// WithAttrs keeps derived loggers calm.
func (c calm) WithAttrs(as []slog.Attr) slog.Handler { return calm{c.Handler.WithAttrs(as)} }

// WithGroup keeps derived loggers calm.
func (c calm) WithGroup(name string) slog.Handler { return calm{c.Handler.WithGroup(name)} }

func calmed(l slog.Level) slog.Level {
	if l == slog.LevelWarn {
		return slog.LevelInfo
	}
	return l
}

func bindSimulation(cfg *simulate.Config, o simulationFlags, log *slog.Logger, reg prometheus.Registerer) (*simulation, error) {
	var trace *simulate.Trace
	if t := cfg.Workload.Trace; cfg.Workload.Source == simulate.FromTrace {
		var err error
		if trace, err = simulate.LoadTrace(t.Duty, t.Memory); err != nil {
			return nil, exit.Config(err)
		}
	}
	cluster, err := simulate.New(cfg, trace, time.Now())
	if err != nil {
		return nil, err
	}
	web, err := httpserve.Listen(httpserve.Options{Addr: o.listen, Drain: time.Second, Log: log})
	if err != nil {
		return nil, fmt.Errorf("simulated exporters: %w", err)
	}
	return &simulation{exporters: serve.New(serve.Options{Cluster: cluster, Log: log, Registerer: reg}), http: web, log: log}, nil
}

// sd is the URL of the list of targets.
func (s *simulation) sd() string { return "http://" + s.http.Addr() + "/sd" }

// run serves until ctx ends.
func (s *simulation) run(ctx context.Context) error { return s.http.Run(ctx, s.exporters) }

// runAgents serves, and runs an agent for each node, until ctx ends.
func (s *simulation) runAgents(ctx context.Context, dir string, to kafka.Config, reg prometheus.Registerer) error {
	// Not registered: the metrics of a producer would meet those of a real agent here.
	producer, err := kafka.NewProducer(to, kafka.ProducerOptions{Topic: topics.Samples, Uncompressed: []string{topics.Inventory}})
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer producer.Close()
	g, ctx := errgroup.WithContext(ctx)
	// The exporters outlive the agents, so that no last scrape fails.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	g.Go(func() error { return s.run(serving) })
	g.Go(func() error {
		defer stop()
		return fleet.Run(ctx, fleet.Config{Nodes: s.exporters.Nodes(), SD: s.sd(), Dir: filepath.Join(dir, "spool"), Lost: s.exporters.Lost, Parts: s.exporters.Document},
			fleet.Deps{Producer: producer, Log: s.log, Registerer: reg})
	})
	g.Go(func() error {
		return submit.Run(ctx, submit.Config{Happenings: s.exporters.Happenings, Dir: dir, Log: s.log,
			Send: func(ctx context.Context, events []schema.Event) error { return sendTasks(ctx, producer, events) }})
	})
	return g.Wait()
}

// sendTasks sends task events to the topic of that name.
func sendTasks(ctx context.Context, p *kafka.Producer, events []schema.Event) error {
	now := time.Now().UnixMilli()
	msgs := make([]kafka.Message, 0, len(events))
	for i := range events {
		value, err := events[i].Encode(now)
		if err != nil {
			return fmt.Errorf("task %s: %w", events[i].Task, err)
		}
		msgs = append(msgs, kafka.Message{Topic: topics.Tasks, Key: events[i].Key(), Value: value})
	}
	return sendAll(ctx, p, msgs)
}
