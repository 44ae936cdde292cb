package collectors

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reloadMetrics tell whether the configuration in force is the one in the file.
type reloadMetrics struct {
	ok   prometheus.Gauge
	when prometheus.Gauge
}

func newReloadMetrics(reg prometheus.Registerer) *reloadMetrics {
	m := &reloadMetrics{
		ok: prometheus.NewGauge(prometheus.GaugeOpts{Name: "sextant_agent_config_last_reload_successful",
			Help: "Whether the last attempt to load the configuration succeeded."}),
		when: prometheus.NewGauge(prometheus.GaugeOpts{Name: "sextant_agent_config_last_reload_success_timestamp_seconds",
			Help: "When the configuration in force was loaded."}),
	}
	reg.MustRegister(m.ok, m.when)
	return m
}

func (m *reloadMetrics) done(err error) {
	if err != nil {
		m.ok.Set(0)
		return
	}
	m.ok.Set(1)
	m.when.Set(float64(time.Now().Unix()))
}

// errNoReload is returned where there is no file to read again.
var errNoReload = errors.New("this agent was started without a configuration file to reload")

// reload reads the configuration again and applies it. A bad one changes nothing. It
// returns the sections that changed in the file but are only read at the start.
func (a *agent) reload() (restart []string, err error) {
	if a.deps.Reload == nil {
		return nil, errNoReload
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	next, err := a.deps.Reload()
	if err == nil {
		restart = fixed(a.now, next)
		err = a.scraper.Apply(a.set(a.now.with(next)))
	}
	a.reloads.done(err)
	if err != nil {
		a.deps.Log.Error("configuration not reloaded, the old one stays", "err", err)
		return nil, err
	}
	a.now = a.now.with(next)
	a.deps.Log.Info("configuration reloaded", "jobs", len(next.Scrape), "restart_needed_for", strings.Join(restart, ","))
	return restart, nil
}

// startOnly are the sections that are read at the start and never again, by key, in the
// order of the example file. Their intervals are read again.
func (c *Config) startOnly() []startSection {
	return []startSection{
		{"node", &c.Node}, {"host", &c.Host}, {"dcgm", &c.DCGM}, {"nvml", &c.NVML}, {"pod_resources", &c.PodResources}, {"telegraf", &c.Telegraf},
		{"inventory", &c.Inventory}, {"kafka", &c.Kafka}, {"spool", &c.Spool}, {"web", &c.Web}, {"receive", &c.Receive},
	}
}

type startSection struct {
	key   string
	value any // a pointer into the configuration
}

// with is the configuration after a reload: the sections that are fixed at the start stay.
func (c *Config) with(next *Config) *Config {
	out := *next
	now := c.startOnly()
	for i, s := range out.startOnly() {
		reflect.ValueOf(s.value).Elem().Set(reflect.ValueOf(now[i].value).Elem())
	}
	out.Host.Interval, out.DCGM.Interval, out.NVML.Interval = next.Host.Interval, next.DCGM.Interval, next.NVML.Interval
	out.PodResources.Interval = next.PodResources.Interval
	return &out
}

// fixed names the sections that differ and need a restart.
func fixed(now, next *Config) []string {
	a, b := *now, *next
	a.Host.Interval, b.Host.Interval = 0, 0
	a.DCGM.Interval, b.DCGM.Interval = 0, 0
	a.NVML.Interval, b.NVML.Interval = 0, 0
	a.PodResources.Interval, b.PodResources.Interval = 0, 0
	var out []string
	before := a.startOnly()
	for i, s := range b.startOnly() {
		if !reflect.DeepEqual(s.value, before[i].value) {
			out = append(out, s.key)
		}
	}
	return out
}

// obeyHangups reloads on each hangup until ctx ends. The outcome is logged and counted
// by reload.
func (a *agent) obeyHangups(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.deps.Hangup:
			_, _ = a.reload()
		}
	}
}
