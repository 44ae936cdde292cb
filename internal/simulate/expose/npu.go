package expose

import (
	"fmt"
	"slices"
	"strconv"

	"sextant/internal/simulate"
)

// npuMetric is a family of npu-exporter. All are gauges, counts too, and each row has the
// time at which the exporter cached it.
type npuMetric struct {
	name, help string
	ddr, hbm   bool // only on chips with such memory
	value      func(d *dev) float64
}

var npuMetrics = []npuMetric{
	{name: "npu_chip_info_utilization", help: "the ai core utilization", value: func(d *dev) float64 { return percent(d.Busy) }},
	{name: "npu_chip_info_overall_utilization", help: "the overall utilization of npu", hbm: true, value: func(d *dev) float64 { return percent(d.Busy) }},
	{name: "npu_chip_info_vector_utilization", help: "the ai vector core utilization", value: func(d *dev) float64 { return percent(0.3 * d.Busy) }},
	{name: "npu_chip_info_cube_utilization", help: "the ai cube core utilization", hbm: true, value: func(d *dev) float64 { return percent(d.Tensor) }},
	{name: "npu_chip_info_temperature", help: "the npu temperature", value: func(d *dev) float64 { return whole(d.Temperature) }},
	{name: "npu_chip_info_voltage", help: "the npu voltage", value: func(d *dev) float64 { return 0.75 + 0.1*d.Busy }},
	{name: "npu_chip_info_aicore_current_freq", help: "the npu ai core current frequency, unit is 'MHz'", value: func(d *dev) float64 { return whole(d.Clock) }},
	{name: "npu_chip_info_hbm_total_memory", help: "the npu hbm total memory", hbm: true, value: func(d *dev) float64 { return whole(d.Total() / mib) }},
	{name: "npu_chip_info_hbm_used_memory", help: "the npu hbm used memory", hbm: true, value: npuUsed},
	{name: "npu_chip_info_hbm_utilization", help: "the npu hbm utilization", hbm: true, value: func(d *dev) float64 { return percent(npuUsed(d) * mib / d.Total()) }},
	{name: "npu_chip_info_hbm_bandwidth_utilization", help: "the npu hbm bandwidth utilization", hbm: true, value: func(d *dev) float64 { return percent(d.Stream) }},
	{name: "npu_chip_info_hbm_temperature", help: "the npu hbm temperature", hbm: true, value: func(d *dev) float64 { return whole(d.MemoryTemperature) }},
	{name: "npu_chip_info_total_memory", help: "the npu total memory", ddr: true, value: func(d *dev) float64 { return whole(d.Total() / mib) }},
	{name: "npu_chip_info_used_memory", help: "the npu used memory", ddr: true, value: npuUsed},
	{name: "npu_chip_info_hbm_ecc_enable_flag", help: "whether hbm ecc is on", hbm: true, value: func(*dev) float64 { return 1 }},
	{name: "npu_chip_info_hbm_ecc_single_bit_error_cnt", help: "hbm single bit errors", hbm: true, value: func(d *dev) float64 { return float64(d.SingleBitErrors) }},
	{name: "npu_chip_info_hbm_ecc_double_bit_error_cnt", help: "hbm double bit errors", hbm: true, value: func(d *dev) float64 { return float64(d.DoubleBitErrors) }},
	{name: "npu_chip_info_hbm_ecc_total_single_bit_error_cnt", help: "hbm single bit errors of the chip's life", hbm: true, value: func(d *dev) float64 { return float64(d.SingleBitErrorsAll) }},
	{name: "npu_chip_info_hbm_ecc_total_double_bit_error_cnt", help: "hbm double bit errors of the chip's life", hbm: true, value: func(d *dev) float64 { return float64(d.DoubleBitErrsAll) }},
	{name: "npu_chip_info_bandwidth_rx", help: "the npu interface receive speed, unit is 'MB/s'", hbm: true, value: func(d *dev) float64 { return tenths(d.LinkRx * 0.01 / 1e6) }},
	{name: "npu_chip_info_bandwidth_tx", help: "the npu interface transport speed, unit is 'MB/s'", hbm: true, value: func(d *dev) float64 { return tenths(d.LinkTx * 0.01 / 1e6) }},
	{name: "npu_chip_info_hccs_bandwidth_info_total_tx", help: "hccs total transmit bandwidth, unit is 'GB/s'", hbm: true, value: func(d *dev) float64 { return tenths(d.LinkTx / 1e9) }},
	{name: "npu_chip_info_hccs_bandwidth_info_total_rx", help: "hccs total receive bandwidth, unit is 'GB/s'", hbm: true, value: func(d *dev) float64 { return tenths(d.LinkRx / 1e9) }},
	{name: "npu_chip_info_hccs_bandwidth_info_profiling_time", help: "hccs sampling time, unit is 'ms'", hbm: true, value: func(*dev) float64 { return 200 }},
	{name: "npu_chip_info_health_status", help: "the npu health status", value: func(d *dev) float64 { return asFloat(len(d.Errors) == 0) }},
	{name: "npu_chip_info_network_status", help: "the npu network health status", hbm: true, value: func(*dev) float64 { return 1 }},
	{name: "npu_chip_info_link_status", help: "the npu link status", hbm: true, value: func(*dev) float64 { return 1 }},
}

// npuUsed is MB in use, which are 2^20 bytes as the totals show; the chip's own included.
func npuUsed(d *dev) float64 { return whole((d.Memory + d.Reserved) / mib) }

// manyPods stands in the pod labels of a chip that several pods share.
const manyPods = "not_displayed_for_multi_pod"

// npuChip is a chip with the labels of its rows, in the order of the alphabet.
type npuChip struct {
	*dev
	id                       string
	container, namespace, pd string
	pods                     int
	before, after            string // its labels, around the place of a further one
}

func (c *npuChip) setLabels() {
	c.before = pairs("container_name", c.container, "id", c.id, "model_name", c.Label, "namespace", c.namespace, "pcie_bus_info", npuPCI(c.dev))
	c.after = "," + pairs("pod_name", c.pd, "vdie_id", c.UID)
}

func (c *npuChip) labels(own ...string) string {
	if len(own) == 0 {
		return c.before + c.after
	}
	return c.before + "," + pairs(own...) + c.after
}

func npuPCI(d *dev) string { return "0000:" + fmt.Sprintf("%02X", 0xc1+d.Index) + ":00.0" }

func (p *page) npu(n *simulate.Node) {
	var chips []npuChip
	healthy := 0
	for i, d := range devices(n, simulate.Ascend) {
		c := npuChip{dev: d, id: strconv.Itoa(i)}
		seen := map[string]bool{}
		for j := range d.Units {
			if container, namespace, pod := owner(n, &d.Units[j]); pod != "" && !seen[pod] {
				seen[pod] = true
				c.container, c.namespace, c.pd = container, namespace, pod
			}
		}
		if c.pods = len(seen); c.pods > 1 {
			c.container, c.namespace, c.pd = manyPods, manyPods, manyPods
		}
		if len(d.Errors) == 0 {
			healthy++
		}
		c.setLabels()
		chips = append(chips, c)
	}
	ms := n.Clock()
	p.one("npu_exporter_version_info", gauge, "exporter version with value '1'", pairs("exporterVersion", "v6.0.0"), 1)
	p.one("machine_npu_nums", gauge, "amount of npu installed on the machine", "", float64(len(chips)))
	p.one("machine_healthy_npu_nums", gauge, "amount of healthy npu", "", float64(healthy))
	p.one("machine_unhealthy_npu_nums", gauge, "amount of unhealthy npu", "", float64(len(chips)-healthy))
	for _, m := range npuMetrics {
		p.npuFamily(m, chips, ms)
	}
	p.npuPower(chips, ms)
	p.npuErrors(chips, ms)
	p.npuPCIe(chips, ms)
	p.npuContainers(chips, ms)
	p.vnpu(n, chips, ms)
}

func (p *page) npuFamily(m npuMetric, chips []npuChip, ms int64) {
	p.head(m.name, gauge, m.help)
	for _, c := range chips {
		if m.ddr && !c.DDR || m.hbm && c.DDR {
			continue
		}
		v := m.value(c.dev)
		if slices.Contains(c.Blank, m.name) {
			v = -1 // could not be read
		}
		p.rowAt(m.name, c.labels(), v, ms)
	}
}

// npuPower repeats the power of a card for each chip on it.
func (p *page) npuPower(chips []npuChip, ms int64) {
	p.head("npu_chip_info_power", gauge, "the npu power")
	for i, c := range chips {
		per := max(c.PerCard, 1)
		sum := 0.0
		for k := i / per * per; k < min(i/per*per+per, len(chips)); k++ {
			sum += chips[k].Power
		}
		p.rowAt("npu_chip_info_power", c.labels(), tenths(sum), ms)
	}
}

// npuErrors writes a row for each code in force, and none for a chip without one.
func (p *page) npuErrors(chips []npuChip, ms int64) {
	for place := range 10 {
		name := "npu_chip_info_error_code"
		if place > 0 {
			name += "_" + strconv.Itoa(place)
		}
		begun := false
		for _, c := range chips {
			if place >= len(c.Errors) {
				continue
			}
			if !begun {
				p.head(name, gauge, "the npu error code")
				begun = true
			}
			p.rowAt(name, c.labels(), float64(c.Errors[place]), ms)
		}
	}
}

// npuPCIe writes MB per ms by kind of packet: posted, not posted, completion.
func (p *page) npuPCIe(chips []npuChip, ms int64) {
	for _, k := range []struct {
		name string
		part float64
		rate func(*dev) float64
	}{
		{"rx_p", 0.8, func(d *dev) float64 { return d.PCIeRx }}, {"rx_np", 0.1, func(d *dev) float64 { return d.PCIeRx }}, {"rx_cpl", 0.1, func(d *dev) float64 { return d.PCIeRx }},
		{"tx_p", 0.8, func(d *dev) float64 { return d.PCIeTx }}, {"tx_np", 0.1, func(d *dev) float64 { return d.PCIeTx }}, {"tx_cpl", 0.1, func(d *dev) float64 { return d.PCIeTx }},
	} {
		name := "npu_chip_info_pcie_" + k.name + "_bw"
		p.head(name, gauge, "pcie bandwidth, unit is 'MB/ms'")
		for _, c := range chips {
			if c.DDR {
				continue
			}
			v := k.rate(c.dev) * k.part / 1e9
			p.rowAt(name, c.labels("pcie_bw_type", "avgPcieBw"), whole(v), ms)
			p.rowAt(name, c.labels("pcie_bw_type", "minPcieBw"), whole(v*0.7), ms)
			p.rowAt(name, c.labels("pcie_bw_type", "maxPcieBw"), whole(v*1.3), ms)
		}
	}
}

// npuContainers writes what the one container of a chip uses.
func (p *page) npuContainers(chips []npuChip, ms int64) {
	for _, f := range []struct {
		name, help string
		value      func(npuChip) float64
	}{
		{"container_npu_utilization", "npu ai core utilization in container", func(c npuChip) float64 { return percent(c.Busy) }},
		{"container_npu_total_memory", "npu total memory in container, unit is 'MB'", func(c npuChip) float64 { return whole(c.Total() / mib) }},
		{"container_npu_used_memory", "npu used memory in container, unit is 'MB'", func(c npuChip) float64 { return npuUsed(c.dev) }},
	} {
		p.head(f.name, gauge, f.help)
		for _, c := range chips {
			if c.pods == 1 && !c.Sliced() {
				p.rowAt(f.name, c.labels(), f.value(c), ms)
			}
		}
	}
}

// vnpu writes the slices of 310P chips that have exactly one container each. Their memory
// is in KB, unlike all other memory here.
func (p *page) vnpu(n *simulate.Node, chips []npuChip, ms int64) {
	for _, f := range []struct {
		name, help string
		value      func(*unit) float64
	}{
		{"vnpu_pod_aicore_utilization", "the vnpu ai core utilization", func(u *unit) float64 { return percent(u.Busy) }},
		{"vnpu_pod_total_memory", "the vnpu total memory, unit is 'KB'", func(u *unit) float64 { return whole(u.Capacity / 1024) }},
		{"vnpu_pod_used_memory", "the vnpu used memory, unit is 'KB'", func(u *unit) float64 { return whole(u.Memory / 1024) }},
	} {
		begun := false
		for _, c := range chips {
			for i := range c.Units {
				u := &c.Units[i]
				if u.Slice == nil || u.Job == nil {
					continue
				}
				if !begun {
					p.head(f.name, gauge, f.help)
					begun = true
				}
				container, namespace, pod := owner(n, u)
				p.rowAt(f.name, pairs("aicore_count", strconv.Itoa(u.Slice.Parts)+".00", "container_name", container, "id", c.id, "is_virtual", "true",
					"model_name", c.Label, "namespace", namespace, "pod_name", pod, "v_dev_id", strconv.Itoa(u.Slice.ID)), f.value(u), ms)
			}
		}
	}
}
