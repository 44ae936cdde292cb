// Package nvml reads NVIDIA GPUs through the driver's own library, for hosts that have no
// DCGM. It gives what DCGM itself takes from that library, under the same names, units and
// labels, so that it means the same downstream; it has no profiling, no NVLink counters, no events.
// As a source of the inventory it tells of devices, MIG layout and NVLinks.
//
// The binding needs cgo and, when it runs, the driver's libnvidia-ml.so.1.
package nvml

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/collectors/inventory"
	"sextant/internal/config"
)

// Config is the section nvml of the agent's configuration.
type Config struct {
	Enabled  bool            `yaml:"enabled"`
	Interval config.Duration `yaml:"interval"` // between collections; 0 is global.scrape_interval
}

// Check reports every fault, each beginning with its key below the given path.
func (c Config) Check(path string) error {
	if c.Interval != 0 && c.Interval.D() < time.Second {
		return fmt.Errorf("%s.interval: %s, want at least 1s", path, c.Interval.D())
	}
	return nil
}

// A driver reads all devices. After an error the next reading begins anew.
type driver interface {
	read() ([]sample, error)
	describe() (inventory.Extra, error)
	close()
}

// sample is one series of a device.
type sample struct {
	name, help string
	kind       prometheus.ValueType
	labels     []string // values of labelNames
	value      float64
}

// labelNames are dcgm-exporter's for a GPU.
var labelNames = []string{"gpu", "UUID", "pci_bus_id", "device", "modelName", "DCGM_FI_DRIVER_VERSION"}

var up = prometheus.NewDesc("collector_up", "Whether the collector could read its source.", nil, prometheus.Labels{"collector": "nvml"})

// Collector is a prometheus.Collector of this host's NVIDIA GPUs.
type Collector struct {
	log *slog.Logger

	busy   chan struct{} // full while the driver is in use; guards all below
	driver driver
	fault  string // why nothing is collected; "" while it is
	told   bool   // the first outcome was logged
}

// New makes the collector. Nothing is loaded before the first collection.
func New(log *slog.Logger) *Collector {
	return &Collector{log: log, busy: make(chan struct{}, 1), driver: newDriver()}
}

// Gatherer is a registry that holds only this collector.
func (c *Collector) Gatherer() prometheus.Gatherer {
	reg := prometheus.NewRegistry()
	reg.MustRegister(c)
	return reg
}

// Describe says nothing, because which series there are depends on the devices.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the driver once.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	c.busy <- struct{}{}
	defer func() { <-c.busy }()
	samples, err := c.driver.read()
	c.turn(err)
	ok := 1.0
	if err != nil {
		ok = 0
	}
	ch <- prometheus.MustNewConstMetric(up, prometheus.GaugeValue, ok)
	for _, s := range samples {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(s.name, s.help, labelNames, nil), s.kind, s.value, s.labels...)
	}
}

// closeWait is how long Close waits for a reading under way.
const closeWait = 2 * time.Second

// Close lets go of the driver. A call into it cannot be interrupted: when one hangs, Close
// gives up, and the driver is let go with the process.
func (c *Collector) Close() error {
	t := time.NewTimer(closeWait)
	defer t.Stop()
	select {
	case c.busy <- struct{}{}:
		c.driver.close()
		<-c.busy
		return nil
	case <-t.C:
		return fmt.Errorf("NVML is still being read after %s", closeWait)
	}
}

// turn logs when reading begins to fail, fails for another reason, or works again.
func (c *Collector) turn(err error) {
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	if c.told && fault == c.fault {
		return
	}
	if err != nil {
		c.log.Warn("NVML is not read, will try again", "err", err)
	} else {
		c.log.Info("NVML is read")
	}
	c.told, c.fault = true, fault
}
