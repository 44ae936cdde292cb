package inventory

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	schema "sextant/schema/inventory"
)

// Time-slicing and MPS are told by labels of the node; a device that is shared so has no
// slices, and a label that says nothing makes nothing.
func TestSharing(t *testing.T) {
	for _, c := range []struct {
		name, labels, how string
		replicas          int
	}{
		{"time-slicing", `{"nvidia.com/gpu.sharing-strategy": "time-slicing", "nvidia.com/gpu.replicas": "4"}`, "time-slicing", 4},
		{"mps", `{"nvidia.com/gpu.sharing-strategy": "mps", "nvidia.com/gpu.replicas": "10"}`, "mps", 10},
		{"none", `{"nvidia.com/gpu.sharing-strategy": "none", "nvidia.com/gpu.replicas": "1"}`, "", 0},
		{"nonsense", `{"nvidia.com/gpu.sharing-strategy": "mps", "nvidia.com/gpu.replicas": "many"}`, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t)
			gpuNode(m)
			file := filepath.Join(t.TempDir(), "node.yaml")
			m.check(os.WriteFile(file, []byte("kind: Node\nmetadata: {name: n1, labels: "+c.labels+"}\n"), 0o600))
			d := m.read(func(cfg *Config) { cfg.KubernetesFile = file })
			for _, v := range d.Devices {
				if v.Sharing != c.how || v.Replicas != c.replicas || len(v.Slices) > 0 {
					t.Errorf("%s: %q, %d replicas, %d slices", v.ID, v.Sharing, v.Replicas, len(v.Slices))
				}
			}
		})
	}
}

// fixed is a source that knows one device.
type fixed DeviceExtra

func (fixed) Name() string { return "fixed" }

func (f fixed) Describe(context.Context) (Extra, error) {
	return Extra{Devices: []DeviceExtra{DeviceExtra(f)}}, nil
}

// What a library tells of a device reaches its series under the device's own id.
func TestSourceReachesSeries(t *testing.T) {
	m := newMachine(t)
	gpuNode(m)
	first := m.read(nil).Devices[0]
	d := m.read(func(cfg *Config) {
		cfg.Sources = []Source{fixed{PCI: first.PCI, Capability: "8.9", Memory: 48 << 30, PowerLimit: 350, MaxHertz: 2.5e9, MemoryHertz: 9e9, MIG: "disabled"}}
	})
	want := map[string]float64{"inventory_device_memory_bytes": 48 << 30, "inventory_device_power_limit_watts": 350, "inventory_device_compute_capability": 8.9,
		"inventory_device_clock_max_hertz": 9e9, "inventory_device_mig_enabled": 0}
	for _, s := range d.Series(schema.MaxSeriesLinks) {
		for _, l := range s.Labels {
			if l.Name == "uid" && l.Value == first.UID && want[s.Family.Name] == s.Value {
				delete(want, s.Family.Name)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("not seen: %v", want)
	}
}
