package fleet

import (
	"fmt"
	"slices"
	"strings"

	"sextant/schema/wire"
)

// kind is how the values of a series move from tick to tick.
type kind uint8

const (
	constant kind = iota
	walk          // integer random walk: temperatures, clocks, MiB
	percent       // integer 0 to 100 that jumps
	decimals      // gauge with three decimals
	ratio         // gauge from 0 to 1 with six decimals
	noise         // gauge of full precision
	pages         // memory: a multiple of 4096, up to the start value
	count         // counter, integer steps
	seconds       // counter of seconds in hundredths
	clock         // the time at which the tick began, in seconds
)

// proto is one series of a node. {i} in a label value stands for the node's name, {gpu}
// for the id of its GPU number unit.
type proto struct {
	labels      []wire.Label
	kind        kind
	unit        int
	start, step float64
}

// PerNode is the number of series of each node.
const PerNode = 150

// shapes is the number of kinds of node: they differ in hardware names and in order.
const shapes = 4

// protos returns the series of one shape: half from a DCGM exporter, half from a
// node_exporter, in one scrape.
func protos(shape int) []proto {
	b := &builder{shape: shape}
	for gpu := range 6 {
		b.gpu(gpu)
	}
	for cpu := range 4 {
		b.cpu(cpu)
	}
	for i := range 4 {
		b.disk(i)
		b.network(i)
	}
	b.memory()
	b.rest()
	if len(b.out) != PerNode {
		panic(fmt.Sprintf("BUG: %d series per node", len(b.out)))
	}
	turn := shape * 37 % PerNode
	return append(slices.Clone(b.out[turn:]), b.out[:turn]...)
}

type builder struct {
	shape int
	unit  int
	out   []proto
}

// add takes label names and values in turn.
func (b *builder) add(job, name string, k kind, start, step float64, pairs ...string) {
	p := proto{kind: k, unit: b.unit, start: start, step: step, labels: []wire.Label{
		{Name: "__name__", Value: name}, {Name: "instance", Value: "{i}"}, {Name: "job", Value: job},
	}}
	for i := 0; i < len(pairs); i += 2 {
		p.labels = append(p.labels, wire.Label{Name: pairs[i], Value: pairs[i+1]})
	}
	slices.SortFunc(p.labels, func(a, b wire.Label) int { return strings.Compare(a.Name, b.Name) })
	b.out = append(b.out, p)
}

func (b *builder) gpu(n int) {
	b.unit = n
	model := []string{"NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA L40S", "NVIDIA H200"}[b.shape%4]
	for _, m := range []struct {
		name        string
		kind        kind
		start, step float64
	}{
		{"DCGM_FI_DEV_GPU_TEMP", walk, 52, 1},
		{"DCGM_FI_DEV_MEMORY_TEMP", walk, 61, 1},
		{"DCGM_FI_DEV_POWER_USAGE", decimals, 412, 6},
		{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", count, 8e9, 4.2e6},
		{"DCGM_FI_DEV_GPU_UTIL", percent, 87, 0},
		{"DCGM_FI_DEV_MEM_COPY_UTIL", percent, 35, 0},
		{"DCGM_FI_DEV_FB_USED", walk, 61234, 16},
		{"DCGM_FI_DEV_FB_FREE", walk, 20000, 16},
		{"DCGM_FI_DEV_SM_CLOCK", walk, 1755, 15},
		{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", ratio, 0.43, 0.02},
		{"DCGM_FI_DEV_XID_ERRORS", constant, 0, 0},
	} {
		b.add("dcgm", m.name, m.kind, m.start, m.step, "gpu", fmt.Sprint(n), "UUID", "{gpu}", "modelName", model)
	}
	b.unit = 0
}

func (b *builder) cpu(n int) {
	for _, m := range []struct {
		mode string
		step float64
	}{{"idle", 7}, {"iowait", 0.2}, {"system", 0.8}, {"user", 2}} {
		b.add("node", "node_cpu_seconds_total", seconds, 123456.78, m.step, "cpu", fmt.Sprint(n), "mode", m.mode)
	}
}

func (b *builder) disk(n int) {
	name := fmt.Sprintf("nvme%dn1", n)
	if b.shape%2 == 1 {
		name = "sd" + string(rune('a'+n))
	}
	b.add("node", "node_disk_read_bytes_total", count, 7e11, 3e7, "device", name)
	b.add("node", "node_disk_written_bytes_total", count, 9e11, 5e7, "device", name)
	b.add("node", "node_disk_io_time_seconds_total", seconds, 54321.1, 1.5, "device", name)
}

func (b *builder) network(n int) {
	name := fmt.Sprintf([]string{"eth%d", "ens%df0", "mlx5_%d", "eno%d"}[b.shape%4], n)
	b.add("node", "node_network_receive_bytes_total", count, 5e12, 9e8, "device", name)
	b.add("node", "node_network_transmit_bytes_total", count, 6e12, 8e8, "device", name)
	b.add("node", "node_network_receive_packets_total", count, 4e9, 6e5, "device", name)
	b.add("node", "node_network_transmit_packets_total", count, 4e9, 6e5, "device", name)
}

func (b *builder) memory() {
	b.add("node", "node_memory_MemTotal_bytes", constant, 8e11, 0)
	for _, m := range []string{"MemFree", "MemAvailable", "Buffers", "Cached", "Dirty", "AnonPages", "Slab", "SwapFree"} {
		b.add("node", "node_memory_"+m+"_bytes", pages, 4e11, 4096*500)
	}
	b.add("node", "node_memory_SwapTotal_bytes", constant, 8e11, 0)
}

func (b *builder) rest() {
	b.add("node", "node_load1", noise, 12.5, 0.7)
	b.add("node", "node_load5", noise, 12.1, 0.3)
	b.add("node", "node_load15", noise, 11.8, 0.1)
	for _, mount := range []string{"/", "/var", "/data"} {
		b.add("node", "node_filesystem_avail_bytes", pages, 8e11, 4096*2000, "device", "/dev/x", "fstype", "ext4", "mountpoint", mount)
		b.add("node", "node_filesystem_size_bytes", constant, 1.2e12, 0, "device", "/dev/x", "fstype", "ext4", "mountpoint", mount)
	}
	for _, p := range []string{"cpu", "memory", "io"} {
		b.add("node", "node_pressure_"+p+"_waiting_seconds_total", seconds, 200, 0.3)
	}
	b.add("node", "node_boot_time_seconds", constant, 1.79e9, 0)
	b.add("node", "node_procs_running", walk, 17, 2)
	b.add("node", "node_context_switches_total", count, 9e9, 5e5)
	b.add("node", "node_time_seconds", clock, Base/1000, 0)
	b.add("node", "up", constant, 1, 0)
	for mode := range PerNode - len(b.out) {
		b.add("node", "node_schedstat_running_seconds_total", seconds, 5000, 3, "cpu", fmt.Sprint(mode))
	}
}
