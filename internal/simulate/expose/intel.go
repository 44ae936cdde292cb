package expose

import (
	"fmt"
	"math"
	"strconv"

	"sextant/internal/simulate"
)

// xpumd writes the current exporter: OpenTelemetry's names as Prometheus sees them.
func (p *page) xpumd(n *simulate.Node) {
	cards := devices(n, simulate.Intel)
	rows := func(name, kind, help string, each func(d *dev, row func(v float64, own ...string))) {
		p.head(name, kind, help)
		for i, d := range cards {
			id := []string{"hw_id", "gpu-" + strconv.Itoa(i), "hw_name", d.Label, "pci_bdf", d.PCI}
			each(d, func(v float64, own ...string) { p.row(name, pairs(append(own, id...)...), v) })
		}
	}
	rows("hw_gpu_info", gauge, "Facts about the GPU", func(d *dev, row func(float64, ...string)) {
		row(1, "hw_model", d.Label, "hw_serial_number", d.Serial)
	})
	rows("hw_gpu_utilization_ratio", gauge, "GPU utilization", func(d *dev, row func(float64, ...string)) {
		row(d.Busy, "hw_gpu_task", "compute")
		row(min(0.02*d.Busy+d.PCIeRx/d.PCIe*0.5, d.Busy), "hw_gpu_task", "copy")
		row(0, "hw_gpu_task", "media")
	})
	memory := []string{"hw_memory_location", "device", "hw_memory_type", "hbm"}
	rows("hw_memory_size_bytes", gauge, "Memory size", func(d *dev, row func(float64, ...string)) { row(d.Total(), memory...) })
	rows("hw_memory_usage_bytes", gauge, "Memory in use", func(d *dev, row func(float64, ...string)) { row(whole(d.Memory+d.Reserved), memory...) })
	rows("hw_memory_bandwidth_utilization_ratio", gauge, "Memory bandwidth in use", func(d *dev, row func(float64, ...string)) { row(d.Stream, memory...) })
	rows("hw_memory_io_bytes_total", counter, "Memory traffic", func(d *dev, row func(float64, ...string)) {
		row(whole(d.ReadBytes), append(memory, "network_io_direction", "receive")...)
		row(whole(d.WriteBytes), append(memory, "network_io_direction", "transmit")...)
	})
	card := []string{"hw_sensor_location", "card"}
	rows("hw_power_watts", gauge, "Power draw", func(d *dev, row func(float64, ...string)) { row(d.Power, card...) })
	rows("hw_energy_joules_total", counter, "Energy", func(d *dev, row func(float64, ...string)) { row(d.Joules, card...) })
	rows("hw_temperature_celsius", gauge, "Temperature", func(d *dev, row func(float64, ...string)) {
		for _, s := range []struct {
			where string
			t     float64
		}{{"gpu", d.Temperature}, {"memory", d.MemoryTemperature}} {
			row(whole(s.t), "hw_sensor_location", s.where, "statistic", "max")
			row(whole(s.t)-1, "hw_sensor_location", s.where, "statistic", "min")
		}
	})
	rows("hw_frequency_hertz", gauge, "Clock", func(d *dev, row func(float64, ...string)) {
		for _, s := range []struct {
			domain string
			mhz    float64
		}{{"gpu", whole(d.Clock)}, {"memory", d.ClockMemory}} {
			for _, how := range []string{"min", "max", "avg"} {
				row(s.mhz*1e6, "aggregation", how, "hw_frequency_domain", s.domain)
			}
		}
	})
	rows("hw_gpu_io_bytes_total", counter, "Bytes over PCIe", func(d *dev, row func(float64, ...string)) {
		row(whole(d.PCIeRxBytes), "network_io_direction", "receive")
		row(whole(d.PCIeTxBytes), "network_io_direction", "transmit")
	})
	rows("hw_errors_total", counter, "Errors", func(d *dev, row func(float64, ...string)) {
		row(float64(d.DoubleBitErrors), "error_category", "non_compute_errors", "error_type", "uncorrectable", "hw_type", "gpu")
		if d.SingleBitErrors > 0 { // correctable ones are told once there is one
			row(float64(d.SingleBitErrors), "error_category", "non_compute_errors", "error_type", "correctable", "hw_type", "gpu")
		}
	})
}

// xpumRow is a row of a device, of one of its tiles, or of its card.
type xpumRow struct {
	value float64
	src   string // direct, sum or avg
	tile  int    // -1 for the device
	card  bool
	own   []string
}

// xpumFamily is a family of the older exporter, whose families mix rows of tiles, devices
// and cards.
type xpumFamily struct {
	name, kind, help string
	rows             func(d *dev, add func(xpumRow))
}

var xpumFamilies = []xpumFamily{
	{"xpum_engine_ratio", gauge, "GPU active time, per tile and device (in %)", func(d *dev, add func(xpumRow)) {
		add(xpumRow{value: 100 * d.Busy, src: "avg", tile: -1})
		for t := range d.Tiles {
			add(xpumRow{value: 100 * tileBusy(d, t), src: "direct", tile: t})
		}
	}},
	{"xpum_memory_used_bytes", gauge, "Used GPU memory, per tile and device", func(d *dev, add func(xpumRow)) {
		add(xpumRow{value: whole(d.Memory + d.Reserved), src: "sum", tile: -1})
		for t := range d.Tiles {
			add(xpumRow{value: whole((d.Memory + d.Reserved) / float64(d.Tiles)), src: "direct", tile: t})
		}
	}},
	{"xpum_memory_ratio", gauge, "Used GPU memory in % of all", device("direct", func(d *dev) float64 { return 100 * (d.Memory + d.Reserved) / d.Total() })},
	{"xpum_memory_bandwidth_ratio", gauge, "Memory throughput in % of what there is", device("avg", func(d *dev) float64 { return 100 * d.Stream })},
	{"xpum_eu_active_ratio", gauge, "Execution units that are active (in %)", device("avg", func(d *dev) float64 { return 80 * d.Busy })},
	{"xpum_eu_stall_ratio", gauge, "Execution units that are stalled (in %)", device("avg", func(d *dev) float64 { return 20 * d.Busy })},
	{"xpum_eu_idle_ratio", gauge, "Execution units that are idle (in %)", device("avg", func(d *dev) float64 { return 100 - 100*d.Busy })},
	{"xpum_power_watts", gauge, "Power, per device and card", func(d *dev, add func(xpumRow)) {
		add(xpumRow{value: tenths(d.Power), src: "direct", tile: -1})
		add(xpumRow{value: tenths(d.Power), src: "sum", card: true})
	}},
	{"xpum_temperature_celsius", gauge, "Temperature", func(d *dev, add func(xpumRow)) {
		add(xpumRow{value: tenths(d.Temperature), src: "direct", tile: -1, own: []string{"location", "gpu"}})
		add(xpumRow{value: tenths(d.MemoryTemperature), src: "direct", tile: -1, own: []string{"location", "mem"}})
	}},
	{"xpum_frequency_mhz", gauge, "Clock", func(d *dev, add func(xpumRow)) {
		add(xpumRow{value: whole(d.Clock), src: "avg", tile: -1, own: []string{"location", "gpu", "type", "actual"}})
		add(xpumRow{value: d.ClockMax, src: "avg", tile: -1, own: []string{"location", "gpu", "type", "request"}})
	}},
	{"xpum_energy_joules", counter, "Energy since boot", device("direct", func(d *dev) float64 { return d.Joules })},
	{"xpum_memory_read_bytes", counter, "Bytes read from memory", device("sum", func(d *dev) float64 { return whole(d.ReadBytes) })},
	{"xpum_memory_write_bytes", counter, "Bytes written to memory", device("sum", func(d *dev) float64 { return whole(d.WriteBytes) })},
	{"xpum_pcie_read_bytes", counter, "Bytes read over PCIe", device("direct", func(d *dev) float64 { return whole(d.PCIeRxBytes) })},
	{"xpum_pcie_write_bytes", counter, "Bytes written over PCIe", device("direct", func(d *dev) float64 { return whole(d.PCIeTxBytes) })},
	{"xpum_resets", counter, "Resets of the GPU", device("direct", func(*dev) float64 { return 0 })},
	{"xpum_driver_errors", counter, "Errors of the driver", device("direct", func(*dev) float64 { return 0 })},
	{"xpum_non_compute_errors", counter, "Errors of the non-compute parts", func(d *dev, add func(xpumRow)) {
		add(xpumRow{value: float64(d.SingleBitErrors), src: "sum", tile: -1, own: []string{"type", "correctable"}})
		add(xpumRow{value: float64(d.DoubleBitErrors), src: "sum", tile: -1, own: []string{"type", "uncorrectable"}})
	}},
}

func device(src string, value func(*dev) float64) func(*dev, func(xpumRow)) {
	return func(d *dev, add func(xpumRow)) { add(xpumRow{value: value(d), src: src, tile: -1}) }
}

// tileBusy is uneven between tiles, with the device's as their mean.
func tileBusy(d *dev, tile int) float64 {
	if d.Tiles != 2 {
		return d.Busy
	}
	lean := 0.2 * min(d.Busy, 1-d.Busy)
	if tile == 0 {
		return d.Busy + lean
	}
	return d.Busy - lean
}

// xpum writes the older exporter: all comments first, then all rows, and a row with the
// time of its start for each counter.
func (p *page) xpum(n *simulate.Node) {
	for _, f := range xpumFamilies {
		if f.kind == counter {
			p.head(f.name+"_total", counter, f.help)
			p.head(f.name+"_created", gauge, f.help)
			continue
		}
		p.head(f.name, f.kind, f.help)
	}
	created := math.Round(float64(n.Boot)/1e3) + 20
	for _, f := range xpumFamilies {
		for i, d := range devices(n, simulate.Intel) {
			f.rows(d, func(r xpumRow) {
				labels := r.labels(n, i, d)
				if f.kind == counter {
					p.row(f.name+"_total", labels, r.value)
					p.row(f.name+"_created", labels, created)
					return
				}
				p.row(f.name, labels, r.value)
			})
		}
	}
}

func (r xpumRow) labels(n *simulate.Node, index int, d *dev) string {
	if r.card {
		return pairs("card", fmt.Sprint(2147483648+index), "node", n.Name, "src", r.src)
	}
	all := []string{"dev_file", "card" + strconv.Itoa(index+1), "dev_name", d.Label}
	if len(d.Units) > 0 {
		if container, namespace, pod := owner(n, &d.Units[0]); pod != "" {
			all = append(all, "kube_container", container, "kube_namespace", namespace, "kube_pod", pod)
		}
	}
	if len(r.own) > 0 && r.own[0] == "location" {
		all = append(all, r.own[:2]...)
		r.own = r.own[2:]
	}
	all = append(all, "node", n.Name, "pci_bdf", d.PCI, "pci_dev", "0xbd5", "src", r.src)
	if r.tile >= 0 {
		all = append(all, "sub_dev", strconv.Itoa(r.tile))
	}
	all = append(all, r.own...)
	return pairs(append(all, "uuid", d.UID, "vendor", "Intel(R) Corporation")...)
}
