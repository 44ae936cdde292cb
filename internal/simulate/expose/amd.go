package expose

import (
	"slices"
	"strconv"

	"sextant/internal/simulate"
)

// amdMetric is a family of device-metrics-exporter. All are gauges, accumulated ones too.
type amdMetric struct {
	name, help string
	pkg        string // only on devices whose power metric is this
	parts      bool   // has a value on each partition; elsewhere only the first has one
	value      func(d *dev, u *unit) float64
}

var amdMetrics = []amdMetric{
	{name: "gpu_gfx_activity", help: "Graphics engine usage percentage (0 - 100)", value: func(d *dev, _ *unit) float64 { return percent(d.Busy) }},
	{name: "gpu_umc_activity", help: "Memory engine usage percentage (0 - 100)", value: func(d *dev, _ *unit) float64 { return percent(d.Stream) }},
	{name: "gpu_total_vram", help: "Total VRAM available on the GPU in MB", parts: true, value: amdTotal},
	{name: "gpu_used_vram", help: "Used VRAM on the GPU in MB", parts: true, value: amdUsed},
	{name: "gpu_free_vram", help: "Free VRAM on the GPU in MB", parts: true, value: func(d *dev, u *unit) float64 { return amdTotal(d, u) - amdUsed(d, u) }},
	{name: "gpu_vram_max_bandwidth", help: "Maximum VRAM bandwidth in GB/s", value: func(d *dev, _ *unit) float64 { return whole(d.Bandwidth / 1e9) }},
	{name: "gpu_junction_temperature", help: "Junction/hotspot temperature in Celsius", pkg: "package", value: func(d *dev, _ *unit) float64 { return whole(d.Temperature) }},
	{name: "gpu_edge_temperature", help: "Edge temperature in Celsius", pkg: "average", value: func(d *dev, _ *unit) float64 { return whole(d.Temperature) }},
	{name: "gpu_memory_temperature", help: "Memory temperature in Celsius", value: func(d *dev, _ *unit) float64 { return whole(d.MemoryTemperature) }},
	{name: "gpu_package_power", help: "Current package power in Watts", pkg: "package", value: func(d *dev, _ *unit) float64 { return whole(d.Power) }},
	{name: "gpu_average_package_power", help: "Average package power in Watts", pkg: "average", value: func(d *dev, _ *unit) float64 { return whole(d.Power) }},
	{name: "gpu_energy_consumed", help: "Accumulated energy consumed by the GPU in uJ", value: func(d *dev, _ *unit) float64 { return whole(d.Joules * 1e6) }},
	{name: "gpu_ecc_correct_total", help: "Total Correctable error count", value: func(d *dev, _ *unit) float64 { return float64(d.SingleBitErrors) }},
	{name: "gpu_ecc_uncorrect_total", help: "Total Uncorrectable error count", value: func(d *dev, _ *unit) float64 { return float64(d.DoubleBitErrors) }},
	{name: "pcie_speed", help: "Current PCIe speed in GT/s", value: func(d *dev, _ *unit) float64 { return whole(d.PCIe / 2e9) }},
	{name: "pcie_bandwidth", help: "Current PCIe bandwidth in Mb/s", value: func(d *dev, _ *unit) float64 { return whole((d.PCIeTx + d.PCIeRx) * 8 / 1e6) }},
	{name: "pcie_replay_count", help: "Total number of PCIe replays", value: func(*dev, *unit) float64 { return 0 }},
	{name: "gpu_violation_ppt_residency_accumulated", help: "Package power tracking violations", pkg: "package", value: func(d *dev, _ *unit) float64 { return d.PowerThrottledSec * 1000 }},
	{name: "gpu_violation_socket_thermal_residency_accumulated", help: "Socket thermal violations", pkg: "package", value: func(d *dev, _ *unit) float64 { return d.HeatThrottledSec * 1000 }},
	{name: "gpu_health", help: "Health of the GPU (0 = Unhealthy | 1 = Healthy)", parts: true, value: func(d *dev, _ *unit) float64 { return asFloat(d.DoubleBitErrors == 0) }},
}

// amdTotal and amdUsed are MB, taken for 2^20 bytes, of the device or the partition.
func amdTotal(d *dev, u *unit) float64 {
	if u.Slice == nil {
		return whole(d.Total() / mib)
	}
	return whole(u.Capacity / mib)
}

func amdUsed(d *dev, u *unit) float64 {
	if u.Slice == nil {
		return whole((u.Memory + d.Reserved) / mib)
	}
	return whole(u.Memory / mib)
}

// notApplicable are readings that the exporter takes for "no value" and drops, true ones
// among them: a device that draws 255 W has no power for that moment.
var notApplicable = []float64{255, 65535, 2147483647, 4294967295, 18446744073709551615}

// amdRow is a device, or one of its partitions, with the labels of its rows.
type amdRow struct {
	d     *dev
	u     *unit
	first bool
	pairs []string
	plain string // pairs, joined
}

// labels puts own labels in the place that the alphabet gives them.
func (r amdRow) labels(own ...string) string {
	if len(own) == 0 {
		return r.plain
	}
	all := slices.Clone(r.pairs)
	for i := 0; i < len(own); i += 2 {
		at := 0
		for at < len(all) && all[at] < own[i] {
			at += 2
		}
		all = slices.Insert(all, at, own[i], own[i+1])
	}
	return pairs(all...)
}

func (p *page) amd(n *simulate.Node) {
	var rows []amdRow
	cards := devices(n, simulate.AMD)
	for _, d := range cards {
		kind := "spx"
		if d.Sliced() {
			kind = d.Layout[0]
		}
		for i := range d.Units {
			u := &d.Units[i]
			r := amdRow{d: d, u: u, first: i == 0}
			container, namespace, pod := owner(n, u)
			r.pairs = []string{"card_model", "102-SIM" + strconv.Itoa(int(d.TDP)) + "-00", "card_series", d.Label, "card_vendor", "AMD",
				"container", container, "driver_version", "6.14.14", "gpu_compute_partition_type", kind, "gpu_id", strconv.Itoa(len(rows)),
				"gpu_memory_partition_type", "nps1", "gpu_partition_id", strconv.Itoa(i), "gpu_uuid", d.UID, "hostname", n.Name,
				"namespace", namespace, "pod", pod, "serial_number", d.Serial}
			r.plain = pairs(r.pairs...)
			rows = append(rows, r)
		}
	}
	p.one("amd_gpu_nodes_total", gauge, "Number of GPUs in the node", pairs("hostname", n.Name), float64(len(cards)))
	for _, m := range amdMetrics {
		p.amdFamily(m, rows)
	}
	p.amdClocks(rows)
	p.amdLinks(rows)
}

func (p *page) amdFamily(m amdMetric, rows []amdRow) {
	name := "amd_" + m.name // the prefix of the configuration that the exporter ships with
	p.head(name, gauge, m.help)
	for _, r := range rows {
		if m.pkg != "" && m.pkg != r.d.Package {
			continue
		}
		v := m.value(r.d, r.u)
		if !r.first && !m.parts {
			v = 0 // what belongs to the whole device is 0 on all partitions but the first
		}
		if !slices.Contains(notApplicable, v) {
			p.row(name, r.labels(), v)
		}
	}
}

func (p *page) amdClocks(rows []amdRow) {
	p.head("amd_gpu_clock", gauge, "Clock measure of the GPU in MHz")
	for _, r := range rows {
		if r.first {
			p.row("amd_gpu_clock", r.labels("clock_index", "0", "clock_type", "system"), whole(r.d.Clock))
			p.row("amd_gpu_clock", r.labels("clock_index", "8", "clock_type", "memory"), r.d.ClockMemory)
		}
	}
}

// amdLinks writes accumulated KB over each XGMI link; the traffic is even.
func (p *page) amdLinks(rows []amdRow) {
	for _, f := range []struct {
		name, help string
		value      func(*dev) float64
	}{
		{"amd_gpu_xgmi_link_rx", "Accumulated XGMI link data read in KB", func(d *dev) float64 { return d.LinkRxBytes }},
		{"amd_gpu_xgmi_link_tx", "Accumulated XGMI link data write in KB", func(d *dev) float64 { return d.LinkTxBytes }},
	} {
		p.head(f.name, gauge, f.help)
		for _, r := range rows {
			for l := 0; r.first && l < r.d.Links; l++ {
				p.row(f.name, r.labels("link_index", strconv.Itoa(l)), whole(f.value(r.d)/1000/float64(r.d.Links)))
			}
		}
	}
}
