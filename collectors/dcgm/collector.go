// Package dcgm reads NVIDIA GPUs through DCGM, from a running host engine or from one of
// its own. It gives the fields under the names and with the labels by which
// dcgm-exporter gives them, so that both sources mean the same downstream, and beside
// them what that exporter has no series for, as sextant_dcgm_*.
//
// The binding needs cgo and, when it runs, libdcgm.so.4. Without either there is
// collector_up 0 and one line that says why.
package dcgm

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A source reads the engine. It connects when it has to, and after an error the next
// reading connects anew.
type source interface {
	read(now time.Time) (*page, error)
	close() error
}

// Collector is a prometheus.Collector of this host's NVIDIA devices. A process has one at
// a time, because DCGM's library has one connection.
type Collector struct {
	log *slog.Logger

	busy   chan struct{} // full while the source is in use; guards all below
	source source
	fault  string                      // why nothing is collected; "" while it is
	told   bool                        // the first outcome was logged
	notes  map[string]string           // of the last page
	descs  map[string]*prometheus.Desc // by name and label names
}

// New makes the collector. Nothing is connected before the first collection. The interval
// is the one between collections.
func New(c Config, interval time.Duration, log *slog.Logger) *Collector {
	return &Collector{log: log, busy: make(chan struct{}, 1), source: newSource(c, interval), descs: map[string]*prometheus.Desc{}}
}

// Gatherer is a registry that holds only this collector.
func (c *Collector) Gatherer() prometheus.Gatherer {
	reg := prometheus.NewRegistry()
	reg.MustRegister(c)
	return reg
}

// Describe says nothing, because which series there are depends on the devices.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the engine once.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	c.busy <- struct{}{}
	defer func() { <-c.busy }()
	p, err := c.source.read(time.Now())
	c.turn(err)
	c.emit(ch, sample{"collector_up", "Whether the collector could read its source.", prometheus.GaugeValue,
		labels{[]string{"collector"}, []string{"dcgm"}}, boolValue(err == nil)})
	if err != nil {
		return
	}
	c.tell(p.notes)
	for i, n := range p.states {
		c.emit(ch, sample{"sextant_dcgm_values", "Field values of the last reading by how they came out.", prometheus.GaugeValue,
			labels{[]string{"state"}, []string{stateNames[i]}}, float64(n)})
	}
	for _, s := range p.samples {
		c.emit(ch, s)
	}
}

// closeWait is how long Close waits for a reading under way.
const closeWait = 2 * time.Second

// Close ends the connection. The collector can be used again and then connects anew. A
// call into the library cannot be interrupted: when one hangs, Close gives up, and the
// connection ends with the process.
func (c *Collector) Close() error {
	t := time.NewTimer(closeWait)
	defer t.Stop()
	select {
	case c.busy <- struct{}{}:
		defer func() { <-c.busy }()
		return c.source.close()
	case <-t.C:
		return fmt.Errorf("DCGM is still being read after %s", closeWait)
	}
}

func (c *Collector) emit(ch chan<- prometheus.Metric, s sample) {
	key := s.name
	for _, n := range s.labels.names {
		key += "\xff" + n
	}
	d := c.descs[key]
	if d == nil {
		d = prometheus.NewDesc(s.name, s.help, s.labels.names, nil)
		c.descs[key] = d
	}
	ch <- prometheus.MustNewConstMetric(d, s.kind, s.value, s.labels.values...)
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
		c.log.Warn("DCGM is not read, will try again", "err", err)
	} else {
		c.log.Info("DCGM is read")
	}
	c.told, c.fault = true, fault
}

// tell logs which parts began to fail and which work again.
func (c *Collector) tell(notes map[string]string) {
	for _, subject := range slices.Sorted(maps.Keys(notes)) {
		if c.notes[subject] != notes[subject] {
			c.log.Warn("a part of DCGM is not read", "part", subject, "err", notes[subject])
		}
	}
	for _, subject := range slices.Sorted(maps.Keys(c.notes)) {
		if _, still := notes[subject]; !still {
			c.log.Info("a part of DCGM is read again", "part", subject)
		}
	}
	c.notes = notes
}
