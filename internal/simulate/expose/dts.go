package expose

import (
	"strconv"

	"sextant/internal/simulate"
)

// dtsMetrics are counters of a port of a network adapter, under their own names. How DOCA
// telemetry lays names and labels out depends on its configuration; this is an assumption.
var dtsMetrics = []struct {
	name, kind string
	value      func(d *dev) float64
}{
	// InfiniBand counts data in words of 4 octets.
	{"port_rcv_data", counter, func(d *dev) float64 { return whole(d.LinkRxBytes / 4) }},
	{"port_xmit_data", counter, func(d *dev) float64 { return whole(d.LinkTxBytes / 4) }},
	{"port_rcv_packets", counter, func(d *dev) float64 { return whole(d.LinkRxBytes / fabricPacket) }},
	{"port_xmit_packets", counter, func(d *dev) float64 { return whole(d.LinkTxBytes / fabricPacket) }},
	{"port_xmit_wait", counter, func(d *dev) float64 { return whole(d.LinkTxBytes / 1e6) }},
	{"port_xmit_discards", counter, zero},
	{"port_rcv_errors", counter, zero},
	{"symbol_error", counter, zero},
	{"link_downed", counter, func(d *dev) float64 { return float64(d.LinkDowned) }},
	{"link_error_recovery", counter, zero},
	{"hw_out_of_buffer", counter, zero},
	{"hw_out_of_sequence", counter, zero},
	{"hw_packet_seq_err", counter, zero},
	{"ib_port_state", gauge, func(*dev) float64 { return 4 }}, // active
}

const fabricPacket = 4096 // bytes

func zero(*dev) float64 { return 0 }

// dts writes only the ports that are active: the series of one that is down are gone.
func (p *page) dts(n *simulate.Node) {
	nics := devices(n, simulate.BlueField)
	ms := n.Clock()
	for _, m := range dtsMetrics {
		p.kind(m.name, m.kind)
		for i, d := range nics {
			if !d.PortDown {
				p.rowAt(m.name, pairs("device_name", "mlx5_"+strconv.Itoa(i), "port", "1", "source_id", n.Name), m.value(d), ms)
			}
		}
	}
	p.kind("hwmon_temp", gauge)
	for i, d := range nics {
		p.rowAt("hwmon_temp", pairs("device_name", "bluefield"+strconv.Itoa(i), "sensor", "cpu_temp", "source_id", n.Name), whole(d.Temperature), ms)
	}
}
