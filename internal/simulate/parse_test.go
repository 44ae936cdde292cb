package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseNamesFileAndLine(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "c.yaml:1: groups: at least one"},
		{"unknown key", "groups:\n  - name: a\n    node: 3\n", "c.yaml:3: unknown key \"node\""},
		{"wrong type", "groups:\n  - name: a\n    nodes: many\n", "c.yaml:3: cannot unmarshal"},
		{"name", "groups:\n  - nodes: 1\n    name: A_b\n", `c.yaml:3: name: "A_b"`},
		{"missing name", "groups:\n  - nodes: 1\n", `c.yaml:2: name: ""`},
		{"same name", "groups:\n  - name: a\n  - name: a\n", `c.yaml:3: name: "a" is already a group`},
		{"no nodes", "groups:\n  - name: a\n    nodes: -1\n", "c.yaml:3: nodes: -1, want 1 to"},
		{"too many nodes", "groups:\n  - {name: a, nodes: 1500}\n  - {name: b, nodes: 1500}\n", "c.yaml:1: groups: 3000 nodes, limit 2000"},
		{"vendor", "groups:\n  - name: a\n    devices:\n      - {vendor: acme, model: X}\n", `c.yaml:4: vendor "acme" is not known, want one of nvidia, ascend`},
		{"model", "groups:\n  - name: a\n    devices:\n      - vendor: nvidia\n        model: X\n", `c.yaml:5: model "X" of nvidia is not known, want one of B200, H100`},
		{"profile", "groups:\n  - name: a\n    devices:\n      - vendor: nvidia\n        model: H100\n        layout: [big]\n", `c.yaml:6: layout: MIG profile "big"`},
		{"too many slices", "groups:\n  - name: a\n    devices:\n      - {vendor: nvidia, model: H100, layout: [4g.40gb, 4g.40gb]}\n", "c.yaml:4: layout: the slices need 8 of 7 compute parts"},
		{"too much memory", "groups:\n  - name: a\n    devices:\n      - {vendor: nvidia, model: H100, layout: [1g.80gb, 1g.80gb]}\n", "c.yaml:4: layout: the slices need"},
		{"no slices there", "groups:\n  - name: a\n    devices:\n      - {vendor: nvidia, model: L4, layout: [1g.5gb]}\n", "c.yaml:4: layout: L4 cannot be sliced"},
		{"partitioning", "groups:\n  - name: a\n    devices:\n      - {vendor: amd, model: MI300X, layout: [tpx]}\n", `c.yaml:4: layout: partitioning "tpx"`},
		{"vnpu", "groups:\n  - name: a\n    devices:\n      - {vendor: ascend, model: 310P3, layout: [v2]}\n", `c.yaml:4: layout: vNPU template "v2"`},
		{"count", "groups:\n  - name: a\n    devices:\n      - {vendor: amd, model: MI300X, count: 65}\n", "c.yaml:4: count: 65, want 1 to 64"},
		{"intel", "groups:\n  - name: a\n    intel: old\n", `c.yaml:3: intel: "old", want xpumd or xpum`},
		{"host", "groups:\n  - name: a\n    host: {cpus: 2, sockets: 4}\n", "c.yaml:3: host: sockets: 4"},
		{"period of nobody", "groups:\n  - name: a\n    periods:\n      dcgm-exporter: 30s\n", `c.yaml:4: periods: the nodes run no exporter "dcgm-exporter"`},
		{"period", "groups:\n  - name: a\n    periods: {cadvisor: 1h}\n", "c.yaml:3: periods: 1h0m0s"},
		{"source", "groups: [{name: a}]\nworkload:\n  source: real\n", `c.yaml:3: source: "real"`},
		{"trace", "groups: [{name: a}]\nworkload:\n  source: trace\n", "c.yaml:2: trace: duty is missing"},
		{"load", "groups: [{name: a}]\nworkload:\n  load: 2\n", "c.yaml:3: load: 2, want 0 to 1"},
		{"mix", "groups: [{name: a}]\nworkload:\n  mix:\n    games: 1\n", `c.yaml:4: mix: unknown kind of job "games"`},
		{"empty mix", "groups: [{name: a}]\nworkload:\n  mix: {batch: 0}\n", "c.yaml:3: mix: at least one weight"},
		{"fault", "groups: [{name: a}]\nfaults:\n  - kind: fire\n    at: 1m\n", `c.yaml:3: kind: "fire", want one of blank, clock_skew`},
		{"no time", "groups: [{name: a}]\nfaults:\n  - kind: node_loss\n", "c.yaml:3: kind: node_loss needs at or every"},
		{"two times", "groups: [{name: a}]\nfaults:\n  - kind: node_loss\n    at: 1m\n    every: 1m\n", "c.yaml:4: at: a fault has at or every, not both"},
		{"probability", "groups: [{name: a}]\nfaults:\n  - kind: node_loss\n    every: 1m\n    probability: 1.5\n", "c.yaml:5: probability: 1.5"},
		{"no such node", "groups: [{name: a}]\nfaults:\n  - kind: node_loss\n    at: 1m\n    nodes: sim-b-*\n", "c.yaml:3: kind: no node can have node_loss"},
		{"no such device", "groups: [{name: a, devices: [{vendor: amd, model: MI210}]}]\nfaults:\n  - {kind: xid, at: 1m}\n", "c.yaml:3: kind: no node can have xid: an NVIDIA device"},
		{"no such index", "groups: [{name: a, devices: [{vendor: nvidia, model: L4}]}]\nfaults:\n  - {kind: xid, at: 1m, device: 1}\n", "c.yaml:3: kind: no node can have xid"},
		{"pattern", "groups: [{name: a}]\nfaults:\n  - kind: node_loss\n    at: 1m\n    nodes: \"[\"\n", `c.yaml:5: nodes: "[" is not a pattern`},
		{"exporter", "groups: [{name: a}]\nfaults:\n  - {kind: freeze, at: 1m, exporter: gpu}\n", `c.yaml:3: exporter: "gpu", want one of node-exporter`},
		{"layout that does not fit", "groups: [{name: a, devices: [{vendor: nvidia, model: H100}]}]\nfaults:\n  - {kind: layout, at: 1m, layout: [8g.80gb]}\n", "c.yaml:3: kind: no node can have layout"},
		{"blank of another", "groups: [{name: a, devices: [{vendor: amd, model: MI210}]}]\nfaults:\n  - {kind: blank, at: 1m, metric: gpu_health}\n", "c.yaml:3: kind: no node can have blank"},
		{"no watts", "groups: [{name: a, devices: [{vendor: amd, model: MI210}]}]\nfaults:\n  - {kind: power, at: 1m}\n", "c.yaml:3: watts: 0"},
		{"no skew", "groups: [{name: a}]\nfaults:\n  - {kind: clock_skew, at: 1m}\n", "c.yaml:3: skew: missing"},
		{"ecc", "groups: [{name: a, devices: [{vendor: amd, model: MI210}]}]\nfaults:\n  - {kind: ecc, at: 1m, class: triple}\n", `c.yaml:3: class: "triple"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse("c.yaml", []byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v\nwant it to contain %s", err, tc.want)
			}
		})
	}
}

func TestParseReportsEveryFaultAtOnce(t *testing.T) {
	_, err := Parse("c.yaml", []byte("groups:\n  - {name: A}\nworkload: {load: 7}\nfaults: [{kind: fire}]\n"))
	for _, want := range []string{"c.yaml:2: name", "c.yaml:3: load", "c.yaml:4: kind"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant it to contain %s", err, want)
		}
	}
}

func TestLoadReadsTheExampleAndRelativeTraces(t *testing.T) {
	if _, err := Load(filepath.Join("..", "..", "deploy", "simulate.example.yaml")); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(file, []byte("groups: [{name: a}]\nworkload: {source: trace, trace: {duty: d.csv}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file)
	if err != nil || c.Workload.Trace.Duty != filepath.Join(dir, "d.csv") || c.Workload.Trace.Memory != "" {
		t.Errorf("%v, %+v", err, c)
	}
	if _, err := Load(filepath.Join(dir, "none.yaml")); err == nil {
		t.Error("a missing file is no error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(demoText)
	f.Add([]byte("groups: [{name: a, nodes: 2, devices: [{vendor: nvidia, model: A30, layout: [1g.6gb]}]}]\nfaults: [{kind: xid, every: 1s}]"))
	f.Add([]byte("groups:\n- - a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("f", text)
		if err != nil {
			return
		}
		units, cpus := 0, 0
		for _, g := range c.Groups {
			cpus += g.Nodes * g.Host.CPUs
			for _, d := range g.Devices {
				units += g.Nodes * d.Count
			}
		}
		if units > 64 || cpus > 256 || c.Workload.Source == FromTrace {
			return // sound, and too much for a fuzz target
		}
		if _, err := New(c, nil, start); err != nil {
			t.Fatalf("what was accepted cannot be built: %v", err)
		}
	})
}
