package expose

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sextant/collectors/exposition"
	"sextant/internal/simulate"
	"sextant/schema/catalog"
	"sextant/schema/wire"
)

var start = time.UnixMilli(1_767_225_600_000)

// sample is a line of a page.
type sample struct {
	labels []wire.Label
	value  float64
	time   int64 // unix ms; 0 for none
}

func (s sample) get(name string) string {
	for _, l := range s.labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// read reads a page as the agent does, and finds series that are there twice.
func read(t *testing.T, page []byte) (out []sample, stats exposition.Stats) {
	t.Helper()
	var s exposition.Scanner
	seen := map[string]bool{}
	for s.Reset(page, exposition.Text); s.Next(); {
		ls, err := exposition.ParseSeries(s.Series())
		if err != nil {
			s.Reject(err)
			continue
		}
		if key := string(s.Series()); seen[key] {
			t.Errorf("twice on one page: %s", key)
		} else {
			seen[key] = true
		}
		ms, _ := s.Time()
		out = append(out, sample{slices.Clone(ls), s.Value(), ms})
	}
	return out, s.Stats()
}

func mustPage(t testing.TB, n *simulate.Node, exporter string) []byte {
	t.Helper()
	page, err := Page(nil, exporter, n.View(exporter))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// cluster is the demo's, without the faults that break pages, and somewhere in its life.
func cluster(t testing.TB, faults string, after time.Duration) *simulate.Cluster {
	t.Helper()
	text, _, _ := strings.Cut(string(simulate.DemoText()), "\nfaults:")
	cfg, err := simulate.Parse("demo.yaml", []byte(text+"\nfaults:\n"+faults))
	if err != nil {
		t.Fatal(err)
	}
	for i := range cfg.Groups {
		cfg.Groups[i].Nodes = min(cfg.Groups[i].Nodes, 2)
	}
	c, err := simulate.New(cfg, nil, start)
	if err != nil {
		t.Fatal(err)
	}
	c.Step(after)
	return c
}

const soundFaults = `
  - {kind: xid, at: 9m, code: 31, nodes: "sim-h100-*", device: 1}
  - {kind: ecc, every: 1m, class: single, count: 2}
  - {kind: ecc, every: 5m, class: double, count: 1}
  - {kind: thermal, at: 5m, for: 1h, celsius: 40}
  - {kind: power, at: 5m, for: 1h, watts: 255}
  - {kind: error_code, at: 9m, for: 1h}
  - {kind: error_code, at: 9m, for: 1h, code: 7}
  - {kind: layout, at: 8m, nodes: "sim-a100-mig-*", device: 3, layout: [3g.40gb, 4g.40gb]}
`

// TestPagesReadWellAndAreKnown reads every page of the cluster as an agent does. No line
// may be bad, and the catalogue must have a row for every series.
func TestPagesReadWellAndAreKnown(t *testing.T) {
	lines, exporters := 0, map[string]bool{}
	for _, after := range []time.Duration{0, 9*time.Minute + 30*time.Second} {
		c := cluster(t, soundFaults, after)
		for _, n := range c.Nodes {
			for _, e := range n.Exporters() {
				exporters[e] = true
				page := mustPage(t, n, e)
				samples, stats := read(t, page)
				if stats.BadLines > 0 || stats.Truncated {
					t.Errorf("%s %s: %d bad lines, the first %s", n.Name, e, stats.BadLines, stats.FirstBad)
				}
				lines += len(samples)
				p := catalog.Default().NewPage()
				for _, s := range samples {
					p.Add(s.labels)
				}
				all, _ := p.Resolve()
				for i, m := range all {
					if m.Outcome != catalog.Mapped && m.Outcome != catalog.AsItIs && m.Outcome != catalog.PartOnly {
						t.Errorf("%s: %v is %s to the catalogue", e, samples[i].labels, m.Outcome)
					}
					if m.Metric != nil {
						if _, why := m.Metric.Normalize(samples[i].value); why != catalog.Good && !slices.Contains(m.Metric.Blank, samples[i].value) {
							t.Errorf("%s: %v = %g is no value: %s", e, samples[i].labels, samples[i].value, why)
						}
					}
				}
				if t.Failed() {
					return
				}
			}
		}
	}
	if len(exporters) != len(simulate.Exporters()) || lines < 10_000 {
		t.Errorf("%d lines of %d exporters", lines, len(exporters))
	}
}

// canonical are the values of a page by canonical name, in the page's order, with each
// reading once.
func canonical(t *testing.T, page []byte) map[string][]sample {
	t.Helper()
	samples, _ := read(t, page)
	p := catalog.Default().NewPage()
	for _, s := range samples {
		p.Add(s.labels)
	}
	all, _ := p.Resolve()
	out := map[string][]sample{}
	for i, m := range all {
		if m.Outcome != catalog.Mapped || m.Lead >= 0 || m.Outranked {
			continue
		}
		if v, why := m.Metric.Normalize(samples[i].value); why == catalog.Good {
			out[m.Name] = append(out[m.Name], sample{labels: m.Labels, value: v, time: samples[i].time})
		}
	}
	return out
}

// TestTheCatalogueReadsTheModel takes each exporter's page through the catalogue, which
// knows nothing of the model, and wants the model's own figures back.
func TestTheCatalogueReadsTheModel(t *testing.T) {
	c := cluster(t, "", 5*time.Minute)
	for _, tc := range []struct {
		node, exporter string
		vendor         simulate.Vendor
		reserved       bool // is part of what is in use
		energy         bool
		per            int // chips that share a power reading
	}{
		{"sim-h100-00", simulate.DCGM, simulate.NVIDIA, false, true, 1},
		{"sim-l4-01", simulate.DCGM, simulate.NVIDIA, false, true, 1},
		{"sim-ascend-00", simulate.NPU, simulate.Ascend, true, false, 1},
		{"sim-mi300x-01", simulate.AMDExporter, simulate.AMD, true, true, 1},
		{"sim-max1550-00", simulate.XPUMD, simulate.Intel, true, true, 1},
		{"sim-flex-00", simulate.XPUM, simulate.Intel, true, true, 1},
		{"sim-gaudi2-00", simulate.GaudiMetrics, simulate.Gaudi, true, true, 1},
	} {
		t.Run(tc.node, func(t *testing.T) {
			n := c.Node(tc.node)
			got := canonical(t, mustPage(t, n, tc.exporter))
			view := n.View(tc.exporter)
			cards := devices(view, tc.vendor)
			want := func(name, label, is string, tolerance float64, of func(*simulate.Device) float64) {
				t.Helper()
				var values []float64
				for _, s := range got[name] {
					if label == "" || s.get(label) == is {
						values = append(values, s.value)
					}
				}
				if len(values) != len(cards) {
					t.Errorf("%s: %d values for %d devices: %v", name, len(values), len(cards), got[name])
					return
				}
				for i, v := range values {
					if w := of(cards[i]); math.Abs(v-w) > tolerance {
						t.Errorf("%s of device %d is %g, the model has %g", name, i, v, w)
					}
				}
			}
			want("accel_busy_ratio", "slice", "", 0.0051, func(d *simulate.Device) float64 { return d.Busy })
			want("accel_power_watts", "", "", 0.51, func(d *simulate.Device) float64 { return d.Power })
			want("accel_temp_celsius", "sensor", "core", 0.51, func(d *simulate.Device) float64 { return d.Temperature })
			want("accel_clock_hertz", "domain", "core", 1e6, func(d *simulate.Device) float64 { return d.Clock * 1e6 })
			want("accel_mem_used_bytes", "slice", "", mib, func(d *simulate.Device) float64 {
				if tc.reserved {
					return d.Memory + d.Reserved
				}
				return d.Memory
			})
			if tc.energy {
				want("accel_energy_joules_total", "", "", 1, func(d *simulate.Device) float64 { return d.Joules })
			}
		})
	}
}

// TestSlicesOfMIG reads a sliced device's page back: memory per slice, power once.
func TestSlicesOfMIG(t *testing.T) {
	n := cluster(t, "", 3*time.Minute).Node("sim-a100-mig-00")
	view := n.View(simulate.DCGM)
	got := canonical(t, mustPage(t, n, simulate.DCGM))
	if len(got["accel_power_watts"]) != 4 {
		t.Errorf("power of 4 devices was told %d times", len(got["accel_power_watts"]))
	}
	if len(got["accel_busy_ratio"]) != 2 {
		t.Errorf("busy of the 2 whole devices was told %d times", len(got["accel_busy_ratio"]))
	}
	var used, want []float64
	for _, s := range got["accel_mem_used_bytes"] {
		used = append(used, s.value)
	}
	for _, d := range devices(view, simulate.NVIDIA) {
		for _, u := range d.Units {
			want = append(want, math.Round(u.Memory/mib)*mib)
		}
	}
	if !slices.Equal(used, want) {
		t.Errorf("memory by slice is %v, the model has %v", used, want)
	}
}

// TestNetworkAdaptersAgree: DOCA telemetry counts words, the host's node_exporter bytes.
func TestNetworkAdaptersAgree(t *testing.T) {
	n := cluster(t, "", 3*time.Minute).Node("sim-h100-00")
	words := canonical(t, mustPage(t, n, simulate.DTS))["nic_port_bytes_total"]
	host, _ := read(t, mustPage(t, n, simulate.NodeExporter))
	bytes := map[string]float64{}
	for _, s := range host {
		bytes[s.get("__name__")] = s.value
	}
	if len(words) != 2 || words[0].value != bytes["node_infiniband_port_data_received_bytes_total"] ||
		words[1].value != bytes["node_infiniband_port_data_transmitted_bytes_total"] || words[0].value == 0 {
		t.Errorf("the DPU says %v, the host %g and %g", words, bytes["node_infiniband_port_data_received_bytes_total"],
			bytes["node_infiniband_port_data_transmitted_bytes_total"])
	}
}

func TestPageOfAnUnknownExporter(t *testing.T) {
	if _, err := Page(nil, "nothing", cluster(t, "", 0).Nodes[0]); err == nil {
		t.Error("an unknown exporter has a page")
	}
}

func BenchmarkPage(b *testing.B) {
	c := cluster(b, "", 3*time.Minute)
	for _, tc := range []struct{ exporter, node string }{{simulate.DCGM, "sim-h100-00"}, {simulate.NPU, "sim-ascend-00"}, {simulate.NodeExporter, "sim-h100-00"}} {
		b.Run(tc.exporter, func(b *testing.B) {
			n := c.Node(tc.node)
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if buf, err = Page(buf[:0], tc.exporter, n.View(tc.exporter)); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}
