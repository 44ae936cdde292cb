package collectors

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"sextant/collectors/dcgm"
	"sextant/collectors/host"
	"sextant/collectors/inventory"
	"sextant/collectors/nvml"
	"sextant/collectors/plugins"
	"sextant/collectors/podresources"
	"sextant/collectors/receive"
	"sextant/collectors/scrape"
	"sextant/collectors/ship"
	"sextant/collectors/spool"
	"sextant/internal/httpserve"
	"sextant/pipeline/kafka"
)

// Jobs of the targets that live in the agent itself.
const (
	HostJob     = "node"
	DCGMJob     = "dcgm"
	NVMLJob     = "nvml"
	TelegrafJob = "telegraf"

	PodResourcesJob = "pod-resources"

	InventoryJob = "inventory"
	SelfJob      = "sextant-agent"
)

// Deps are what the agent takes from whoever runs it. The zero value is enough.
type Deps struct {
	Log      *slog.Logger
	Registry *prometheus.Registry // the agent's own metrics

	// Reload reads the configuration again; nil: the agent cannot be reloaded.
	Reload func() (*Config, error)
	// Hangup asks for a reload, as SIGHUP does.
	Hangup <-chan os.Signal
	// Listening is called with the address of the agent's listener once it is bound.
	Listening func(addr string)
}

// Run collects and ships until ctx ends, and then stops within a few seconds. It returns
// nil after a graceful stop. What was scraped and not yet acknowledged stays in the
// spool.
func Run(ctx context.Context, cfg *Config, deps Deps) error {
	deps = deps.withDefaults()
	queue, err := spool.Open(cfg.Spool.Dir, cfg.spoolOptions(deps))
	if err != nil {
		return err
	}
	defer func() {
		if err := queue.Close(); err != nil {
			deps.Log.Error("close spool", "err", err)
		}
	}()
	producer, err := kafka.NewProducer(cfg.Kafka.Config, kafka.ProducerOptions{
		Topic: cfg.Kafka.Topic, MaxRecordBytes: int(cfg.Kafka.MaxRecordBytes), Uncompressed: []string{cfg.Inventory.Topic}, Registerer: deps.Registry})
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer producer.Close()
	server, err := httpserve.Listen(httpserve.Options{Addr: cfg.Web.Listen, WebConfig: cfg.Web.ConfigFile, Drain: time.Second, Log: deps.Log})
	if err != nil {
		return fmt.Errorf("web: %w", err)
	}
	scraper, err := scrape.New(scrape.Options{Node: cfg.Node, Sink: queue, Log: deps.Log, Register: deps.Registry})
	if err != nil {
		return err
	}
	defer scraper.Close()

	shipper, err := ship.New(queue, producer, ship.Options{Logger: deps.Log, Registerer: deps.Registry})
	if err != nil {
		return err
	}

	var receiver *receive.Receiver // nil: nothing is received
	if cfg.Receive.Enabled() {
		if receiver, err = receive.Listen(cfg.Receive, receive.Options{Node: cfg.Node, External: cfg.Global.ExternalLabels, Sink: queue, Log: deps.Log, Register: deps.Registry}); err != nil {
			return err
		}
	}

	a := &agent{deps: deps, spool: queue, scraper: scraper, now: cfg, reloads: newReloadMetrics(deps.Registry)}
	if err := a.start(cfg); err != nil {
		return err
	}
	report, err := a.reporter(cfg, producer)
	if err != nil {
		return err
	}
	deps.Log.Info("agent runs", "node", cfg.Node, "jobs", len(cfg.Scrape), "listen", server.Addr(), "spool", cfg.Spool.Dir, "agent", queue.Agent())
	deps.Listening(server.Addr())

	g, ctx := errgroup.WithContext(ctx)
	shipping, stopShipping := context.WithCancel(context.WithoutCancel(ctx))
	defer stopShipping()
	g.Go(func() error { return shipper.Run(shipping) })
	g.Go(func() error { return server.Run(ctx, a.handler()) })
	g.Go(func() error { return a.obeyHangups(ctx) })
	g.Go(func() error { return report(ctx) })
	if receiver != nil {
		g.Go(func() error { return receiver.Run(ctx) })
	}
	g.Go(func() error {
		<-ctx.Done()
		scraper.Close() // first the source, so that the shipper's last look finds all
		stopShipping()
		return nil
	})
	err = g.Wait()
	a.stop()
	deps.Log.Info("agent stops", "pending", queue.Pending())
	return err
}

func (d Deps) withDefaults() Deps {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Registry == nil {
		d.Registry = prometheus.NewRegistry()
		d.Registry.MustRegister(promcollectors.NewGoCollector(), promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}))
	}
	if d.Listening == nil {
		d.Listening = func(string) {}
	}
	return d
}

func (c *Config) spoolOptions(d Deps) spool.Options {
	return spool.Options{MaxBytes: int64(c.Spool.MaxBytes), Sync: spool.Sync(c.Spool.Sync), Fresh: c.Spool.Fresh.D(),
		Logger: d.Log, Registerer: d.Registry}
}

// agent is the running whole, for its web pages and its reload.
type agent struct {
	deps    Deps
	spool   *spool.Spool
	scraper *scrape.Scraper
	reloads *reloadMetrics
	host    prometheus.Gatherer // nil: the host is not read
	dcgm    *dcgm.Collector     // nil: DCGM is not read
	nvml    *nvml.Collector     // nil: NVML is not read
	gpus    *inventory.Observed // what dcgm's series say of the devices; nil with dcgm
	plugins plugins.Set         // nil: no plugin runs
	parts   *inventory.Page     // what the node is made of, as series; nil: not scraped

	pods *podresources.Collector // nil: the kubelet is not asked

	mu  sync.Mutex
	now *Config // in force; guarded by mu
}

// open makes the agent's own collectors.
func (a *agent) open(cfg *Config) error {
	if cfg.Host.Enabled {
		var err error
		if a.host, err = host.New(cfg.Host, a.deps.Log.With("job", HostJob)); err != nil {
			return err
		}
	}
	if cfg.DCGM.Enabled {
		a.dcgm = dcgm.New(cfg.DCGM, cfg.dcgmInterval(), a.deps.Log.With("job", DCGMJob))
		a.gpus = inventory.Observe(a.dcgm.Gatherer())
	}
	if cfg.NVML.Enabled {
		a.nvml = nvml.New(a.deps.Log.With("job", NVMLJob))
	}
	if cfg.Telegraf.Enabled() {
		var err error
		if a.plugins, err = cfg.plugins.Open(cfg.Telegraf, cfg.telegraf(a.deps.Log, a.deps.Registry)); err != nil {
			return fmt.Errorf("telegraf: %w", err)
		}
	}
	if cfg.Inventory.Enabled && cfg.Inventory.Series.Enabled {
		a.parts = inventory.NewPage(cfg.Inventory.Series.MaxLinks)
	}
	if cfg.PodResources.Enabled {
		a.pods = podresources.New(cfg.PodResources, a.parts.SliceOf, a.deps.Log.With("job", PodResourcesJob))
	}
	return nil
}

// start makes the collectors and begins to scrape.
func (a *agent) start(cfg *Config) error {
	if err := a.open(cfg); err != nil {
		return err
	}
	if err := a.scraper.Apply(a.set(cfg)); err != nil {
		return err
	}
	a.reloads.done(nil)
	return nil
}

// stop ends what the collectors hold, when nothing is scraped any more.
func (a *agent) stop() {
	if a.dcgm != nil {
		if err := a.dcgm.Close(); err != nil {
			a.deps.Log.Error("close DCGM", "err", err)
		}
	}
	if a.nvml != nil {
		if err := a.nvml.Close(); err != nil {
			a.deps.Log.Error("close NVML", "err", err)
		}
	}
	if a.pods != nil {
		a.pods.Close()
	}
	if a.plugins != nil {
		if err := a.plugins.Close(); err != nil {
			a.deps.Log.Error("close Telegraf plugins", "err", err)
		}
	}
}

// reporter is what keeps the node's inventory in Kafka, or nothing where it is off.
func (a *agent) reporter(cfg *Config, to inventory.Sender) (func(context.Context) error, error) {
	if !cfg.Inventory.Enabled {
		return func(context.Context) error { return nil }, nil
	}
	c := cfg.inventory()
	if a.gpus != nil {
		c.Sources = append(c.Sources, a.gpus)
	}
	if a.nvml != nil {
		c.Sources = append(c.Sources, a.nvml.Source())
	}
	r, err := inventory.NewReporter(c, to, inventory.Options{Logger: a.deps.Log, Registerer: a.deps.Registry, Page: a.parts})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if a.parts != nil {
			defer a.parts.End()
		}
		return r.Run(ctx)
	}, nil
}

// inventory is the section with what it takes from others.
func (c *Config) inventory() inventory.Config {
	i := c.Inventory
	i.Node = c.Node
	i.SetPaths(c.Host.ProcPath, c.Host.SysPath, c.Host.RootfsPath)
	return i
}

// telegraf is what Telegraf's plugins take from the agent.
func (c *Config) telegraf(log *slog.Logger, reg prometheus.Registerer) plugins.Options {
	return plugins.Options{Node: c.Node, Interval: time.Duration(c.Global.ScrapeInterval), Log: log.With("job", TelegrafJob), Register: reg}
}

// set is what the configuration asks to scrape.
func (a *agent) set(cfg *Config) scrape.Set {
	s := scrape.Set{Jobs: cfg.Scrape, External: cfg.Global.ExternalLabels}
	local := func(job string, from prometheus.Gatherer, every time.Duration) {
		s.Local = append(s.Local, scrape.Local{Job: job, Instance: cfg.Node, Gatherer: from, Interval: every, Timeout: every})
	}
	if a.host != nil {
		local(HostJob, a.host, cfg.hostInterval())
	}
	if a.dcgm != nil {
		local(DCGMJob, a.gpus, cfg.dcgmInterval())
	}
	if a.nvml != nil {
		local(NVMLJob, a.nvml.Gatherer(), cfg.interval(cfg.NVML.Interval))
	}
	if a.parts != nil {
		local(InventoryJob, a.parts, cfg.Inventory.Series.Interval.D())
	}
	if a.pods != nil {
		local(PodResourcesJob, a.pods.Gatherer(), cfg.interval(cfg.PodResources.Interval))
	}
	if a.plugins != nil {
		for _, p := range a.plugins.Targets() {
			s.Local = append(s.Local, scrape.Local{Job: TelegrafJob, Instance: p.Name, Gatherer: p, Interval: p.Interval, Timeout: p.Interval})
		}
	}
	if cfg.Self {
		local(SelfJob, a.deps.Registry, time.Duration(cfg.Global.ScrapeInterval))
	}
	return s
}
