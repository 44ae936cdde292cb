package podresources

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The series. Those named after the kubelet are what it says; those of accelerators are of
// devices whose ids are documented, under the names of their readings.
var (
	up          = prometheus.NewDesc("collector_up", "Whether the collector could read its source.", nil, prometheus.Labels{"collector": "pod_resources"})
	deviceDesc  = prometheus.NewDesc("kubelet_device_held_info", "A device that a container holds, by the id of its device plugin.", []string{"resource", "device_id", "numa_node", "namespace", "pod", "container"}, nil)
	claimDesc   = prometheus.NewDesc("kubelet_claim_held_info", "A device that a container holds through a ResourceClaim.", []string{"driver", "pool", "device_id", "share_id", "claim_namespace", "claim", "namespace", "pod", "container"}, nil)
	offeredDesc = prometheus.NewDesc("kubelet_devices_allocatable", "Devices of a resource that can be given away; a shared one counts as often as it is offered.", []string{"resource"}, nil)
	heldDesc    = prometheus.NewDesc("kubelet_devices_held", "Devices of a resource that containers hold, counted likewise.", []string{"resource"}, nil)
	ownerDesc   = prometheus.NewDesc("accel_owner_info", "Who holds a device or slice.", []string{"vendor", "device", "slice", "namespace", "pod", "container"}, nil)
	ratioDesc   = prometheus.NewDesc("accel_allocated_ratio", "Share of a device or slice that is given away to containers, whether or not it is used.", []string{"vendor", "device", "slice"}, nil)
)

// readWait bounds one reading.
const readWait = 5 * time.Second

// Collector is a prometheus.Collector of what containers hold on this node.
type Collector struct {
	client *client
	slices SliceOf
	log    *slog.Logger

	mu    sync.Mutex
	fault string // why nothing is read; "" while it is; guarded by mu
	told  bool   // the first outcome was logged; guarded by mu
}

// New makes the collector. Nothing is connected before the first collection. slices may be
// nil.
func New(cfg Config, slices SliceOf, log *slog.Logger) *Collector {
	if slices == nil {
		slices = func(string) (string, string, bool) { return "", "", false }
	}
	return &Collector{client: newClient(cfg.Socket), slices: slices, log: log}
}

// Gatherer is a registry that holds only this collector.
func (c *Collector) Gatherer() prometheus.Gatherer {
	reg := prometheus.NewRegistry()
	reg.MustRegister(c)
	return reg
}

// Close lets go of the connection.
func (c *Collector) Close() { c.client.close() }

// Describe says nothing, because which series there are depends on the pods.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// Collect asks the kubelet once.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readWait)
	defer cancel()
	t, err := c.read(ctx)
	c.turn(err)
	gauge := func(desc *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, labels...)
	}
	if err != nil {
		gauge(up, 0)
		return
	}
	gauge(up, 1)
	for d := range t.held {
		gauge(deviceDesc, 1, d.resource, d.id, d.numa, d.namespace, d.pod, d.container)
	}
	for k := range t.claims {
		gauge(claimDesc, 1, k.driver, k.pool, k.device, k.part, k.claimed.namespace, k.name, k.owner.namespace, k.pod, k.container)
	}
	for resource, a := range t.resources {
		gauge(heldDesc, float64(len(a.held)), resource)
		if t.whole {
			gauge(offeredDesc, float64(len(a.offered)), resource)
		}
	}
	for p, owners := range t.owners {
		for o := range owners {
			gauge(ownerDesc, 1, p.Vendor, p.Device, p.Slice, o.namespace, o.pod, o.container)
		}
	}
	for p, a := range t.places {
		if t.rated(a) {
			gauge(ratioDesc, a.ratio(), p.Vendor, p.Device, p.Slice)
		}
	}
}

// read makes the two calls. A kubelet that does not tell what there is, as those before
// 1.23 and where the feature is off, tells who holds what all the same.
func (c *Collector) read(ctx context.Context) (*tally, error) {
	b, err := c.client.call(ctx, methodList)
	if err != nil {
		return nil, err
	}
	holders, err := decodeList(b)
	if err != nil {
		return nil, err
	}
	var allocatable []deviceSet
	b, err = c.client.call(ctx, methodAllocatable)
	known := err == nil
	if known {
		if allocatable, err = decodeAllocatable(b); err != nil {
			return nil, err
		}
	}
	var refused *statusError
	if err != nil && !errors.As(err, &refused) {
		return nil, err
	}
	return count(holders, allocatable, known, c.slices), nil
}

// turn logs when reading begins to fail, fails for another reason, or works again.
func (c *Collector) turn(err error) {
	fault := ""
	if err != nil {
		fault = fmt.Sprint(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told && fault == c.fault {
		return
	}
	if err != nil {
		c.log.Warn("the kubelet's pod resources are not read, will try again", "err", err)
	} else {
		c.log.Info("the kubelet's pod resources are read")
	}
	c.told, c.fault = true, fault
}
