package inventory

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// sample is a small document with one of everything.
func sample() *Document {
	place := PCIPlace{PCI: "0000:17:00.0", PCIID: "10de:2330", NUMA: 0, Driver: "nvidia",
		Link: &PCILink{Speed: 32, Width: 8, MaxWidth: 16, Bandwidth: Bandwidth(32, 8)}}
	return &Document{
		Version: Version, Node: "n1", Collected: 2000, Since: 1000,
		Host: Host{Kernel: "6.8"}, CPU: CPU{Model: "Xeon", Sockets: 2, Cores: 4, Threads: 8, Features: []string{"avx2"}},
		Memory: Memory{Total: 1 << 40, HugePages: []HugePages{{Size: 1 << 30, Count: 8}}},
		NUMA:   []NUMANode{{ID: 0, CPUs: "0-7", Distances: []int{10}}},
		Devices: []Device{{ID: "GPU-1", UID: "GPU-1", Vendor: "nvidia", Kind: "gpu", PCIPlace: place,
			Slices: []Slice{{ID: "gi1", Kind: "mig_gpu", Profile: "1g.10gb"}}}},
		NICs:       []NIC{{ID: "0000:18:00.0", Name: "eth0", Type: "ethernet", PCIPlace: PCIPlace{NUMA: -1}}},
		Disks:      []Disk{{ID: "d1", Name: "nvme0n1", Size: 1}},
		PCI:        []PCIFunction{{Address: "0000:17:00.0", Parent: "pci0000:16", Class: "030200", ID: "10de:2330"}},
		Links:      []Link{{From: Part{PartDevice, "GPU-1"}, To: NUMAPart(0), Kind: LinkLocal, Bandwidth: 3e10, Origin: OriginDerived, Degraded: true}},
		Kubernetes: &Kubernetes{Name: "n1", Taints: []Taint{{Key: "k", Effect: "NoSchedule"}}},
		Labels:     map[string]string{"pool": "a"},
	}
}

func sealed(t testing.TB, d *Document) []byte {
	t.Helper()
	if err := d.Seal(); err != nil {
		t.Fatal(err)
	}
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	b := sealed(t, sample())
	d, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(d); string(again) != string(b) {
		t.Errorf("%s\n%s", again, b)
	}
	newer := strings.Replace(string(b), `"node":"n1"`, `"node":"n1","chassis":{"slot":4}`, 1)
	if d, err := Decode([]byte(newer)); err != nil || d.Node != "n1" {
		t.Errorf("a key of a newer agent: %v", err)
	}
}

// The hash stays while the content stays, whenever it was read, and moves with anything
// else.
func TestHash(t *testing.T) {
	hash := func(change func(*Document)) string {
		d := sample()
		change(d)
		sealed(t, d)
		return d.Hash
	}
	first := hash(func(*Document) {})
	if again := hash(func(d *Document) { d.Collected, d.Since, d.Hash = 9, 8, "x" }); again != first {
		t.Error("the time of the reading changes the hash")
	}
	for name, change := range map[string]func(*Document){
		"node":     func(d *Document) { d.Node = "n2" },
		"lane":     func(d *Document) { d.Devices[0].Link.Width = 4 },
		"slice":    func(d *Document) { d.Devices[0].Slices = nil },
		"label":    func(d *Document) { d.Labels["pool"] = "b" },
		"fault":    func(d *Document) { d.Faults = []string{"nics: denied"} },
		"numa":     func(d *Document) { d.NICs[0].NUMA = 0 },
		"link":     func(d *Document) { d.Links[0].Latency = 1e-6 },
		"cordoned": func(d *Document) { d.Kubernetes.Cordoned = true },
	} {
		if hash(change) == first {
			t.Errorf("%s: another content has the same hash", name)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	text := func(change func(*Document)) string {
		d := sample()
		if err := d.Seal(); err != nil {
			t.Fatal(err)
		}
		change(d)
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	good := text(func(*Document) {})
	for name, c := range map[string]struct{ text, want string }{
		"nothing":          {"", "unexpected end of JSON input"},
		"no document":      {"[1]", "cannot unmarshal array"},
		"two documents":    {good + good, "after top-level value"},
		"newer version":    {strings.Replace(good, `"version":1`, `"version":2`, 1), "version 2, this program reads 1"},
		"too large":        {good + strings.Repeat(" ", MaxBytes), "the limit is 524288"},
		"type":             {strings.Replace(good, `"node":"n1"`, `"node":7`, 1), "node"},
		"no node":          {text(func(d *Document) { d.Node = "" }), `node: "", want 1 to 255 bytes`},
		"control":          {text(func(d *Document) { d.Node = "a\nb" }), "without control characters"},
		"no time":          {text(func(d *Document) { d.Collected = 0 }), "since_ms, collected_ms"},
		"order":            {text(func(d *Document) { d.Since = d.Collected + 1 }), "since_ms, collected_ms"},
		"hash":             {text(func(d *Document) { d.Hash = "zz" }), `hash: "zz"`},
		"negative":         {text(func(d *Document) { d.CPU.Cores = -1 }), "cpu: negative count"},
		"lanes":            {text(func(d *Document) { d.Devices[0].Link.Width = 99 }), "99 of 16 lanes"},
		"no id":            {text(func(d *Document) { d.Devices[0].ID = "" }), "devices[0].id"},
		"no vendor":        {text(func(d *Document) { d.Devices[0].Vendor = "" }), "devices[0]: vendor and kind"},
		"same id":          {text(func(d *Document) { d.Devices = append(d.Devices, d.Devices[0]) }), "two parts of one kind have one id"},
		"long":             {text(func(d *Document) { d.Host.Kernel = strings.Repeat("k", MaxText+1) }), "host: 1025 bytes"},
		"numa":             {text(func(d *Document) { d.NICs[0].NUMA = -2 }), "nics.numa: -2"},
		"link to nothing":  {text(func(d *Document) { d.Links[0].To = NUMAPart(3) }), `links[0]: the document has no numa "3"`},
		"link to itself":   {text(func(d *Document) { d.Links[0].To = d.Links[0].From }), "links[0]: both ends are device"},
		"kind of link":     {text(func(d *Document) { d.Links[0].Kind = "wire" }), `"wire" is no kind of link`},
		"kind of part":     {text(func(d *Document) { d.Links[0].To.Kind = "cat" }), `"cat" is no kind of part`},
		"origin":           {text(func(d *Document) { d.Links[0].Origin = "" }), `origin ""`},
		"negative link":    {text(func(d *Document) { d.Links[0].Bandwidth = -1 }), "links.bandwidth: -1 is no amount"},
		"huge":             {text(func(d *Document) { d.Links[0].Latency = 1e300 }), "links.latency: 1e+300 is no amount"},
		"too many links":   {text(func(d *Document) { d.Links = slices.Repeat(d.Links, 8193) }), "the limit is"},
		"too many devices": {text(func(d *Document) { d.Devices = slices.Repeat([]Device{{}}, 257) }), "devices: 257 entries, the limit is 256"},
		"too many labels":  {text(func(d *Document) { d.Labels = many(513) }), "labels: 513 entries"},
		"too many faults":  {text(func(d *Document) { d.Faults = make([]string, 65) }), "faults: 65 entries"},
	} {
		if _, err := Decode([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func many(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprint(i)] = ""
	}
	return out
}

func TestBandwidth(t *testing.T) {
	for _, c := range []struct {
		speed float64
		width int
		want  float64 // GB/s
	}{{2.5, 1, 0.25}, {5, 16, 8}, {8, 16, 15.754}, {16, 16, 31.508}, {32, 16, 63.015}, {64, 16, 118}, {32, 8, 31.508}, {3, 16, 0}, {16, 0, 0}} {
		if got := Bandwidth(c.speed, c.width) / 1e9; math.Abs(got-c.want) > 0.0005 {
			t.Errorf("%g GT/s x%d: %g GB/s, want %g", c.speed, c.width, got, c.want)
		}
	}
}

func TestFactsShowWhatChanged(t *testing.T) {
	before := sample().Facts()
	after := sample()
	after.Host.Kernel = "6.9"
	after.Devices[0].Link.Width = 4
	after.Devices[0].Slices = append(after.Devices[0].Slices, Slice{ID: "gi2", Kind: "mig_gpu"})
	after.Kubernetes.Taints = nil
	after.NICs[0].Up = true
	var changed []string
	now := after.Facts()
	for _, k := range slices.Sorted(maps.Keys(merge(before, now))) {
		if before[k] != now[k] {
			changed = append(changed, k+" "+before[k]+">"+now[k])
		}
	}
	want := []string{"devices/GPU-1/link/width 8>4", "devices/GPU-1/slices/gi2 >mig_gpu", "host/kernel 6.8>6.9", "nics/0000:18:00.0/up no>yes"}
	if !slices.Equal(changed, want) {
		t.Errorf("%q, want %q", changed, want)
	}
	if _, was := before["kubernetes/taints/k:NoSchedule"]; !was {
		t.Error("a taint without a value is no fact")
	}
}

func merge(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func TestEdgeFeatures(t *testing.T) {
	all := EdgeFeatures()
	if len(all) > MaxEdgeFeatures {
		t.Errorf("%d features, a model takes %d", len(all), MaxEdgeFeatures)
	}
	seen := map[string]bool{}
	for _, f := range all {
		if f.Name == "" || f.Unit == "" || f.Doc == "" || seen[f.Name] {
			t.Errorf("%+v is not documented, or stands twice", f)
		}
		seen[f.Name] = true
	}
	l := Link{From: Part{PartDevice, "a"}, To: Part{PartDevice, "b"}, Kind: LinkNVLink, Bandwidth: 450e9, Latency: 1e-6, Count: 18, Origin: OriginStated}
	got := map[string]float32{}
	for i, v := range l.Vector(nil) {
		if v != 0 {
			got[all[i].Name] = v
		}
	}
	want := map[string]float32{"kind_nvlink": 1, "ends_device": 2, "bandwidth_log2": float32(math.Log2(451)), "bandwidth_known": 1,
		"latency_log10": float32(math.Log10(1001)), "latency_known": 1, "links": 18, "stated": 1, "fabric": 1, "links_known": 1}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// The order is a contract with models that were trained on it.
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "kind_local kind_numa kind_pcie_switch kind_pcie_host kind_pcie_node kind_pcie_socket kind_nvlink kind_xgmi kind_hccs "+
		"kind_network kind_switch kind_rack kind_zone ends_device ends_nic ends_disk ends_numa ends_node ends_place bandwidth_log2 bandwidth_known latency_log10 "+
		"latency_known numa_distance pcie_hops links degraded stated configured same_numa fabric links_known" {
		t.Error(got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sealed(f, sample()))
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte(`{"version":1,"node":"a","collected_ms":1,"since_ms":1,"hash":"00000000000000000000000000000000","links":[{"from":{"kind":"node","id":"a"},"to":{"kind":"place","id":"b"},"kind":"rack","origin":"configured"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(b)
		if err != nil {
			return
		}
		// What was accepted can be written, read again, flattened and drawn.
		again, err := d.Encode()
		if err != nil && len(b) < MaxBytes/8 { // escapes may make it larger
			t.Fatal(err)
		}
		if err == nil {
			if _, err := Decode(again); err != nil {
				t.Fatal(err)
			}
		}
		d.Facts()
		for i := range d.Links {
			for k, v := range d.Links[i].Vector(nil) {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
					t.Fatalf("feature %s is %g", edgeFeatures[k].Name, v)
				}
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	text := sealed(b, sample())
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(text); err != nil {
			b.Fatal(err)
		}
	}
}
