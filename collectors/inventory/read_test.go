package inventory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	schema "sextant/schema/inventory"
)

// linkBetween is the kind of the PCIe link between two parts, by PCI address.
func linkBetween(d *Document, a, b string) string {
	id := map[string]string{}
	for i := range d.Devices {
		id[d.Devices[i].PCI] = d.Devices[i].ID
	}
	for i := range d.NICs {
		id[d.NICs[i].PCI] = d.NICs[i].ID
	}
	for _, l := range d.Links {
		if strings.HasPrefix(string(l.Kind), "pcie") && (l.From.ID == id[a] && l.To.ID == id[b] || l.From.ID == id[b] && l.To.ID == id[a]) {
			return fmt.Sprintf("%s hops %d, %.1f GB/s", l.Kind, l.Hops, l.Bandwidth/1e9)
		}
	}
	return "none"
}

func TestPCIeLinks(t *testing.T) {
	m := newMachine(t)
	gpuNode(m)
	d := m.read(nil)
	for _, c := range []struct{ a, b, want string }{
		{"0000:13:00.0", "0000:14:00.0", "pcie_switch hops 3, 31.5 GB/s"}, // the second idles at 2.5 GT/s
		{"0000:13:00.0", "0000:15:00.0", "pcie_switch hops 3, 31.5 GB/s"}, // its port, behind the same switch
		{"0000:13:00.0", "0000:23:00.0", "pcie_node hops 6, 31.5 GB/s"},
		{"0000:13:00.0", "0000:83:00.0", "pcie_socket hops 6, 31.5 GB/s"},
		{"0000:83:00.0", "0000:84:00.0", "pcie_switch hops 3, 15.8 GB/s"}, // has lost half its lanes
	} {
		if got := linkBetween(d, c.a, c.b); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.a, c.b, got, c.want)
		}
	}
	m = newMachine(t)
	ascendNode(m)
	if got, want := linkBetween(m.read(nil), "0000:c1:00.0", "0000:c2:00.0"), "pcie_host hops 2, 31.5 GB/s"; got != want {
		t.Errorf("two root ports of one host bridge: %s, want %s", got, want)
	}
}

// What moves while a node works must not move the hash.
func TestTelemetryIsNoChange(t *testing.T) {
	m := newMachine(t)
	gpuNode(m)
	before := m.read(nil).Hash
	gpu := "sys/devices/pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:00.0/0000:13:00.0"
	m.write(gpu+"/current_link_speed", "2.5 GT/s PCIe", "proc/meminfo", "MemTotal:       1056301568 kB\nMemFree:        99 kB\nSwapTotal:      0 kB")
	// A pod takes the virtual function into its own namespace.
	m.check(os.Remove(filepath.Join(m.dir, "sys/class/net/ens1f0v0")))
	if m.read(nil).Hash != before {
		t.Error("telemetry changed the hash")
	}
	m.write(gpu+"/current_link_width", "8")
	if m.read(nil).Hash == before {
		t.Error("a GPU lost half its lanes, and the hash is the same")
	}
}

func TestMIGLayoutOfTheDriver(t *testing.T) {
	m := newMachine(t)
	gpuNode(m)
	m.write("proc/driver/nvidia/capabilities/gpu3/mig/gi1/access", "", "proc/driver/nvidia/capabilities/gpu3/mig/gi1/ci0/access", "",
		"proc/driver/nvidia/capabilities/gpu3/mig/gi9/access", "")
	d := m.read(nil)
	want := []schema.Slice{{ID: "gi1", Kind: "mig_gpu"}, {ID: "gi1/ci0", Kind: "mig_compute", Parent: "gi1"}, {ID: "gi9", Kind: "mig_gpu"}}
	if !slices.Equal(d.Devices[3].Slices, want) || d.Devices[2].Slices != nil {
		t.Errorf("%+v, %+v", d.Devices[3].Slices, d.Devices[2].Slices)
	}
}

func TestIdentity(t *testing.T) {
	for name, c := range map[string]struct {
		uids  [2]string
		want  [2]string
		fault bool
	}{
		"of its own": {[2]string{"a1", "a2"}, [2]string{"a1", "a2"}, false},
		"shared":     {[2]string{"a1", "a1"}, [2]string{"0000:05:00.0", "0000:85:00.0"}, true},
		"zeroes":     {[2]string{"0000000000000000", "0x00-00"}, [2]string{"0000:05:00.0", "0000:85:00.0"}, true},
		"none":       {[2]string{"", ""}, [2]string{"0000:05:00.0", "0000:85:00.0"}, false},
	} {
		m := newMachine(t)
		amdNode(m)
		m.write("sys/bus/pci/devices/0000:05:00.0/unique_id", c.uids[0], "sys/bus/pci/devices/0000:85:00.0/unique_id", c.uids[1])
		d := m.read(nil)
		if got := [2]string{d.Devices[0].ID, d.Devices[1].ID}; got != c.want || (len(d.Faults) > 0) != c.fault {
			t.Errorf("%s: %q, want %q; faults %q", name, got, c.want, d.Faults)
		}
	}
}

// A machine that has more than a document lists, and files that hold anything.
func TestLimits(t *testing.T) {
	m := newMachine(t)
	for i := range schema.MaxDevices + 44 {
		m.pci(pciSpec{path: fmt.Sprintf("pci0000:00/0000:%02x:%02x.0", i/32, i%32), class: "120000", vendor: "19e5", model: "d802", numa: -1})
	}
	m.write("proc/sys/kernel/osrelease", strings.Repeat("k", 5000)+"\xff", "proc/cpuinfo", "model name : \xff\xfe", "proc/meminfo", "MemTotal: -1 kB",
		"sys/devices/system/node/node0/distance", "10 many", "sys/bus/pci/devices/0000:00:00.0/current_link_width", "255")
	if _, err := Read(t.Context(), m.config()); err == nil {
		t.Fatal("a kernel release of 5000 bytes was taken")
	}
	m.write("proc/sys/kernel/osrelease", "6.1\xff")
	d := m.read(nil)
	if len(d.Devices) != schema.MaxDevices || !slices.Contains(d.Faults, "devices: 300 entries, 256 are listed") {
		t.Errorf("%d devices, faults %q", len(d.Devices), d.Faults)
	}
	if d.Memory.Total != 0 || d.Host.Kernel != "6.1�" {
		t.Errorf("memory %d, kernel %q", d.Memory.Total, d.Host.Kernel)
	}
	if len(d.PCI) != 0 || len(d.Links) != 2048 || !slices.ContainsFunc(d.Faults, func(f string) bool { return strings.HasPrefix(f, "links: 2048 are left out") }) {
		t.Errorf("%d functions and %d links in a document that would be too large, faults %q", len(d.PCI), len(d.Links), d.Faults)
	}
}

func TestNothingToRead(t *testing.T) {
	d := newMachine(t).read(func(c *Config) { c.KubernetesFile, c.TopologyFile = "testdata/none", "testdata/none" })
	want := []string{"cpu: open: no such file or directory", "kubernetes_file: open: no such file or directory",
		"memory: open: no such file or directory", "topology_file: open: no such file or directory"}
	if !slices.Equal(d.Faults, want) {
		t.Errorf("%q, want %q", d.Faults, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, Config{Node: "n", Sources: []Source{&unsteady{}}}); err == nil {
		t.Error("a reading that was given up has a document")
	}
}

func TestObservedDCGM(t *testing.T) {
	reg := prometheus.NewRegistry()
	add := func(name string, value float64, labels ...string) {
		l := prometheus.Labels{}
		for i := 0; i < len(labels); i += 2 {
			l[labels[i]] = labels[i+1]
		}
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "h", ConstLabels: l})
		g.Set(value)
		reg.MustRegister(g)
	}
	for i, pci := range []string{"00000000:13:00.0", "00000000:14:00.0"} {
		uid := fmt.Sprintf("GPU-%d", i)
		add("sextant_dcgm_gpu_info", 1, "UUID", uid, "pci_bus_id", pci, "modelName", "NVIDIA L40S", "DCGM_FI_DRIVER_VERSION", "560.1", "DCGM_FI_DEV_VBIOS_VERSION", "95", "compute_capability", "8.9")
		add("sextant_dcgm_gpu_peer_info", 1, "UUID", uid, "pci_bus_id", pci, "peer_UUID", fmt.Sprintf("GPU-%d", 1-i), "link", "NV4")
	}
	add("sextant_dcgm_mig_slices", 2, "UUID", "GPU-0", "GPU_I_PROFILE", "2g.12gb", "GPU_I_ID", "3")
	m := newMachine(t)
	gpuNode(m)
	o := Observe(reg)
	if d := m.read(func(c *Config) { c.Sources = []Source{o} }); d.Devices[0].UID == "GPU-0" || len(d.Faults) > 0 {
		t.Errorf("before the first scrape: %q, faults %q", d.Devices[0].UID, d.Faults)
	}
	families, err := o.Gather()
	if err != nil || len(families) != 3 {
		t.Fatalf("%d families, %v", len(families), err)
	}
	d := m.read(func(c *Config) { c.Sources = []Source{o} })
	v := d.Devices[0]
	if v.ID != "GPU-0" || v.PCI != "0000:13:00.0" || v.Capability != "8.9" || v.DriverVersion != "560.1" ||
		!slices.Equal(v.Slices, []schema.Slice{{ID: "gi3", Kind: "mig_gpu", Profile: "2g.12gb", Cores: 2}}) {
		t.Errorf("%+v", v)
	}
	var nvlinks []schema.Link
	for _, l := range d.Links {
		if l.Kind == schema.LinkNVLink {
			nvlinks = append(nvlinks, l)
		}
	}
	if len(nvlinks) != 1 || nvlinks[0].From.ID != "GPU-0" || nvlinks[0].To.ID != "GPU-1" || nvlinks[0].Count != 4 || nvlinks[0].Origin != schema.OriginStated {
		t.Errorf("NVLinks: %+v", nvlinks)
	}
}

func TestModels(t *testing.T) {
	if _, err := parseModels(modelsCSV); err != nil {
		t.Fatal(err)
	}
	for id, m := range models() {
		if m.kind != "accelerator" && m.kind != "nic" || m.name == "" || !slices.Contains([]string{"pci.ids", "driver", "field", "unchecked"}, m.evidence) {
			t.Errorf("%s: %+v", id, m)
		}
	}
	if _, err := parseModels("h,h,h,h,h,h\na,b,nic,x,,driver\na,b,nic,y,,driver\n"); err == nil {
		t.Error("an id that stands twice was taken")
	}
}

func TestConfigCheck(t *testing.T) {
	c := Defaults()
	if err := c.Check("inventory"); err != nil {
		t.Errorf("defaults: %v", err)
	}
	c = Config{ProcPath: "proc", Neighbours: []Neighbour{{Latency: -1}}, Interval: 2e9, Resend: 1e9, Series: SeriesConfig{Interval: 60e9, MaxLinks: -1}}
	want := "inventory.resend: 1s, want at least the interval\ninventory.topic: missing\ninventory.proc_path: \"proc\" is not an absolute path\n" +
		"inventory.series.interval: 1m0s, want 1s to 30s\ninventory.series.max_links: -1, want 0 to 8192\n" +
		"inventory.neighbours[0].node: missing\ninventory.neighbours[0]: latency -1, bandwidth 0, want at least 0"
	if err := c.Check("inventory"); err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func BenchmarkRead(b *testing.B) {
	m := newMachine(b)
	gpuNode(m)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(b.Context(), m.config()); err != nil {
			b.Fatal(err)
		}
	}
}
