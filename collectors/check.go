package collectors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/model/labels"

	"sextant/collectors/inventory"
	"sextant/collectors/promconfig"
	"sextant/collectors/scrape"
	"sextant/collectors/spool"
	"sextant/schema/wire"
)

// Plan is what a configuration collects.
type Plan struct {
	Node     string          `json:"node"`
	Interval string          `json:"scrape_interval"`
	Kafka    string          `json:"kafka"` // brokers and topic
	Spool    string          `json:"spool"`
	Receive  string          `json:"receive,omitempty"`   // address of the remote-write receiver
	Own      map[string]bool `json:"collectors"`          // the agent's own, and whether they are on
	Targets  []PlanTarget    `json:"targets"`             // by job and instance
	Later    []string        `json:"discovery,omitempty"` // jobs with targets that only discovery knows
}

// PlanTarget is one target of a Plan.
type PlanTarget struct {
	scrape.Status
	Series  int            `json:"series"`            // of one scrape, without up and scrape_*
	Metrics map[string]int `json:"metrics,omitempty"` // series by name
}

// Failed counts the targets that did not answer.
func (p *Plan) Failed() (n int) {
	for _, t := range p.Targets {
		if t.State == "failed" || t.State == "unknown" {
			n++
		}
	}
	return n
}

// Check finds out what cfg collects. With read, it runs the agent's own scrape loop until
// each target was read once; nothing is kept or sent. Without, it asks nobody: static
// targets come from the file, and have no metrics.
func Check(ctx context.Context, cfg *Config, read bool, log *slog.Logger) (*Plan, error) {
	p := cfg.plan()
	static, err := cfg.staticTargets()
	if err != nil || !read {
		p.Targets = static
		return p, err
	}
	seen := &tally{names: map[string]map[string]int{}}
	deps := Deps{Log: log, Registry: prometheus.NewRegistry()}
	scraper, err := scrape.New(scrape.Options{Node: cfg.Node, Sink: seen, Log: log, Register: deps.Registry, Eager: true})
	if err != nil {
		return nil, err
	}
	a := &agent{deps: deps, scraper: scraper, now: cfg, reloads: newReloadMetrics(deps.Registry)}
	defer a.stop()
	defer scraper.Close()
	if err := a.startOnce(ctx); err != nil {
		return nil, err
	}
	statuses := allRead(ctx, scraper, distinct(static), cfg.longestTimeout(), len(p.Later) > 0)
	for _, s := range statuses {
		p.Targets = append(p.Targets, seen.target(s))
	}
	return p, seen.fault()
}

// startOnce is start with what the inventory's reporter would have filled in by then.
func (a *agent) startOnce(ctx context.Context) error {
	if err := a.open(a.now); err != nil {
		return err
	}
	if a.parts != nil {
		d, err := inventory.Read(ctx, a.now.inventory())
		if err != nil {
			return err
		}
		a.parts.Set(d)
	}
	return a.scraper.Apply(a.set(a.now))
}

// plan is what the configuration says without asking anyone.
func (c *Config) plan() *Plan {
	p := &Plan{Node: c.Node, Interval: c.Global.ScrapeInterval.String(), Kafka: fmt.Sprintf("%v topic %s", c.Kafka.Brokers, c.Kafka.Topic),
		Spool: fmt.Sprintf("%s, %d bytes", c.Spool.Dir, c.Spool.MaxBytes),
		Own: map[string]bool{HostJob: c.Host.Enabled, DCGMJob: c.DCGM.Enabled, NVMLJob: c.NVML.Enabled, TelegrafJob: c.Telegraf.Enabled(),
			PodResourcesJob: c.PodResources.Enabled, InventoryJob: c.Inventory.Enabled, SelfJob: c.Self}}
	if c.Receive.Enabled() {
		p.Receive = c.Receive.Listen
	}
	for _, job := range c.Scrape {
		for _, d := range job.ServiceDiscoveryConfigs {
			if _, static := d.(discovery.StaticConfig); !static {
				p.Later = append(p.Later, job.JobName)
				break
			}
		}
	}
	return p
}

// staticTargets are the targets that stand in the file, after relabelling.
func (c *Config) staticTargets() (out []PlanTarget, err error) {
	b := labels.NewBuilder(labels.EmptyLabels())
	var errs []error
	for _, job := range c.Scrape {
		for _, d := range job.ServiceDiscoveryConfigs {
			groups, _ := d.(discovery.StaticConfig)
			for _, g := range groups {
				targets, faults := promconfig.TargetsFromGroup(g, job, nil, b)
				for _, f := range faults {
					errs = append(errs, fmt.Errorf("scrape_configs: job %q: %w", job.JobName, f))
				}
				for _, t := range targets {
					if ls := t.Labels(b); !ls.IsEmpty() {
						out = append(out, PlanTarget{Status: scrape.Status{Job: ls.Get("job"), URL: scrape.PublicURL(t.URL()), Labels: ls.Map(),
							Interval: t.GetValue("__scrape_interval__"), Timeout: t.GetValue("__scrape_timeout__"), State: "not read"}})
					}
				}
			}
		}
	}
	return out, errors.Join(errs...)
}

// longestTimeout bounds how long a target may take to answer.
func (c *Config) longestTimeout() time.Duration {
	longest := time.Duration(c.Global.ScrapeTimeout)
	for _, job := range c.Scrape {
		longest = max(longest, time.Duration(job.ScrapeTimeout))
	}
	return longest
}

// discoveryWait is how long discovery gets to name its first targets.
const discoveryWait = 3 * time.Second

// distinct counts targets as the scraper does: twice the same is one.
func distinct(targets []PlanTarget) int {
	seen := map[string]bool{}
	for _, t := range targets {
		seen[fmt.Sprint(t.URL, t.Labels)] = true
	}
	return len(seen)
}

// allRead waits until each target was read, or its time is up. Even targets that stand in the
// file come a moment later; static is how many.
func allRead(ctx context.Context, s *scrape.Scraper, static int, timeout time.Duration, discovers bool) []scrape.Status {
	begin := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		got := s.Targets()
		remote := 0
		open := slices.ContainsFunc(got, func(t scrape.Status) bool {
			if t.URL != "" {
				remote++
			}
			return t.State == "unknown"
		})
		open = open || remote < static
		passed := time.Since(begin)
		if !open && (!discovers || passed > discoveryWait) || passed > timeout+2*discoveryWait || ctx.Err() != nil {
			return got
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// tally is a Sink that counts series by target and name, and keeps nothing else.
type tally struct {
	mu    sync.Mutex
	names map[string]map[string]int // by target and metric; guarded by mu
	err   error                     // guarded by mu: the first payload that was not what the agent writes
}

// Append counts the series of a scrape.
func (t *tally) Append(e spool.Entry) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var d wire.Decoder
	if err := d.Scan(e.Payload); err != nil {
		t.err = errors.Join(t.err, err)
		return 0, nil
	}
	counts := map[string]int{}
	for i := range d.NumSeries {
		err := d.Labels(i, func(name, value []byte) bool {
			if string(name) == labels.MetricName && !scrape.Reported(string(value)) {
				counts[string(value)]++
			}
			return true
		})
		t.err = errors.Join(t.err, err)
	}
	if len(counts) > 0 {
		t.names[e.Target] = counts
	}
	return 1, nil
}

func (t *tally) fault() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *tally) target(s scrape.Status) PlanTarget {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := PlanTarget{Status: s, Metrics: maps.Clone(t.names[s.Job+"/"+s.Labels["instance"]])}
	for _, n := range out.Metrics {
		out.Series += n
	}
	return out
}
