package inventory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	schema "sextant/schema/inventory"
)

// Observed is a gatherer that hands on what another one gathers, and keeps what the
// DCGM collector's series say of identity and topology. As a source it answers from what
// it kept: the library is asked once, by the scrape.
type Observed struct {
	prometheus.Gatherer

	mu   sync.Mutex
	last *Extra // guarded by mu; nil: nothing was gathered yet
}

// Observe returns g, observed.
func Observe(g prometheus.Gatherer) *Observed { return &Observed{Gatherer: g} }

// Gather implements prometheus.Gatherer.
func (o *Observed) Gather() ([]*dto.MetricFamily, error) {
	families, err := o.Gatherer.Gather()
	if x := dcgmExtra(families); len(x.Devices) > 0 {
		o.mu.Lock()
		o.last = &x
		o.mu.Unlock()
	}
	return families, err
}

// Name implements Source.
func (*Observed) Name() string { return "dcgm" }

// Describe implements Source. An engine that does not answer leaves its last answer in
// force.
func (o *Observed) Describe(context.Context) (Extra, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		return Extra{}, nil
	}
	return *o.last, nil
}

// dcgmExtra reads the DCGM collector's families.
func dcgmExtra(families []*dto.MetricFamily) Extra {
	devices, memory, links := map[string]*DeviceExtra{}, map[string]uint64{}, []LinkExtra{}
	device := func(l map[string]string) *DeviceExtra {
		uid := l["UUID"]
		if devices[uid] == nil {
			devices[uid] = &DeviceExtra{UID: uid, PCI: l["pci_bus_id"]}
		}
		return devices[uid]
	}
	for _, f := range families {
		for _, m := range f.Metric {
			l := labelsOf(m)
			if l["UUID"] == "" {
				continue
			}
			switch f.GetName() {
			case "sextant_dcgm_gpu_info":
				d := device(l)
				d.Model, d.Driver, d.Firmware, d.Capability = l["modelName"], l["DCGM_FI_DRIVER_VERSION"], l["DCGM_FI_DEV_VBIOS_VERSION"], l["compute_capability"]
			case "DCGM_FI_DEV_FB_TOTAL": // MiB, of a device or of a MIG instance of it
				bytes := uint64(max(m.GetGauge().GetValue(), 0)) << 20
				if gi := l["GPU_I_ID"]; gi != "" {
					memory[l["UUID"]+" gi"+gi] = bytes
				} else {
					device(l).Memory = bytes
				}
			case "DCGM_FI_DEV_MAX_SM_CLOCK": // MHz
				device(l).MaxHertz = max(m.GetGauge().GetValue(), 0) * 1e6
			case "DCGM_FI_DEV_MAX_MEM_CLOCK":
				device(l).MemoryHertz = max(m.GetGauge().GetValue(), 0) * 1e6
			case "sextant_dcgm_mig_slices":
				d := device(l)
				d.Slices = append(d.Slices, migSlice(l, m.GetGauge().GetValue()))
			case "sextant_dcgm_gpu_peer_info":
				if n, ok := strings.CutPrefix(l["link"], "NV"); ok {
					count, _ := strconv.Atoi(n)
					links = append(links, LinkExtra{From: l["UUID"], To: l["peer_UUID"], Kind: schema.LinkNVLink, Count: count})
				}
			}
		}
	}
	x := Extra{Links: links}
	for _, uid := range slices.Sorted(maps.Keys(devices)) {
		d := devices[uid]
		for i := range d.Slices {
			d.Slices[i].Memory = memory[uid+" "+d.Slices[i].ID]
		}
		slices.SortFunc(d.Slices, func(a, b schema.Slice) int { return cmp.Compare(a.ID, b.ID) })
		x.Devices = append(x.Devices, *d)
	}
	slices.SortFunc(x.Links, func(a, b LinkExtra) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return x
}

// migSlice is a GPU instance, or a compute instance of one.
func migSlice(l map[string]string, cores float64) schema.Slice {
	s := schema.Slice{ID: "gi" + l["GPU_I_ID"], Kind: "mig_gpu", Profile: l["GPU_I_PROFILE"], Cores: cores}
	if ci, ok := l["GPU_CI_ID"]; ok {
		s = schema.Slice{ID: fmt.Sprintf("%s/ci%s", s.ID, ci), Kind: "mig_compute", Parent: s.ID, Profile: l["GPU_CI_PROFILE"], Cores: cores}
	}
	return s
}

func labelsOf(m *dto.Metric) map[string]string {
	out := map[string]string{}
	for _, p := range m.Label {
		out[p.GetName()] = p.GetValue()
	}
	return out
}
