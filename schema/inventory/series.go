package inventory

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Label is a label of a series.
type Label struct{ Name, Value string }

// Series is a static fact as a series. The node is not among its labels: the pipeline
// takes it from the agent.
type Series struct {
	Family *Family
	Labels []Label // without empty values
	Value  float64
}

// MaxSeriesLinks bounds how many links become series. An 8-GPU node with as many ports
// has about 160; a link has three or four series.
const MaxSeriesLinks = 1024

// Series is the document as series, so that what a node is made of can be asked like what
// it does. Equal content gives equal series in equal order. Disks and the PCI tree are left
// out, and so are links beyond the limit, from the end.
//
// The labels device and uid of an accelerator are both the name that its readings have in
// their label device: its own id, else pci: and its address. The labels src and dst of a
// link are names as Name gives them.
func (d *Document) Series(maxLinks int) []Series {
	w := &seriesWriter{simulated: d.Simulated}
	w.node(d)
	for i := range d.Devices {
		w.device(&d.Devices[i])
	}
	for i := range d.NICs {
		w.nic(&d.NICs[i])
	}
	w.links(d, maxLinks)
	return w.out
}

// Name is what a part is called in series: an accelerator by its label device, a node by
// its name, every other part by its kind and id, such as nic:0000:18:00.0, numa:0 and, for
// a place, by the kind of link that leads there, such as rack:r7.
func (l *Link) Name(p Part) string {
	switch p.Kind {
	case PartNode:
		return p.ID
	case PartDevice:
		return DeviceName(p.ID)
	case PartPlace:
		return string(l.Kind) + ":" + p.ID
	}
	return string(p.Kind) + ":" + p.ID
}

// DeviceName is the label device of an accelerator's readings, made of its id. One that
// has no uid goes by its PCI address, as the catalogue writes it.
func DeviceName(id string) string {
	if pciAddress(id) {
		return "pci:" + id
	}
	return id
}

// pciAddress tells 0000:17:00.0 from a uid.
func pciAddress(s string) bool {
	parts := strings.Split(s, ":")
	return len(parts) == 3 && len(parts[0]) >= 4 && len(parts[1]) == 2 && len(parts[2]) == 4 && parts[2][2] == '.' &&
		strings.Trim(s, "0123456789abcdef:.") == ""
}

// SliceName is the label slice of a slice's readings: exporters number MIG instances, and
// the driver calls them gi3/ci0.
func (s *Slice) SliceName() string {
	if s.Kind != "mig_gpu" && s.Kind != "mig_compute" {
		return s.ID
	}
	return strings.NewReplacer("gi", "", "ci", "").Replace(s.ID)
}

// SliceAt is a slice under the labels of its readings.
type SliceAt struct{ Device, Slice string }

// SliceUIDs finds slices by the vendor's uid. NVIDIA's is of a compute instance; where it is
// the only one of its GPU instance, the readings are the GPU instance's.
func (d *Document) SliceUIDs() map[string]SliceAt {
	out := map[string]SliceAt{}
	for i := range d.Devices {
		v := &d.Devices[i]
		parts, byID := map[string]int{}, map[string]*Slice{}
		for k := range v.Slices {
			parts[v.Slices[k].Parent]++
			byID[v.Slices[k].ID] = &v.Slices[k]
		}
		for k := range v.Slices {
			s := &v.Slices[k]
			if s.UID == "" {
				continue
			}
			named := s
			if outer := byID[s.Parent]; outer != nil && parts[s.Parent] == 1 {
				named = outer
			}
			out[s.UID] = SliceAt{DeviceName(v.ID), named.SliceName()}
		}
	}
	return out
}

// Generation is the PCIe generation of the link, 0 for a speed that PCIe does not have.
func (l *PCILink) Generation() int {
	switch l.Speed {
	case 2.5:
		return 1
	case 5:
		return 2
	case 8:
		return 3
	case 16:
		return 4
	case 32:
		return 5
	case 64:
		return 6
	}
	return 0
}

type seriesWriter struct {
	out       []Series
	simulated bool
}

// put adds a series whose labels are pairs of name and value after those of the part.
func (w *seriesWriter) put(family int, v float64, part []Label, pairs ...string) {
	ls := make([]Label, 0, len(part)+len(pairs)/2+1)
	ls = append(ls, part...)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			ls = append(ls, Label{pairs[i], pairs[i+1]})
		}
	}
	if w.simulated {
		ls = append(ls, Label{"simulated", "true"})
	}
	w.out = append(w.out, Series{&families[family], ls, v})
}

// known adds a series of a number that the document has: 0 is unknown there.
func (w *seriesWriter) known(family int, v float64, part []Label, pairs ...string) {
	if v > 0 {
		w.put(family, v, part, pairs...)
	}
}

func (w *seriesWriter) node(d *Document) {
	h, p := &d.Host, &d.Place
	w.put(nodeInfo, 1, nil, "arch", h.Arch, "kernel", h.Kernel, "os", h.OS, "os_version", h.OSVersion, "maker", h.Vendor, "product", h.Product,
		"hypervisor", h.Hypervisor, "cpu_model", d.CPU.Model, "region", p.Region, "zone", p.Zone, "rack", p.Rack, "switch", p.Switch,
		"instance_type", d.instanceType())
	for _, l := range sortedLabels(d.Labels) {
		w.put(nodeLabel, 1, nil, "label", l.Name, "value", l.Value)
	}
	w.known(cpuSockets, float64(d.CPU.Sockets), nil)
	w.known(cpuCores, float64(d.CPU.Cores), nil)
	w.known(cpuThreads, float64(d.CPU.Threads), nil)
	w.known(cpuBase, d.CPU.BaseHertz, nil)
	w.known(cpuMax, d.CPU.MaxHertz, nil)
	w.known(numaNodes, float64(len(d.NUMA)), nil)
	for _, n := range d.NUMA {
		w.known(numaMemory, float64(n.Memory), nil, "numa", strconv.Itoa(n.ID))
	}
	w.known(memoryTotal, float64(d.Memory.Total), nil)
	if d.Memory.Total > 0 { // where memory was read, no swap is none
		w.put(swapTotal, float64(d.Memory.Swap), nil)
	}
	w.put(nics, float64(len(d.NICs)), nil)
	w.counts(d)
}

// counts adds how many devices there are of each kind, and a plain 0 where there are none.
func (w *seriesWriter) counts(d *Document) {
	type kind struct{ vendor, kind, model string }
	n, order := map[kind]int{}, []kind(nil)
	for i := range d.Devices {
		k := kind{d.Devices[i].Vendor, d.Devices[i].Kind, d.Devices[i].Model}
		if n[k] == 0 {
			order = append(order, k)
		}
		n[k]++
	}
	for _, k := range order {
		w.put(devices, float64(n[k]), nil, "vendor", k.vendor, "kind", k.kind, "model", k.model)
	}
	if len(order) == 0 {
		w.put(devices, 0, nil)
	}
}

// instanceType is what a cloud calls the machine.
func (d *Document) instanceType() string {
	if d.Kubernetes == nil {
		return ""
	}
	return d.Kubernetes.Labels["node.kubernetes.io/instance-type"]
}

func (w *seriesWriter) device(v *Device) {
	name := DeviceName(v.ID)
	part := []Label{{"device", name}, {"uid", name}, {"vendor", v.Vendor}, {"kind", v.Kind}}
	w.put(deviceInfo, 1, part, "model", v.Model, "generation", v.Generation, "compute_capability", v.Capability, "driver", v.Driver,
		"driver_version", v.DriverVersion, "firmware", v.Firmware, "partition", v.Partition, "pci", v.PCI, "sharing", v.Sharing)
	w.known(deviceMemory, float64(v.Memory), part)
	w.known(devicePower, v.PowerLimit, part)
	w.known(deviceClock, v.MaxHertz, part, "domain", "core")
	w.known(deviceClock, v.MemoryHertz, part, "domain", "memory")
	if cc, err := strconv.ParseFloat(v.Capability, 64); err == nil && !math.IsInf(cc, 0) && !math.IsNaN(cc) {
		w.known(deviceCC, cc, part)
	}
	if l := v.Link; l != nil {
		w.known(devicePCIe, float64(l.Generation()), part)
		w.known(deviceLanes, float64(l.Width), part)
		w.known(deviceMaxLane, float64(l.MaxWidth), part)
		w.known(deviceBus, l.Bandwidth, part)
	}
	w.numa(deviceNUMA, v.NUMA, part)
	if v.MIG != "" {
		w.put(deviceMIG, flag(v.MIG == "enabled"), part)
	}
	w.put(deviceSlices, float64(v.outerSlices()), part)
	w.known(deviceShares, float64(v.Replicas), part)
	for i := range v.Slices {
		s := &v.Slices[i]
		at := append(part[:len(part):len(part)], Label{"slice", s.SliceName()})
		w.put(sliceInfo, 1, at, "slice_kind", s.Kind, "profile", s.Profile, "parent", strings.TrimPrefix(s.Parent, "gi"))
		w.known(sliceMemory, float64(s.Memory), at)
		w.known(sliceCores, s.Cores, at)
	}
}

// outerSlices counts the slices that are not parts of another one.
func (v *Device) outerSlices() int {
	n := 0
	for i := range v.Slices {
		if v.Slices[i].Parent == "" {
			n++
		}
	}
	return n
}

func (w *seriesWriter) numa(family, numa int, part []Label) {
	if numa >= 0 { // -1 is unknown, and 0 the first
		w.put(family, float64(numa), part)
	}
}

func (w *seriesWriter) nic(v *NIC) {
	part := []Label{{"nic", "nic:" + v.ID}}
	if v.Name != "" {
		part = append(part, Label{"device", v.Name}) // as node_network_* series have it
	}
	w.put(nicInfo, 1, part, "kind", v.Type, "model", v.Model, "dpu", v.DPU, "rdma", v.RDMA, "driver", v.Driver, "driver_version", v.DriverVersion,
		"firmware", v.Firmware, "pci", v.PCI)
	w.known(nicSpeed, v.Speed, part)
	w.put(nicUp, flag(v.Up), part)
	w.numa(nicNUMA, v.NUMA, part)
	if v.Link != nil {
		w.known(nicBus, v.Link.Bandwidth, part)
	}
}

func (w *seriesWriter) links(d *Document, limit int) {
	n, left := 0, 0
	for i := range d.Links {
		l := &d.Links[i]
		switch {
		case l.From.Kind == PartDisk || l.To.Kind == PartDisk: // no placement reads them
		case n >= limit:
			left++
		default:
			n++
			w.link(l)
		}
	}
	w.put(linksLeft, float64(left), nil)
}

func (w *seriesWriter) link(l *Link) {
	part := []Label{{"src", l.Name(l.From)}, {"dst", l.Name(l.To)}, {"kind", string(l.Kind)}}
	w.put(linkInfo, 1, part, "src_part", string(l.From.Kind), "dst_part", string(l.To.Kind), "origin", string(l.Origin))
	w.known(linkBandwidth, l.Bandwidth, part)
	w.known(linkLatency, l.Latency, part)
	w.known(linkDistance, float64(l.Distance), part)
	w.known(linkHops, float64(l.Hops), part)
	w.known(linkCount, float64(l.Count), part)
	if l.Degraded {
		w.put(linkDegraded, 1, part)
	}
}

func sortedLabels(m map[string]string) []Label {
	var out []Label
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Label{k, m[k]})
	}
	return out
}
