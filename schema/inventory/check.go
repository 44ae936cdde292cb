package inventory

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a document. A node that has more lists as many as fit and says so in Faults.
const (
	MaxNUMA     = 1024
	MaxDevices  = 256
	MaxSlices   = 128 // of one device
	MaxNICs     = 256
	MaxDisks    = 512
	MaxPCI      = 2048
	MaxLinks    = 8192
	MaxLabels   = 512
	MaxFaults   = 64
	MaxText     = 1024 // bytes of a string
	MaxNode     = 255
	MaxReplicas = 1 << 15 // pods that share a device
	maxAmount   = 1e18    // of bytes/s, hertz, seconds: what features of it stay finite
)

// Check returns every fault of the document, each with the path of its key. What passes
// can be stored and drawn as a graph: ids are unique, and links end at parts that exist.
func (d *Document) Check() error {
	c := &checker{}
	c.bad(d.Version != Version, "version: %d, want %d", d.Version, Version)
	c.name("node", d.Node)
	c.bad(d.Collected <= 0 || d.Since <= 0 || d.Since > d.Collected, "since_ms, collected_ms: %d, %d are no points in time in this order", d.Since, d.Collected)
	c.bad(len(d.Hash) != 32 || strings.Trim(d.Hash, "0123456789abcdef") != "", "hash: %q is not 32 hexadecimal digits", d.Hash)
	for _, l := range []struct {
		key      string
		n, limit int
	}{{"numa", len(d.NUMA), MaxNUMA}, {"devices", len(d.Devices), MaxDevices}, {"nics", len(d.NICs), MaxNICs}, {"disks", len(d.Disks), MaxDisks},
		{"pci", len(d.PCI), MaxPCI}, {"links", len(d.Links), MaxLinks}, {"labels", len(d.Labels), MaxLabels}, {"faults", len(d.Faults), MaxFaults}} {
		c.bad(l.n > l.limit, "%s: %d entries, the limit is %d", l.key, l.n, l.limit)
	}
	if len(c.faults) > 0 {
		return errors.Join(c.faults...)
	}
	c.host(d)
	c.parts(d)
	c.links(d)
	return errors.Join(c.faults...)
}

// checker collects faults, at most a few: a broken document needs no thousand of them.
type checker struct{ faults []error }

func (c *checker) bad(bad bool, format string, args ...any) {
	if bad && len(c.faults) < 10 {
		c.faults = append(c.faults, fmt.Errorf(format, args...))
	}
}

func (c *checker) text(path string, values ...string) {
	for _, s := range values {
		c.bad(len(s) > MaxText || !utf8.ValidString(s), "%s: %d bytes, want at most %d of UTF-8", path, len(s), MaxText)
	}
}

// name is a text that is a key: not empty, and without control characters.
func (c *checker) name(path, s string) {
	c.bad(s == "" || len(s) > MaxNode || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }),
		"%s: %q, want 1 to %d bytes without control characters", path, s, MaxNode)
}

// CheckNode says what is wrong with the name of a node.
func CheckNode(name string) error {
	c := &checker{}
	c.name("node", name)
	return errors.Join(c.faults...)
}

func (c *checker) amount(path string, v float64) {
	c.bad(math.IsNaN(v) || v < 0 || v > maxAmount, "%s: %g is no amount", path, v)
}

func (c *checker) texts(path string, m map[string]string) {
	c.bad(len(m) > MaxLabels, "%s: %d entries, the limit is %d", path, len(m), MaxLabels)
	for k, v := range m {
		c.text(path, k, v)
	}
}

func (c *checker) host(d *Document) {
	h := &d.Host
	c.text("host", h.Hostname, h.Arch, h.Kernel, h.OS, h.OSVersion, h.OSName, h.BootID, h.Vendor, h.Product, h.BIOS, h.Hypervisor)
	c.text("cpu", d.CPU.Model, d.CPU.Vendor, d.CPU.Family, d.CPU.Stepping, d.CPU.Microcode)
	c.bad(d.CPU.Sockets < 0 || d.CPU.Cores < 0 || d.CPU.Threads < 0, "cpu: negative count")
	c.bad(len(d.CPU.Features) > MaxLabels, "cpu.features: %d entries, the limit is %d", len(d.CPU.Features), MaxLabels)
	c.text("cpu.features", d.CPU.Features...)
	c.amount("cpu.max_hertz", d.CPU.MaxHertz)
	c.amount("cpu.base_hertz", d.CPU.BaseHertz)
	c.bad(len(d.CPU.Isolated) > 16*MaxText, "cpu.isolated: too long")
	c.bad(len(d.Memory.HugePages) > 16, "memory.huge_pages: %d sizes", len(d.Memory.HugePages))
	c.text("place", d.Place.Region, d.Place.Zone, d.Place.Rack, d.Place.Switch)
	c.texts("labels", d.Labels)
	c.text("faults", d.Faults...)
	if k := d.Kubernetes; k != nil {
		c.text("kubernetes.name", k.Name)
		c.texts("kubernetes.labels", k.Labels)
		c.texts("kubernetes.allocatable", k.Allocatable)
		c.texts("kubernetes.capacity", k.Capacity)
		c.bad(len(k.Taints) > MaxLabels, "kubernetes.taints: %d entries, the limit is %d", len(k.Taints), MaxLabels)
		for _, t := range k.Taints {
			c.text("kubernetes.taints", t.Key, t.Value, t.Effect)
		}
	}
	for i, n := range d.NUMA {
		c.bad(n.ID < 0 || len(n.Distances) > MaxNUMA || len(n.HugePages) > 16 || len(n.CPUs) > 16*MaxText, "numa[%d]: out of bounds", i)
		c.amount("numa.read_latency_seconds", n.Latency)
		c.amount("numa.read_bandwidth", n.Bandwidth)
	}
}

// known are the parts of a document that a link may end at.
func (d *Document) known() map[Part]bool {
	out := map[Part]bool{}
	for i := range d.Devices {
		out[Part{PartDevice, d.Devices[i].ID}] = true
	}
	for i := range d.NICs {
		out[Part{PartNIC, d.NICs[i].ID}] = true
	}
	for i := range d.Disks {
		out[Part{PartDisk, d.Disks[i].ID}] = true
	}
	for _, n := range d.NUMA {
		out[NUMAPart(n.ID)] = true
	}
	return out
}

func (c *checker) parts(d *Document) {
	for i := range d.Devices {
		v := &d.Devices[i]
		c.name(fmt.Sprintf("devices[%d].id", i), v.ID)
		c.bad(v.Vendor == "" || v.Kind == "", "devices[%d]: vendor and kind are needed", i)
		c.text("devices", v.UID, v.Vendor, v.Kind, v.Model, v.Generation, v.Capability, v.Firmware, v.Partition, v.MIG, v.Sharing)
		c.amount("devices.power_limit_watts", v.PowerLimit)
		c.amount("devices.max_hertz", v.MaxHertz)
		c.amount("devices.memory_max_hertz", v.MemoryHertz)
		c.bad(v.Replicas < 0 || v.Replicas > MaxReplicas, "devices.replicas: %d", v.Replicas)
		c.place("devices", v.PCIPlace)
		c.bad(len(v.Slices) > MaxSlices, "devices[%d].slices: %d entries, the limit is %d", i, len(v.Slices), MaxSlices)
		for _, s := range v.Slices {
			c.name("devices.slices.id", s.ID)
			c.text("devices.slices", s.UID, s.Kind, s.Parent, s.Profile)
			c.amount("devices.slices.cores", s.Cores)
		}
	}
	for i := range d.NICs {
		v := &d.NICs[i]
		c.name(fmt.Sprintf("nics[%d].id", i), v.ID)
		c.text("nics", v.Name, v.MAC, v.Type, v.Model, v.RDMA, v.DPU, v.Firmware)
		c.place("nics", v.PCIPlace)
		c.amount("nics.speed", v.Speed)
	}
	for i := range d.Disks {
		v := &d.Disks[i]
		c.name(fmt.Sprintf("disks[%d].id", i), v.ID)
		c.text("disks", v.Name, v.Model)
		c.place("disks", v.PCIPlace)
	}
	for i, f := range d.PCI {
		c.name(fmt.Sprintf("pci[%d].address", i), f.Address)
		c.text("pci", f.Parent, f.Class, f.ID, f.Driver)
		c.link("pci", f.Link)
	}
	all := len(d.Devices) + len(d.NICs) + len(d.Disks) + len(d.NUMA)
	c.bad(len(d.known()) < all, "devices, nics, disks, numa: two parts of one kind have one id")
}

func (c *checker) place(path string, p PCIPlace) {
	c.text(path, p.PCI, p.PCIID, p.Subsystem, p.Driver, p.DriverVersion)
	c.bad(p.NUMA < -1 || p.NUMA > math.MaxInt16, "%s.numa: %d", path, p.NUMA)
	c.link(path, p.Link)
}

func (c *checker) link(path string, l *PCILink) {
	if l != nil {
		c.amount(path+".link.gigatransfers", l.Speed)
		c.amount(path+".link.bandwidth", l.Bandwidth)
		c.bad(l.Width < 0 || l.Width > 64 || l.MaxWidth < 0 || l.MaxWidth > 64, "%s.link: %d of %d lanes", path, l.Width, l.MaxWidth)
	}
}

func (c *checker) links(d *Document) {
	known := d.known()
	for i := range d.Links {
		l := &d.Links[i]
		for _, p := range []Part{l.From, l.To} {
			switch p.Kind {
			case PartDevice, PartNIC, PartDisk, PartNUMA:
				c.bad(!known[p], "links[%d]: the document has no %s %q", i, p.Kind, p.ID)
			case PartNode, PartPlace:
				c.name(fmt.Sprintf("links[%d]", i), p.ID)
			default:
				c.bad(true, "links[%d]: %q is no kind of part", i, p.Kind)
			}
		}
		c.bad(l.From == l.To, "links[%d]: both ends are %s %q", i, l.From.Kind, l.From.ID)
		c.bad(!slices.Contains(LinkKinds, l.Kind), "links[%d]: %q is no kind of link", i, l.Kind)
		c.bad(l.Origin != OriginDerived && l.Origin != OriginStated && l.Origin != OriginConfigured, "links[%d]: origin %q", i, l.Origin)
		c.amount("links.bandwidth", l.Bandwidth)
		c.amount("links.latency", l.Latency)
		c.bad(l.Distance < 0 || l.Distance > 255 || l.Hops < 0 || l.Hops > 255 || l.Count < 0 || l.Count > 1<<15, "links[%d]: distance, hops or count out of bounds", i)
	}
}
