package inventory

import (
	"strconv"
	"strings"
)

// Facts is the document flattened to what an operator asks about when something changed:
// a path for each fact and its value as text. Parts go by their ids, so that a part that
// moves in a list has not changed. Links and the PCI tree are left out: they follow from
// the parts.
func (d *Document) Facts() map[string]string {
	f := facts{}
	f.texts("host", "hostname", d.Host.Hostname, "arch", d.Host.Arch, "kernel", d.Host.Kernel, "os", d.Host.OS, "os_version", d.Host.OSVersion,
		"boot_id", d.Host.BootID, "vendor", d.Host.Vendor, "product", d.Host.Product, "bios", d.Host.BIOS, "hypervisor", d.Host.Hypervisor)
	f.texts("cpu", "model", d.CPU.Model, "microcode", d.CPU.Microcode, "isolated", d.CPU.Isolated, "features", strings.Join(d.CPU.Features, " "))
	f.number("cpu/base_hertz", d.CPU.BaseHertz)
	f.number("cpu/sockets", float64(d.CPU.Sockets))
	f.number("cpu/cores", float64(d.CPU.Cores))
	f.number("cpu/threads", float64(d.CPU.Threads))
	f.number("memory/total_bytes", float64(d.Memory.Total))
	f.number("memory/swap_bytes", float64(d.Memory.Swap))
	f.pages("memory", d.Memory.HugePages)
	f.texts("place", "region", d.Place.Region, "zone", d.Place.Zone, "rack", d.Place.Rack, "switch", d.Place.Switch)
	for _, n := range d.NUMA {
		at := "numa/" + strconv.Itoa(n.ID)
		f.texts(at, "cpus", n.CPUs)
		f.number(at+"/memory_bytes", float64(n.Memory))
		f.pages(at, n.HugePages)
	}
	for i := range d.Devices {
		f.device(&d.Devices[i])
	}
	for i := range d.NICs {
		f.nic(&d.NICs[i])
	}
	for i := range d.Disks {
		v := &d.Disks[i]
		at := "disks/" + v.ID
		f.texts(at, "name", v.Name, "model", v.Model)
		f.number(at+"/size_bytes", float64(v.Size))
		f.place(at, &v.PCIPlace)
	}
	f.labels("labels", d.Labels)
	if k := d.Kubernetes; k != nil {
		f.labels("kubernetes/labels", k.Labels)
		f.labels("kubernetes/allocatable", k.Allocatable)
		f.texts("kubernetes", "cordoned", yes(k.Cordoned))
		for _, t := range k.Taints {
			f["kubernetes/taints/"+t.Key+":"+t.Effect] = t.Value
		}
	}
	return f
}

type facts map[string]string

// texts adds pairs of a key and a value below a path.
func (f facts) texts(at string, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			f[at+"/"+pairs[i]] = pairs[i+1]
		}
	}
}

func (f facts) number(at string, v float64) {
	if v != 0 {
		f[at] = strconv.FormatFloat(v, 'f', -1, 64)
	}
}

func (f facts) labels(at string, m map[string]string) {
	for k, v := range m {
		f[at+"/"+k] = v
	}
}

func (f facts) pages(at string, pools []HugePages) {
	for _, p := range pools {
		f.number(at+"/huge_pages/"+strconv.FormatUint(p.Size, 10), float64(p.Count))
	}
}

func (f facts) place(at string, p *PCIPlace) {
	f.texts(at, "pci", p.PCI, "pci_id", p.PCIID, "driver", p.Driver, "driver_version", p.DriverVersion, "numa", strconv.Itoa(p.NUMA))
	if p.Link != nil {
		f.number(at+"/link/gigatransfers", p.Link.Speed)
		f.number(at+"/link/width", float64(p.Link.Width))
	}
}

func (f facts) device(v *Device) {
	at := "devices/" + v.ID
	f.texts(at, "uid", v.UID, "model", v.Model, "compute_capability", v.Capability, "firmware", v.Firmware, "partition", v.Partition,
		"mig", v.MIG, "sharing", v.Sharing)
	f.number(at+"/memory_bytes", float64(v.Memory))
	f.number(at+"/power_limit_watts", v.PowerLimit)
	f.number(at+"/max_hertz", v.MaxHertz)
	f.number(at+"/memory_max_hertz", v.MemoryHertz)
	f.number(at+"/replicas", float64(v.Replicas))
	f.place(at, &v.PCIPlace)
	for _, s := range v.Slices {
		f[at+"/slices/"+s.ID] = strings.TrimSpace(s.Kind + " " + s.Profile)
	}
}

func (f facts) nic(v *NIC) {
	at := "nics/" + v.ID
	f.texts(at, "name", v.Name, "mac", v.MAC, "model", v.Model, "rdma", v.RDMA, "dpu", v.DPU, "firmware", v.Firmware, "up", yes(v.Up))
	f.number(at+"/speed", v.Speed)
	f.number(at+"/mtu", float64(v.MTU))
	f.place(at, &v.PCIPlace)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
