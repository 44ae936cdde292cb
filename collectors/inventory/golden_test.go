package inventory

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/common/expfmt"

	schema "sextant/schema/inventory"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

func mkdir(m *machine, path string) error { return os.MkdirAll(filepath.Join(m.dir, path), 0o755) }

// read reads a machine, and wants its document to be one that every reader takes.
func (m *machine) read(change func(*Config)) *Document {
	m.t.Helper()
	cfg := m.config()
	if change != nil {
		change(&cfg)
	}
	d, err := Read(m.t.Context(), cfg)
	m.check(err)
	b, err := d.Encode()
	m.check(err)
	back, err := schema.Decode(b)
	m.check(err)
	m.check(back.Seal())
	if back.Hash != d.Hash {
		m.t.Error("the document hashes otherwise when it was read back")
	}
	return d
}

func TestGoldenDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		build  func(*machine)
		change func(m *machine, c *Config)
	}{
		"gpu_node": {gpuNode, func(m *machine, c *Config) {
			c.Rack, c.Switch, c.Labels = "r12", "leaf-7", map[string]string{"pool": "train"}
			c.Neighbours = []Neighbour{{Node: "n2", Latency: 4e-6, Bandwidth: 5e10}, {Node: "n1", Latency: 1}}
			c.KubernetesFile = "testdata/node.yaml"
		}},
		"ascend_node":  {ascendNode, func(m *machine, c *Config) { c.TopologyFile = filepath.Join(m.dir, "topology.yaml") }},
		"virtual_node": {virtualNode, nil},
		"amd_node":     {amdNode, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			c.build(m)
			d := m.read(func(cfg *Config) {
				if c.change != nil {
					c.change(m, cfg)
				}
			})
			d.Collected, d.Since = 1, 1
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetIndent("", " ")
			m.check(enc.Encode(d))
			file := filepath.Join("testdata", name+".json")
			if *update {
				m.check(os.WriteFile(file, got.Bytes(), 0o644))
			}
			want, err := os.ReadFile(file)
			m.check(err)
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s differs: run the test with -update and read the difference\n%s", file, got.Bytes())
			}
			m.goldenPage(name, d)
		})
	}
}

// goldenPage compares the document as it is scraped.
func (m *machine) goldenPage(name string, d *Document) {
	m.t.Helper()
	p := NewPage(schema.MaxSeriesLinks)
	p.Set(d)
	families, err := p.Gather()
	m.check(err)
	var got bytes.Buffer
	for _, f := range families {
		_, err := expfmt.MetricFamilyToText(&got, f)
		m.check(err)
	}
	file := filepath.Join("testdata", name+".prom")
	if *update {
		m.check(os.WriteFile(file, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	m.check(err)
	if !bytes.Equal(got.Bytes(), want) {
		m.t.Errorf("%s differs: run the test with -update and read the difference\n%s", file, got.Bytes())
	}
}
