package scrape

import (
	"context"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"sync"

	"github.com/prometheus/prometheus/discovery"
	_ "github.com/prometheus/prometheus/discovery/file" // makes file_sd_configs known
	_ "github.com/prometheus/prometheus/discovery/http" // makes http_sd_configs known
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"sextant/collectors/promconfig"
)

// discoverer runs the service discovery of one job and keeps the groups that it found.
type discoverer struct {
	cfgs   discovery.Configs
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	groups map[string]*targetgroup.Group // by provider and source; guarded by mu
}

// run starts discovery for cfg, or leaves it running if its part of the configuration is
// what it was; again then applies the known groups to the new configuration. Targets of
// an earlier discovery stay until the new one first answers.
func (d *discoverer) run(j *job, cfg *promconfig.ScrapeConfig, again bool) error {
	if d.cancel != nil && reflect.DeepEqual(d.cfgs, cfg.ServiceDiscoveryConfigs) {
		if again {
			d.mu.Lock()
			defer d.mu.Unlock()
			j.apply(d.sorted())
		}
		return nil
	}
	providers := make([]discovery.Discoverer, len(cfg.ServiceDiscoveryConfigs))
	for i, c := range cfg.ServiceDiscoveryConfigs {
		p, err := c.NewDiscoverer(discovery.DiscovererOptions{
			Logger: j.log, Metrics: j.owner.sd.MechanismMetrics[c.Name()], SetName: cfg.JobName})
		if err != nil {
			return fmt.Errorf("%s service discovery: %w", c.Name(), err)
		}
		providers[i] = p
	}
	d.stop()
	d.cfgs, d.groups = cfg.ServiceDiscoveryConfigs, map[string]*targetgroup.Group{}
	ctx, cancel := context.WithCancel(j.owner.ctx)
	d.cancel = cancel
	if len(providers) == 0 {
		j.apply(nil)
	}
	for i, p := range providers {
		updates := make(chan []*targetgroup.Group)
		d.wg.Go(func() { p.Run(ctx, updates) })
		d.wg.Go(func() { d.receive(ctx, j, strconv.Itoa(i), updates) })
	}
	return nil
}

// receive applies each answer of one provider until ctx ends. A provider that has said
// all that it knows, as the static one, closes its channel.
func (d *discoverer) receive(ctx context.Context, j *job, provider string, updates <-chan []*targetgroup.Group) {
	for {
		select {
		case <-ctx.Done():
			return
		case groups, ok := <-updates:
			if !ok {
				return
			}
			d.update(ctx, j, provider, groups)
		}
	}
}

// update holds the lock while targets change, so that an older answer cannot overtake a
// newer one.
func (d *discoverer) update(ctx context.Context, j *job, provider string, groups []*targetgroup.Group) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range groups {
		if g == nil {
			continue
		}
		key := provider + "/" + g.Source
		if len(g.Targets) == 0 {
			delete(d.groups, key)
			continue
		}
		d.groups[key] = g
	}
	if ctx.Err() == nil {
		j.apply(d.sorted())
	}
}

func (d *discoverer) sorted() []*targetgroup.Group {
	keys := make([]string, 0, len(d.groups))
	for k := range d.groups {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out := make([]*targetgroup.Group, len(keys))
	for i, k := range keys {
		out[i] = d.groups[k]
	}
	return out
}

// stop ends the providers and waits for them.
func (d *discoverer) stop() {
	if d.cancel != nil {
		d.cancel()
		d.wg.Wait()
		d.cancel = nil
	}
}
