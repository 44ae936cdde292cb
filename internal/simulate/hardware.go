package simulate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Vendor names who made a device, and with it which exporter speaks for it.
type Vendor string

// The vendors.
const (
	NVIDIA    Vendor = "nvidia"
	Ascend    Vendor = "ascend"
	AMD       Vendor = "amd"
	Intel     Vendor = "intel"
	Gaudi     Vendor = "gaudi"
	BlueField Vendor = "bluefield"
)

// Model is what does not change about a kind of device. Figures are near the vendors'
// data sheets; they make plausible readings, not a reference.
type Model struct {
	Vendor Vendor
	Name   string // in cluster files
	Label  string // as the exporter prints it

	Memory    float64 // bytes
	Reserved  float64 // of Memory, by driver and firmware; bytes
	Bandwidth float64 // of the memory, bytes per second
	Idle, TDP float64 // watts

	ClockIdle, ClockMax, ClockMemory float64 // MHz
	Hot                              float64 // °C at which the clock is throttled

	PCIe float64 // bytes per second and direction
	Link float64 // NVLink, HCCS, XGMI, Xe Link, NIC: bytes per second and direction, all links
	// Links is the number of links; for a network adapter that of its ports.
	Links int

	Parts   int // compute parts that slices are made of; 0: cannot be sliced
	Tiles   int // parts with readings of their own (Intel)
	PerCard int // chips on a card that share one power reading (Ascend 310P); 0: 1
	Compute bool
	Package string // power metric of AMD: package or average
	DDR     bool   // memory is reported as DDR, not HBM (Ascend 310P)
}

const (
	gib = float64(1 << 30)
	mib = float64(1 << 20)
)

// models is the catalogue of hardware. A kind of device is a row.
var models = []Model{
	{Vendor: NVIDIA, Name: "B200", Label: "NVIDIA B200", Memory: 183359 * mib, Reserved: 772 * mib, Bandwidth: 7.7e12, Idle: 140, TDP: 1000,
		ClockIdle: 120, ClockMax: 1965, ClockMemory: 3996, Hot: 85, PCIe: 63e9, Link: 900e9, Links: 18, Parts: 7, Compute: true},
	{Vendor: NVIDIA, Name: "H100", Label: "NVIDIA H100 80GB HBM3", Memory: 81559 * mib, Reserved: 486 * mib, Bandwidth: 3.35e12, Idle: 70, TDP: 700,
		ClockIdle: 345, ClockMax: 1980, ClockMemory: 2619, Hot: 85, PCIe: 63e9, Link: 450e9, Links: 18, Parts: 7, Compute: true},
	{Vendor: NVIDIA, Name: "A100", Label: "NVIDIA A100-SXM4-80GB", Memory: 81920 * mib, Reserved: 655 * mib, Bandwidth: 2.04e12, Idle: 55, TDP: 400,
		ClockIdle: 210, ClockMax: 1410, ClockMemory: 1593, Hot: 83, PCIe: 31.5e9, Link: 300e9, Links: 12, Parts: 7, Compute: true},
	{Vendor: NVIDIA, Name: "A30", Label: "NVIDIA A30", Memory: 24576 * mib, Reserved: 382 * mib, Bandwidth: 933e9, Idle: 28, TDP: 165,
		ClockIdle: 210, ClockMax: 1440, ClockMemory: 1215, Hot: 83, PCIe: 31.5e9, Parts: 4, Compute: true},
	{Vendor: NVIDIA, Name: "L4", Label: "NVIDIA L4", Memory: 23034 * mib, Reserved: 460 * mib, Bandwidth: 300e9, Idle: 12, TDP: 72,
		ClockIdle: 210, ClockMax: 2040, ClockMemory: 6251, Hot: 82, PCIe: 31.5e9, Compute: true},

	{Vendor: Ascend, Name: "910B3", Label: "910B3-Ascend-V1", Memory: 65536 * mib, Reserved: 2800 * mib, Bandwidth: 1.6e12, Idle: 90, TDP: 392,
		ClockIdle: 800, ClockMax: 1800, ClockMemory: 1600, Hot: 95, PCIe: 63e9, Link: 196e9, Links: 7, Compute: true},
	{Vendor: Ascend, Name: "310P3", Label: "310P3-Ascend-V1", Memory: 21527 * mib, Reserved: 1300 * mib, Bandwidth: 204e9, Idle: 12, TDP: 72,
		ClockIdle: 500, ClockMax: 1080, ClockMemory: 1600, Hot: 95, PCIe: 15.7e9, Parts: 8, PerCard: 2, DDR: true, Compute: true},

	{Vendor: AMD, Name: "MI300X", Label: "Instinct MI300X", Memory: 196592 * mib, Reserved: 280 * mib, Bandwidth: 5.3e12, Idle: 130, TDP: 750,
		ClockIdle: 132, ClockMax: 2100, ClockMemory: 1300, Hot: 95, PCIe: 63e9, Link: 448e9, Links: 7, Parts: 8, Package: "package", Compute: true},
	{Vendor: AMD, Name: "MI210", Label: "Instinct MI210", Memory: 65520 * mib, Reserved: 12 * mib, Bandwidth: 1.6e12, Idle: 40, TDP: 300,
		ClockIdle: 800, ClockMax: 1700, ClockMemory: 1600, Hot: 95, PCIe: 31.5e9, Link: 150e9, Links: 3, Package: "average", Compute: true},

	{Vendor: Intel, Name: "Max1550", Label: "Intel(R) Data Center GPU Max 1550", Memory: 128 * gib, Reserved: 1 * gib, Bandwidth: 3.2e12, Idle: 120, TDP: 600,
		ClockIdle: 900, ClockMax: 1600, ClockMemory: 3200, Hot: 95, PCIe: 63e9, Link: 208e9, Links: 8, Tiles: 2, Compute: true},
	{Vendor: Intel, Name: "Flex170", Label: "Intel(R) Data Center GPU Flex 170", Memory: 16 * gib, Reserved: gib / 4, Bandwidth: 576e9, Idle: 30, TDP: 150,
		ClockIdle: 600, ClockMax: 2050, ClockMemory: 2250, Hot: 95, PCIe: 31.5e9, Tiles: 1, Compute: true},

	{Vendor: Gaudi, Name: "Gaudi2", Label: "HL-225", Memory: 96 * gib, Reserved: gib / 2, Bandwidth: 2.45e12, Idle: 100, TDP: 600,
		ClockIdle: 400, ClockMax: 1650, ClockMemory: 1600, Hot: 95, PCIe: 31.5e9, Link: 262e9, Links: 21, Compute: true},
	{Vendor: Gaudi, Name: "Gaudi3", Label: "HL-325L", Memory: 128 * gib, Reserved: gib, Bandwidth: 3.7e12, Idle: 150, TDP: 900,
		ClockIdle: 400, ClockMax: 1900, ClockMemory: 1800, Hot: 95, PCIe: 63e9, Link: 525e9, Links: 21, Compute: true},

	{Vendor: BlueField, Name: "BlueField-3", Label: "BlueField-3", Memory: 32 * gib, Bandwidth: 80e9, Idle: 45, TDP: 110,
		ClockIdle: 2000, ClockMax: 2500, Hot: 95, PCIe: 63e9, Link: 50e9, Links: 1},
}

func findModel(v Vendor, name string) (*Model, error) {
	var known []string
	for i := range models {
		switch m := &models[i]; {
		case m.Vendor != v:
		case strings.EqualFold(m.Name, name):
			return m, nil
		default:
			known = append(known, m.Name)
		}
	}
	if known == nil {
		return nil, fmt.Errorf("vendor %q is not known, want one of %s", v, join(Vendors()))
	}
	return nil, fmt.Errorf("model %q of %s is not known, want one of %s", name, v, strings.Join(known, ", "))
}

// Vendors lists the vendors that have a model.
func Vendors() []Vendor {
	var out []Vendor
	for _, m := range models {
		if !slices.Contains(out, m.Vendor) {
			out = append(out, m.Vendor)
		}
	}
	return out
}

func join[T ~string](all []T) string {
	parts := make([]string, len(all))
	for i, a := range all {
		parts[i] = string(a)
	}
	return strings.Join(parts, ", ")
}

// Slice is a part of a device that work is given instead of the whole.
type Slice struct {
	Profile string  // MIG "1g.10gb", vNPU "vir02", AMD partitioning "dpx"
	ID      int     // GPU_I_ID, v_dev_id, gpu_partition_id
	Parts   int     // compute parts
	Share   float64 // of the device's compute, 0 to 1
	Memory  float64 // bytes
}

// slicesOf makes the slices of a layout. No layout is no slice: the device is whole.
func (m *Model) slicesOf(layout []string) ([]Slice, error) {
	switch {
	case len(layout) == 0:
		return nil, nil
	case m.Parts == 0:
		return nil, fmt.Errorf("%s cannot be sliced", m.Name)
	case m.Vendor == AMD:
		return m.partitions(layout)
	}
	var out []Slice
	parts, memory := 0, 0.0
	for i, profile := range layout {
		s, err := m.slice(profile)
		if err != nil {
			return nil, err
		}
		s.ID = m.firstID() + i
		parts, memory = parts+s.Parts, memory+s.Memory
		out = append(out, s)
	}
	if parts > m.Parts {
		return nil, fmt.Errorf("the slices need %d of %d compute parts", parts, m.Parts)
	}
	if memory > m.Memory*1.001 {
		return nil, fmt.Errorf("the slices need %.0f MiB of %.0f MiB", memory/mib, m.Memory/mib)
	}
	return out, nil
}

func (m *Model) firstID() int {
	if m.Vendor == Ascend {
		return 100 // v_dev_id of the first virtual device
	}
	return 1
}

func (m *Model) slice(profile string) (Slice, error) {
	s := Slice{Profile: profile}
	switch m.Vendor {
	case NVIDIA:
		g, gb, ok := strings.Cut(profile, "g.")
		parts, err := strconv.Atoi(g)
		size, err2 := strconv.Atoi(strings.TrimSuffix(gb, "gb"))
		if !ok || err != nil || err2 != nil || !strings.HasSuffix(gb, "gb") || parts < 1 || size < 1 {
			return s, fmt.Errorf("MIG profile %q, want one like 1g.10gb", profile)
		}
		// A profile's gigabytes are a share of the device's nominal memory in eighths (or
		// quarters), rounded to a name; what is there is a little less.
		s.Parts, s.Memory = parts, float64(size)*gib*0.95
	case Ascend:
		parts, err := strconv.Atoi(strings.TrimPrefix(profile, "vir"))
		if err != nil || !strings.HasPrefix(profile, "vir") || parts < 1 {
			return s, fmt.Errorf("vNPU template %q, want one like vir02", profile)
		}
		s.Parts, s.Memory = parts, (m.Memory-m.Reserved)*float64(parts)/float64(m.Parts)
	}
	s.Share = float64(s.Parts) / float64(m.Parts)
	return s, nil
}

// partitions are AMD's: the whole device is cut into equal parts.
func (m *Model) partitions(layout []string) ([]Slice, error) {
	counts := map[string]int{"spx": 1, "dpx": 2, "qpx": 4, "cpx": 8}
	n := counts[layout[0]]
	if len(layout) != 1 || n == 0 {
		return nil, fmt.Errorf("partitioning %q, want one of spx, dpx, qpx, cpx", strings.Join(layout, ","))
	}
	if n == 1 {
		return nil, nil
	}
	out := make([]Slice, n)
	for i := range out {
		out[i] = Slice{Profile: layout[0], ID: i, Parts: m.Parts / n, Share: 1 / float64(n), Memory: (m.Memory - m.Reserved) / float64(n)}
	}
	return out, nil
}
