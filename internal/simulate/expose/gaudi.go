package expose

import (
	"strconv"

	"sextant/internal/simulate"
)

// gaudiMetrics have the vendor's names. Types and labels are not published; these are
// assumptions, as is that energy is in joules. Metrics whose unit nobody says are left out.
var gaudiMetrics = []struct {
	name, kind, help string
	value            func(d *dev) float64
}{
	{"habanalabs_utilization", gauge, "Utilization of the device in %", func(d *dev) float64 { return percent(d.Busy) }},
	{"habanalabs_memory_total_bytes", gauge, "Memory of the device", func(d *dev) float64 { return d.Total() }},
	{"habanalabs_memory_used_bytes", gauge, "Memory in use", func(d *dev) float64 { return gaudiUsed(d) }},
	{"habanalabs_memory_free_bytes", gauge, "Memory that is free", func(d *dev) float64 { return d.Total() - gaudiUsed(d) }},
	{"habanalabs_power_mW", gauge, "Power draw in mW", func(d *dev) float64 { return whole(d.Power * 1000) }},
	{"habanalabs_power_default_limit_mW", gauge, "Power limit as delivered in mW", func(d *dev) float64 { return d.TDP * 1000 }},
	{"habanalabs_energy", counter, "Energy", func(d *dev) float64 { return whole(d.Joules) }},
	{"habanalabs_temperature_onchip", gauge, "Temperature of the chip in C", func(d *dev) float64 { return whole(d.Temperature) }},
	{"habanalabs_temperature_onboard", gauge, "Temperature of the board in C", func(d *dev) float64 { return whole(d.Temperature - 8*d.Power/d.TDP) }},
	{"habanalabs_temperature_threshold_gpu", gauge, "Limit of the chip in C", func(d *dev) float64 { return d.Hot }},
	{"habanalabs_temperature_threshold_memory", gauge, "Limit of the memory in C", func(d *dev) float64 { return d.Hot + 5 }},
	{"habanalabs_temperature_threshold_shutdown", gauge, "Limit of the shutdown in C", func(d *dev) float64 { return d.Hot + 15 }},
	{"habanalabs_temperature_threshold_slowdown", gauge, "Limit of the slowdown in C", func(d *dev) float64 { return d.Hot }},
	{"habanalabs_clock_soc_mhz", gauge, "Clock in MHz", func(d *dev) float64 { return whole(d.Clock) }},
	{"habanalabs_clock_soc_max_mhz", gauge, "Highest clock in MHz", func(d *dev) float64 { return d.ClockMax }},
	{"habanalabs_pcie_replay_count", gauge, "Retries on PCIe", func(*dev) float64 { return 0 }},
	{"habanalabs_ecc_feature_mode", gauge, "Whether ECC is on", func(*dev) float64 { return 1 }},
	{"habanalabs_pending_rows_with_single_bit_ecc_errors", gauge, "Rows with single-bit errors that wait for replacement", func(d *dev) float64 { return float64(d.SingleBitErrors) }},
	{"habanalabs_pending_rows_with_double_bit_ecc_errors", gauge, "Rows with double-bit errors that wait for replacement", func(d *dev) float64 { return float64(d.DoubleBitErrors) }},
	{"habanalabs_pending_rows_state", gauge, "Whether rows wait for replacement", func(d *dev) float64 { return asFloat(d.SingleBitErrors+d.DoubleBitErrors > 0) }},
}

func gaudiUsed(d *dev) float64 { return whole(d.Memory + d.Reserved) }

func (p *page) gaudi(n *simulate.Node) {
	cards := devices(n, simulate.Gaudi)
	id := func(i int, d *dev) []string { return []string{"UUID", d.UID, "device", "hl" + strconv.Itoa(i)} }
	for _, m := range gaudiMetrics {
		p.head(m.name, m.kind, m.help)
		for i, d := range cards {
			p.row(m.name, pairs(id(i, d)...), m.value(d))
		}
	}
	p.head("habanalabs_nic_port_status", gauge, "Whether a port is up")
	for i, d := range cards {
		for port := range d.Links {
			p.row("habanalabs_nic_port_status", pairs(append(id(i, d), "port", strconv.Itoa(port))...), 1)
		}
	}
}
