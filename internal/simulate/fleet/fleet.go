// Package fleet runs the agents of a simulated cluster in one process.
//
// A series' node is the identity of the agent that scraped it, so a cluster of 64 nodes
// needs 64 agents. Each node here has its own scraper, its own spool with its own agent
// id and sequence numbers, and its own shipper: the ledger balances for each node as it
// does for a real one. They share what a process can share, which is the producer; and
// they leave out what a simulated host lacks, which is its kernel's own metrics and a web
// listener. The agents scrape over HTTP, with the loop, the cache and the limits of the
// real one.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
	"golang.org/x/sync/errgroup"

	"sextant/collectors"
	reader "sextant/collectors/inventory"
	"sextant/collectors/scrape"
	"sextant/collectors/ship"
	"sextant/collectors/spool"
	"sextant/internal/config"
	"sextant/schema/inventory"
)

// Config says which agents run.
type Config struct {
	Nodes    []string
	SD       string                 // http_sd URL of the exporters; ?node=NAME is added for each agent
	Dir      string                 // of the spools
	MaxBytes int64                  // cap of each spool; 16 MiB
	Interval time.Duration          // 10 s
	Lost     func(node string) bool // a node that is lost has lost its agent too: it writes nothing

	// Parts reads what a node is made of, for its inventory; nil: the agents send none.
	Parts func(node string) (*inventory.Document, error)
}

// Deps are what the agents share.
type Deps struct {
	Producer   ship.Producer
	Log        *slog.Logger
	Registerer prometheus.Registerer // of the fleet's own metrics; none
}

// JobName is the job of the scrape configuration; each target has the name of its
// exporter in its label job.
const JobName = "simulated"

// AgentConfig is the part of an agent's configuration that scrapes simulated exporters.
// The label simulated comes from discovery. A label job of an exposition, none of which
// is known, would give way to it.
func AgentConfig(sd string, interval time.Duration) string {
	return fmt.Sprintf(`scrape_configs:
  - job_name: %s
    scrape_interval: %s
    scrape_timeout: %s
    http_sd_configs:
      - url: %s
        refresh_interval: 1m
`, JobName, interval, interval, sd)
}

// Run runs the agents until ctx ends, and then stops them within a few seconds. What was
// not acknowledged stays in the spools.
func Run(ctx context.Context, cfg Config, deps Deps) error {
	cfg.setDefaults()
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	var agents []*agent
	defer func() {
		for _, a := range agents {
			a.close()
		}
	}()
	for _, node := range cfg.Nodes {
		a, err := newAgent(node, cfg, deps)
		if err != nil {
			return fmt.Errorf("simulated agent of %s: %w", node, err)
		}
		agents = append(agents, a)
	}
	if deps.Registerer != nil {
		pending := newPending(agents)
		if err := deps.Registerer.Register(pending); err != nil {
			return fmt.Errorf("simulated agents: %w", err)
		}
		defer deps.Registerer.Unregister(pending)
	}
	deps.Log.Info("simulated agents run", "nodes", len(agents), "spool", cfg.Dir)
	g, ctx := errgroup.WithContext(ctx)
	for _, a := range agents {
		g.Go(func() error { return a.run(ctx) })
	}
	err := g.Wait()
	deps.Log.Info("simulated agents stop")
	return err
}

func (c *Config) setDefaults() {
	if c.MaxBytes == 0 {
		c.MaxBytes = 16 << 20
	}
	if c.Interval == 0 {
		c.Interval = collectors.DefaultInterval
	}
	if c.Lost == nil {
		c.Lost = func(string) bool { return false }
	}
}

func newPending(agents []*agent) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "sextant", Subsystem: "simulate", Name: "spool_pending_records",
		Help: "Records of simulated agents that the broker has not acknowledged."}, func() float64 {
		sum := 0.0
		for _, a := range agents {
			sum += float64(a.queue.Pending())
		}
		return sum
	})
}

// agent is the agent of one node.
type agent struct {
	set     scrape.Set
	queue   *spool.Spool
	scraper *scrape.Scraper
	shipper *ship.Shipper
	report  func(context.Context) error // of the inventory
	log     *slog.Logger
}

func newAgent(node string, cfg Config, deps Deps) (*agent, error) {
	sd := cfg.SD + "?node=" + url.QueryEscape(node)
	parsed, err := collectors.Parse("agent of "+node, []byte("node: "+node+"\n"+AgentConfig(sd, cfg.Interval)+"kafka: {brokers: [none:1]}\n"), noEnvironment)
	if err != nil {
		return nil, err
	}
	// Those of exporters have the labels from discovery already.
	a := &agent{set: scrape.Set{Jobs: parsed.Scrape, External: labels.FromStrings("simulated", "true", "sim_node", node)}, log: deps.Log}
	own := prometheus.NewRegistry() // 64 agents' metrics side by side would say nothing
	// Without fsync: a simulation that a power cut ends is begun anew.
	a.queue, err = spool.Open(filepath.Join(cfg.Dir, node), spool.Options{MaxBytes: cfg.MaxBytes, Sync: spool.SyncNone, Logger: deps.Log, Registerer: own})
	if err != nil {
		return nil, err
	}
	sink := &power{to: a.queue, node: node, lost: cfg.Lost}
	if a.scraper, err = scrape.New(scrape.Options{Node: node, Sink: sink, Log: deps.Log, Register: own}); err != nil {
		return nil, errors.Join(err, a.queue.Close())
	}
	if a.shipper, err = ship.New(a.queue, deps.Producer, ship.Options{Logger: deps.Log, Registerer: own}); err != nil {
		a.close()
		return nil, err
	}
	if a.report, err = a.reporter(node, cfg, deps, own); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// reporter keeps the node's document in Kafka and has it scraped, as a real agent does.
// Only the reading is another.
func (a *agent) reporter(node string, cfg Config, deps Deps, own prometheus.Registerer) (func(context.Context) error, error) {
	if cfg.Parts == nil {
		return func(context.Context) error { return nil }, nil
	}
	c := reader.Defaults()
	c.Node, c.Interval, c.Series.Interval = node, config.Duration(cfg.Interval), config.Duration(2*cfg.Interval)
	page := reader.NewPage(c.Series.MaxLinks)
	a.set.Local = []scrape.Local{{Job: collectors.InventoryJob, Instance: node, Gatherer: page, Interval: c.Series.Interval.D(), Timeout: c.Series.Interval.D()}}
	r, err := reader.NewReporter(c, deps.Producer, reader.Options{Logger: deps.Log, Registerer: own, Page: page,
		Read: func(context.Context) (*inventory.Document, error) { return cfg.Parts(node) }})
	if err != nil {
		return nil, err
	}
	return r.Run, nil
}

func noEnvironment(string) (string, bool) { return "", false }

// run scrapes and ships until ctx ends: first the source stops, so that the shipper's last
// look finds all.
func (a *agent) run(ctx context.Context) error {
	if err := a.scraper.Apply(a.set); err != nil {
		return err
	}
	shipping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var wait sync.WaitGroup
	wait.Go(func() {
		<-ctx.Done()
		a.scraper.Close()
		stop()
	})
	wait.Go(func() { _ = a.report(ctx) }) // it ends with ctx and never fails
	err := a.shipper.Run(shipping)
	wait.Wait()
	return err
}

func (a *agent) close() {
	a.scraper.Close()
	if err := a.queue.Close(); err != nil {
		a.log.Error("close spool of a simulated agent", "err", err)
	}
}

// power is a spool that takes nothing while its node is off.
type power struct {
	to   scrape.Sink
	node string
	lost func(string) bool
}

// Append hands the entry on. While the node is lost there is no agent that could have made it.
func (p *power) Append(e spool.Entry) (uint64, error) {
	if p.lost(p.node) {
		return 0, nil
	}
	return p.to.Append(e)
}
