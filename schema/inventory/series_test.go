package inventory

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// lines are series as a reader of the text format sees them.
func lines(all []Series) []string {
	var out []string
	for _, s := range all {
		var ls []string
		for _, l := range s.Labels {
			ls = append(ls, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
		out = append(out, fmt.Sprintf("%s{%s} %v", s.Family.Name, strings.Join(ls, ","), s.Value))
	}
	return out
}

func TestSeries(t *testing.T) {
	d := sample()
	d.Devices[0].Capability, d.Devices[0].MIG, d.Devices[0].PowerLimit = "9.0", "enabled", 700
	d.Devices[0].Slices = append(d.Devices[0].Slices, Slice{ID: "gi1/ci0", Kind: "mig_compute", Parent: "gi1", Cores: 1})
	d.Links = append(d.Links,
		Link{From: Part{PartNode, "n1"}, To: Part{PartPlace, "r7"}, Kind: LinkRack, Origin: OriginConfigured},
		Link{From: Part{PartNode, "n1"}, To: Part{PartNode, "n2"}, Kind: LinkNetwork, Latency: 4e-6, Origin: OriginConfigured},
		Link{From: Part{PartDisk, "d1"}, To: NUMAPart(0), Kind: LinkLocal, Origin: OriginDerived})
	got := lines(d.Series(MaxSeriesLinks))
	gpu := `device="GPU-1",uid="GPU-1",vendor="nvidia",kind="gpu"`
	for _, want := range []string{
		`inventory_cpu_sockets{} 2`, `inventory_cpu_threads{} 8`, `inventory_memory_bytes{} 1.099511627776e+12`, `inventory_swap_bytes{} 0`,
		`inventory_node_label_info{label="pool",value="a"} 1`,
		`inventory_devices{vendor="nvidia",kind="gpu"} 1`,
		`inventory_device_info{` + gpu + `,compute_capability="9.0",driver="nvidia",pci="0000:17:00.0"} 1`,
		`inventory_device_compute_capability{` + gpu + `} 9`, `inventory_device_pcie_generation{` + gpu + `} 5`,
		`inventory_device_pcie_lanes{` + gpu + `} 8`, `inventory_device_pcie_max_lanes{` + gpu + `} 16`,
		`inventory_device_power_limit_watts{` + gpu + `} 700`, `inventory_device_mig_enabled{` + gpu + `} 1`,
		`inventory_device_slices{` + gpu + `} 1`,
		`inventory_slice_info{` + gpu + `,slice="1",slice_kind="mig_gpu",profile="1g.10gb"} 1`,
		`inventory_slice_info{` + gpu + `,slice="1/0",slice_kind="mig_compute",parent="1"} 1`,
		`inventory_slice_cores{` + gpu + `,slice="1/0"} 1`,
		`inventory_nic_up{nic="nic:0000:18:00.0",device="eth0"} 0`,
		`inventory_link_info{src="GPU-1",dst="numa:0",kind="local",src_part="device",dst_part="numa",origin="derived"} 1`,
		`inventory_link_bytes_per_second{src="GPU-1",dst="numa:0",kind="local"} 3e+10`,
		`inventory_link_degraded{src="GPU-1",dst="numa:0",kind="local"} 1`,
		`inventory_link_info{src="n1",dst="rack:r7",kind="rack",src_part="node",dst_part="place",origin="configured"} 1`,
		`inventory_link_latency_seconds{src="n1",dst="n2",kind="network"} 4e-06`,
		`inventory_links_left_out{} 0`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, absent := range []string{"inventory_device_memory_bytes", "inventory_nic_numa_node", "inventory_nic_bytes_per_second", "inventory_cpu_base_hertz", "disk:"} {
		if i := slices.IndexFunc(got, func(s string) bool { return strings.Contains(s, absent) }); i >= 0 {
			t.Errorf("what is unknown is there: %s", got[i])
		}
	}
	if t.Failed() {
		t.Log(strings.Join(got, "\n"))
	}
}

// Every series has its own labels: two of one name and labels would be one.
func TestSeriesAreDistinct(t *testing.T) {
	d := sample()
	d.Simulated = true
	got := lines(d.Series(MaxSeriesLinks))
	slices.Sort(got)
	if n := len(slices.Compact(slices.Clone(got))); n != len(got) {
		t.Errorf("%d series, %d of them distinct", len(got), n)
	}
	for _, l := range got {
		if !strings.Contains(l, `simulated="true"`) {
			t.Errorf("%s is not called simulated", l)
		}
	}
}

func TestSeriesOfLinksAreBounded(t *testing.T) {
	d := sample()
	for i := range 10 {
		d.Links = append(d.Links, Link{From: Part{PartNode, "n1"}, To: Part{PartNode, fmt.Sprint("m", i)}, Kind: LinkNetwork, Origin: OriginConfigured})
	}
	got := lines(d.Series(4))
	links := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "inventory_link_info{") })
	if len(links) != 4 || !slices.Contains(got, "inventory_links_left_out{} 7") {
		t.Errorf("%d links in %q", len(links), got)
	}
}

// A device without a uid goes by the name that the catalogue gives its readings.
func TestDeviceName(t *testing.T) {
	for id, want := range map[string]string{
		"GPU-5c1e": "GPU-5c1e", "0000:17:00.0": "pci:0000:17:00.0", "10000:e1:00.0": "pci:10000:e1:00.0",
		"01P0-HL2080A0-15": "01P0-HL2080A0-15", "0000:17:00": "0000:17:00", "a:bc:de.f": "a:bc:de.f",
	} {
		if got := DeviceName(id); got != want {
			t.Errorf("%s is called %s, want %s", id, got, want)
		}
	}
}

// An 8-GPU node with an NVLink mesh and ten ports: what the static tier of the largest
// usual machine costs in series.
func TestSeriesOfALargeNode(t *testing.T) {
	const gpus, ports = 8, 10
	d := &Document{Node: "n1", NUMA: []NUMANode{{ID: 0}, {ID: 1}}, Memory: Memory{Total: 2 << 40}}
	place := PCIPlace{NUMA: 0, Link: &PCILink{Speed: 32, Width: 16, MaxWidth: 16, Bandwidth: Bandwidth(32, 16)}}
	var ends []Part
	for i := range gpus {
		id := fmt.Sprint("GPU-", i)
		d.Devices = append(d.Devices, Device{ID: id, UID: id, Vendor: "nvidia", Kind: "gpu", Capability: "9.0", Memory: 80 << 30, PowerLimit: 700,
			MaxHertz: 1.98e9, MemoryHertz: 2.6e9, MIG: "disabled", PCIPlace: place})
		ends = append(ends, Part{PartDevice, id})
	}
	for i := range ports {
		id := fmt.Sprintf("0000:%02x:00.0", i)
		d.NICs = append(d.NICs, NIC{ID: id, Name: fmt.Sprint("eth", i), Type: "ethernet", Speed: 5e10, PCIPlace: place})
		ends = append(ends, Part{PartNIC, id})
	}
	for i, a := range ends {
		d.Links = append(d.Links, Link{From: a, To: NUMAPart(0), Kind: LinkLocal, Bandwidth: 6e10, Hops: 3, Origin: OriginDerived})
		for _, b := range ends[i+1:] {
			if a.Kind == PartDevice {
				d.Links = append(d.Links, Link{From: a, To: b, Kind: LinkPCIeSwitch, Bandwidth: 6e10, Distance: 10, Hops: 3, Origin: OriginDerived})
			}
			if b.Kind == PartDevice {
				d.Links = append(d.Links, Link{From: a, To: b, Kind: LinkNVLink, Bandwidth: 4.5e11, Count: 18, Origin: OriginStated})
			}
		}
	}
	got := len(d.Series(MaxSeriesLinks))
	t.Logf("%d links, %d series", len(d.Links), got)
	if got > 800 {
		t.Errorf("%d series, want at most 800", got)
	}
}

// The uuid that a device plugin gives out finds the labels that the readings have.
func TestSlicesByUID(t *testing.T) {
	compute := func(id, parent, uid string) Slice {
		return Slice{ID: id, UID: uid, Kind: "mig_compute", Parent: parent}
	}
	d := &Document{Devices: []Device{
		{ID: "GPU-a", Slices: []Slice{{ID: "gi3", Kind: "mig_gpu"}, compute("gi3/ci0", "gi3", "MIG-1"), {ID: "gi5", Kind: "mig_gpu"}, compute("gi5/ci0", "gi5", "MIG-2"), compute("gi5/ci1", "gi5", "MIG-3")}},
		{ID: "0000:17:00.0", Slices: []Slice{compute("gi1/ci0", "gi1", "MIG-4"), compute("gi2/ci0", "gi2", "")}}}}
	want := map[string]SliceAt{"MIG-1": {"GPU-a", "3"}, "MIG-2": {"GPU-a", "5/0"}, "MIG-3": {"GPU-a", "5/1"}, "MIG-4": {"pci:0000:17:00.0", "1/0"}}
	if got := d.SliceUIDs(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
