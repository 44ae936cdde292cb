// Package parts is what a simulated node is made of, as the document that a real agent
// would read off such a machine.
package parts

import (
	"strconv"
	"strings"
	"time"

	"sextant/internal/simulate"
	"sextant/schema/inventory"
)

// fabrics are the links between the accelerators of a simulated node, by vendor.
var fabrics = map[simulate.Vendor]inventory.LinkKind{simulate.NVIDIA: inventory.LinkNVLink, simulate.AMD: inventory.LinkXGMI, simulate.Ascend: inventory.LinkHCCS}

// makers are the vendors as an inventory names them, with the kind of their devices.
var makers = map[simulate.Vendor][2]string{simulate.NVIDIA: {"nvidia", "gpu"}, simulate.AMD: {"amd", "gpu"}, simulate.Intel: {"intel", "gpu"},
	simulate.Ascend: {"huawei", "npu"}, simulate.Gaudi: {"habana", "hpu"}}

// chips are the generations of the models, with NVIDIA's compute capability.
var chips = map[string][2]string{"B200": {"Blackwell", "10.0"}, "H100": {"Hopper", "9.0"}, "A100": {"Ampere", "8.0"}, "A30": {"Ampere", "8.0"}, "L4": {"Ada", "8.9"},
	"MI300X": {"CDNA3", ""}, "MI210": {"CDNA2", ""}, "Max1550": {"Xe-HPC", ""}, "Flex170": {"Xe-HPG", ""}, "Gaudi2": {"Gaudi2", ""}, "Gaudi3": {"Gaudi3", ""}}

// Document is the inventory of a node as it is now, read at the given time, and sealed.
func Document(n *simulate.Node, now time.Time) (*inventory.Document, error) {
	h := n.Group.Host
	sockets := max(h.Sockets, 1)
	d := &inventory.Document{Node: n.Name, Simulated: true, Since: now.UnixMilli(), Collected: now.UnixMilli(),
		Host:   inventory.Host{Hostname: n.Name, Arch: h.Arch, BootID: strconv.FormatInt(n.Boot, 16)},
		CPU:    inventory.CPU{Model: h.Model, Sockets: sockets, Threads: h.CPUs},
		Memory: inventory.Memory{Total: uint64(h.Memory)}, Place: inventory.Place{Rack: "sim-" + n.Group.Name},
		Labels: map[string]string{"node_group": n.Group.Name}}
	for s := range sockets {
		d.NUMA = append(d.NUMA, inventory.NUMANode{ID: s, Memory: uint64(h.Memory) / uint64(sockets)})
	}
	var ends []end
	for i := range n.Devices {
		v := &n.Devices[i]
		at := inventory.PCIPlace{PCI: v.PCI, NUMA: i * sockets / len(n.Devices), Link: pcie(v.PCIe)}
		e := end{Device: v, numa: at.NUMA, Part: inventory.Part{Kind: inventory.PartNIC, ID: v.PCI}}
		if maker, ok := makers[v.Vendor]; ok && v.Compute {
			e.Part = inventory.Part{Kind: inventory.PartDevice, ID: v.UID}
			d.Devices = append(d.Devices, device(v, maker, at))
		} else {
			d.NICs = append(d.NICs, inventory.NIC{ID: v.PCI, Type: "ethernet", Model: v.Label, DPU: v.Label, Speed: v.Link, Up: true, PCIPlace: at})
		}
		ends = append(ends, e)
	}
	d.Links = links(ends)
	d.Links = append(d.Links, inventory.Link{From: inventory.Part{Kind: inventory.PartNode, ID: n.Name}, To: inventory.Part{Kind: inventory.PartPlace, ID: d.Place.Rack},
		Kind: inventory.LinkRack, Origin: inventory.OriginConfigured})
	return d, d.Seal()
}

// pcie is the link of sixteen lanes that carries about the model's figure.
func pcie(bytes float64) *inventory.PCILink {
	l := &inventory.PCILink{Speed: 8, Width: 16, MaxWidth: 16}
	switch {
	case bytes > 60e9:
		l.Speed = 32
	case bytes > 30e9:
		l.Speed = 16
	}
	l.Bandwidth = inventory.Bandwidth(l.Speed, l.Width)
	return l
}

func device(v *simulate.Device, maker [2]string, at inventory.PCIPlace) inventory.Device {
	chip := chips[v.Name]
	d := inventory.Device{ID: v.UID, UID: v.UID, Vendor: maker[0], Kind: maker[1], Model: v.Label, Generation: chip[0], Capability: chip[1],
		Memory: uint64(v.Model.Memory), PowerLimit: v.TDP, MaxHertz: v.ClockMax * 1e6, MemoryHertz: v.ClockMemory * 1e6, PCIPlace: at}
	switch {
	case v.Vendor == simulate.AMD:
		d.Partition = strings.Join(v.Layout, " ") // of the whole device
	case v.Vendor == simulate.NVIDIA && v.Parts > 0:
		d.MIG = "disabled"
		if v.Sliced() {
			d.MIG = "enabled"
		}
	}
	for i := range v.Units {
		if s := v.Units[i].Slice; s != nil {
			d.Slices = append(d.Slices, slice(v.Vendor, s))
		}
	}
	return d
}

// slice has the id that the driver gives it: exporters print the number.
func slice(v simulate.Vendor, s *simulate.Slice) inventory.Slice {
	out := inventory.Slice{ID: strconv.Itoa(s.ID), Kind: "partition", Profile: s.Profile, Memory: uint64(s.Memory), Cores: float64(s.Parts)}
	switch v {
	case simulate.NVIDIA:
		out.ID, out.Kind = "gi"+out.ID, "mig_gpu"
	case simulate.Ascend:
		out.Kind = "vnpu"
	}
	return out
}

// end is a device or port, as the end of links.
type end struct {
	inventory.Part
	*simulate.Device
	numa int
}

// links are those of parts to their NUMA node, of accelerators among each other over their
// fabric, and from each accelerator to each port over PCIe.
func links(ends []end) []inventory.Link {
	var out []inventory.Link
	for i, e := range ends {
		out = append(out, inventory.Link{From: e.Part, To: inventory.NUMAPart(e.numa), Kind: inventory.LinkLocal, Bandwidth: pcie(e.PCIe).Bandwidth, Origin: inventory.OriginStated})
		for _, o := range ends[:i] {
			fabric, ok := fabrics[e.Vendor]
			switch {
			case ok && e.Link > 0 && o.Vendor == e.Vendor:
				out = append(out, inventory.Link{From: o.Part, To: e.Part, Kind: fabric, Bandwidth: e.Link, Count: e.Links, Origin: inventory.OriginStated})
			case o.Compute != e.Compute:
				out = append(out, toPort(o, e))
			}
		}
	}
	return out
}

func toPort(a, b end) inventory.Link {
	if !a.Compute {
		a, b = b, a
	}
	l := inventory.Link{From: a.Part, To: b.Part, Kind: inventory.LinkPCIeNode, Distance: 10, Hops: 4,
		Bandwidth: min(pcie(a.PCIe).Bandwidth, pcie(b.PCIe).Bandwidth), Origin: inventory.OriginStated}
	if a.numa != b.numa {
		l.Kind, l.Distance = inventory.LinkPCIeSocket, 21
	}
	return l
}
