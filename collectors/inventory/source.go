package inventory

import (
	"context"
	"slices"
	"strings"

	schema "sextant/schema/inventory"
)

// Source knows of devices what PCI does not: a vendor's library, or a file.
type Source interface {
	// Name stands in the document's faults when Describe fails.
	Name() string
	Describe(ctx context.Context) (Extra, error)
}

// Extra is what a source tells. Parts go by PCI address, uid or network device name.
type Extra struct {
	Devices []DeviceExtra `yaml:"devices"`
	Links   []LinkExtra   `yaml:"links"`
}

// DeviceExtra is added to the device with that PCI address or else that uid; what is
// empty adds nothing. A device that PCI does not show needs vendor, kind and uid.
type DeviceExtra struct {
	PCI        string         `yaml:"pci"`
	UID        string         `yaml:"uid"`
	Vendor     string         `yaml:"vendor"`
	Kind       string         `yaml:"kind"`
	Model      string         `yaml:"model"`
	Generation string         `yaml:"generation"`
	Capability string         `yaml:"compute_capability"`
	Memory     uint64         `yaml:"memory_bytes"`
	Firmware   string         `yaml:"firmware"`
	Driver     string         `yaml:"driver_version"`
	Slices     []schema.Slice `yaml:"slices"`

	PowerLimit  float64 `yaml:"power_limit_watts"`
	MaxHertz    float64 `yaml:"max_hertz"`
	MemoryHertz float64 `yaml:"memory_max_hertz"`
	MIG         string  `yaml:"mig"`     // enabled, disabled
	Sharing     string  `yaml:"sharing"` // time-slicing, mps, hami
	Replicas    int     `yaml:"replicas"`
}

// LinkExtra is a link that PCI does not show.
type LinkExtra struct {
	From      string          `yaml:"from"`
	To        string          `yaml:"to"`
	Kind      schema.LinkKind `yaml:"kind"`      // nvlink, xgmi, hccs
	Bandwidth float64         `yaml:"bandwidth"` // bytes/s in one direction, all physical links together
	Latency   float64         `yaml:"latency"`   // s
	Count     int             `yaml:"count"`     // physical links
}

// sources asks every source. One that fails costs its own facts; only a ctx that ends is
// an error.
func (r *reader) sources(ctx context.Context) error {
	all := r.cfg.Sources
	if r.cfg.TopologyFile != "" {
		all = append(slices.Clone(all), file(r.cfg.TopologyFile))
	}
	for _, s := range all {
		x, err := s.Describe(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.fault("%s: %s", s.Name(), plain(err))
		}
		for _, d := range x.Devices {
			r.add(s.Name(), d)
		}
		r.stated = append(r.stated, x.Links...)
	}
	return nil
}

// file is a source in a file, for what no library tells.
type file string

func (file) Name() string { return "topology_file" }

func (f file) Describe(context.Context) (Extra, error) {
	var x Extra
	err := readYAML(string(f), &x)
	return x, err
}

// add merges what a source tells of one device.
func (r *reader) add(source string, x DeviceExtra) {
	x.PCI = plainAddress(x.PCI)
	i := slices.IndexFunc(r.doc.Devices, func(v schema.Device) bool {
		return x.PCI != "" && v.PCI == x.PCI || x.PCI == "" && x.UID != "" && v.UID == x.UID
	})
	if i < 0 {
		if x.Vendor == "" || x.Kind == "" || x.UID == "" || len(r.doc.Devices) >= schema.MaxDevices {
			r.fault("%s: device %s%s is not on this node's PCI", source, x.PCI, x.UID)
			return
		}
		i = len(r.doc.Devices)
		r.doc.Devices = append(r.doc.Devices, schema.Device{Vendor: x.Vendor, Kind: x.Kind, PCIPlace: r.at(x.PCI)})
	}
	v := &r.doc.Devices[i]
	for _, t := range []struct {
		to   *string
		from string
	}{{&v.UID, x.UID}, {&v.Model, x.Model}, {&v.Generation, x.Generation}, {&v.Capability, x.Capability}, {&v.Firmware, x.Firmware}, {&v.DriverVersion, x.Driver},
		{&v.MIG, x.MIG}, {&v.Sharing, x.Sharing}} {
		if t.from != "" {
			*t.to = t.from
		}
	}
	if x.Memory > 0 {
		v.Memory = x.Memory
	}
	if x.Replicas > 0 {
		v.Replicas = x.Replicas
	}
	for _, n := range []struct {
		to   *float64
		from float64
	}{{&v.PowerLimit, x.PowerLimit}, {&v.MaxHertz, x.MaxHertz}, {&v.MemoryHertz, x.MemoryHertz}} {
		if n.from > 0 {
			*n.to = n.from
		}
	}
	if len(x.Slices) > 0 {
		v.Slices = x.Slices[:min(len(x.Slices), schema.MaxSlices)]
	}
}

// plainAddress writes a PCI address as the kernel does. NVIDIA's libraries give domains
// of eight digits and capitals.
func plainAddress(s string) string {
	s = strings.ToLower(s)
	if domain, rest, ok := strings.Cut(s, ":"); ok && len(domain) == 8 {
		return strings.TrimPrefix(domain, "0000") + ":" + rest
	}
	return s
}
