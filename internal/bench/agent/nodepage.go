package agent

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// nodeSeries is how many series the page of node_exporter has.
const nodeSeries = 1500

// newNodePage is a node_exporter page in its proportions: a host with 48 CPUs, 16 disks
// and 12 interfaces.
func newNodePage(seed uint64) *page {
	p := &page{rnd: rand.New(rand.NewPCG(seed, 11))}
	p.add("node_cpu_seconds_total", true, "Seconds the CPUs spent in each mode.", 10, labels("cpu", count(48), "mode",
		[]string{"idle", "iowait", "irq", "nice", "softirq", "steal", "system", "user"}))
	for _, name := range []string{"receive_bytes", "receive_packets", "receive_errs", "receive_drop", "receive_fifo", "receive_frame", "receive_compressed",
		"receive_multicast", "transmit_bytes", "transmit_packets", "transmit_errs", "transmit_drop", "transmit_fifo", "transmit_colls", "transmit_carrier", "transmit_compressed"} {
		p.add("node_network_"+name+"_total", true, "Network device statistic "+name+".", 1e5, labels("device", prefixed("eth", 12)))
	}
	for _, name := range []string{"reads_completed", "reads_merged", "read_bytes", "read_time_seconds", "writes_completed", "writes_merged", "written_bytes",
		"write_time_seconds", "io_time_seconds", "io_time_weighted_seconds", "discards_completed", "discarded_sectors", "flush_requests"} {
		p.add("node_disk_"+name+"_total", true, "Disk statistic "+name+".", 1e4, labels("device", prefixed("nvme", 16)))
	}
	for _, name := range []string{"avail_bytes", "files", "files_free", "free_bytes", "size_bytes", "readonly", "device_error"} {
		p.add("node_filesystem_"+name, false, "Filesystem "+name+".", 4096, labels("device", prefixed("/dev/nvme", 12), "fstype", []string{"ext4"}))
	}
	for _, name := range []string{"interrupts", "softirqs"} {
		p.add("node_"+name+"_total", true, "Number of "+name+" by CPU.", 100, labels("cpu", count(48), "type", []string{"NET_RX", "TIMER", "SCHED"}))
	}
	for i := 0; p.series() < nodeSeries; i++ {
		p.add(fmt.Sprintf("node_memory_Field%d_bytes", i), false, fmt.Sprintf("Memory information field Field%d_bytes.", i), 4096, []string{""})
	}
	return p
}

func (p *page) add(name string, counter bool, help string, step float64, labels []string) {
	kind := "gauge"
	if counter {
		kind = "counter"
	}
	f := family{name: name, head: fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind), counter: counter, step: step, decimals: -1}
	for _, l := range labels {
		f.prefix = append(f.prefix, name+l+" ")
		f.value = append(f.value, float64(p.rnd.IntN(1e9)))
	}
	p.families = append(p.families, f)
}

func count(n int) (out []string) {
	for i := range n {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

func prefixed(prefix string, n int) (out []string) {
	for _, i := range count(n) {
		out = append(out, prefix+i)
	}
	return out
}

// labels is every combination of the values of one label, or of two.
func labels(name string, values []string, more ...any) (out []string) {
	for _, v := range values {
		if len(more) == 0 {
			out = append(out, fmt.Sprintf("{%s=%q}", name, v))
			continue
		}
		for _, second := range more[1].([]string) {
			out = append(out, fmt.Sprintf("{%s=%q,%s=%q}", name, v, more[0], second))
		}
	}
	return out
}
