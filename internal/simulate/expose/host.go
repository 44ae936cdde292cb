package expose

import (
	"strconv"

	"sextant/internal/simulate"
)

// Simulated software of the hosts.
const (
	kernelRelease = "6.8.0-60-generic"
	osName        = "Ubuntu"
	osVersion     = "24.04"
	osPretty      = "Ubuntu 24.04.2 LTS"
	cpuHertz      = 2.4e9
)

// nodeExporter writes the part of node_exporter's page that features and dashboards read.
func (p *page) nodeExporter(n *simulate.Node) {
	h, s := n.Group.Host, &n.Host
	p.one("node_time_seconds", gauge, "System time in seconds since epoch (1970).", "", float64(n.Clock())/1e3)
	p.one("node_boot_time_seconds", gauge, "Node boot time, in unixtime.", "", float64(n.Boot+n.Clock()-n.Now)/1e3)
	p.one("node_uname_info", gauge, "Labeled system information as provided by the uname system call.",
		pairs("domainname", "(none)", "machine", h.Arch, "nodename", n.Name, "release", kernelRelease, "sysname", "Linux", "version", "#1 SMP"), 1)
	p.one("node_os_info", gauge, "A metric with a constant '1' value labeled by build_id, id, id_like, image_id, image_version, name, pretty_name, variant, variant_id, version, version_codename, version_id.",
		pairs("build_id", "", "id", "ubuntu", "id_like", "debian", "image_id", "", "image_version", "", "name", osName, "pretty_name", osPretty,
			"variant", "", "variant_id", "", "version", osVersion, "version_codename", "noble", "version_id", osVersion), 1)
	p.one("node_dmi_info", gauge, "A metric with a constant '1' value labeled by DMI facts.",
		pairs("product_name", "Simulated "+n.Group.Name, "system_vendor", "Simulated"), 1)
	for i, minutes := range []string{"1", "5", "15"} {
		p.one("node_load"+minutes, gauge, minutes+"m load average.", "", s.Load[i])
	}
	p.cpus(n)
	p.memory(n)
	p.disks(n)
	p.networks(n)
	for _, c := range []struct {
		kind    string
		seconds float64
	}{{"cpu", s.WaitCPU}, {"io", s.WaitIO}, {"memory", s.WaitMem}} {
		p.one("node_pressure_"+c.kind+"_waiting_seconds_total", counter, "Total time in seconds that processes have waited for "+c.kind+".", "", c.seconds)
	}
	p.head("node_scrape_collector_success", gauge, "node_exporter: Whether a collector succeeded.")
	for _, c := range []string{"cpu", "diskstats", "dmi", "filesystem", "infiniband", "loadavg", "meminfo", "netclass", "netdev", "os", "pressure", "stat", "time", "uname"} {
		p.row("node_scrape_collector_success", pairs("collector", c), 1)
	}
}

func (p *page) cpus(n *simulate.Node) {
	h, s := n.Group.Host, &n.Host
	p.head("node_cpu_info", gauge, "CPU information from /proc/cpuinfo.")
	per := max(h.CPUs/h.Sockets, 1)
	for i := range s.CPUs {
		p.row("node_cpu_info", pairs("cachesize", "36864 KB", "core", strconv.Itoa(i%per/2), "cpu", strconv.Itoa(i), "family", "6", "microcode", "",
			"model", "143", "model_name", h.Model, "package", strconv.Itoa(min(i/per, h.Sockets-1)), "stepping", "8", "vendor", "Simulated"), 1)
	}
	p.head("node_cpu_scaling_frequency_hertz", gauge, "Current scaled CPU thread frequency in hertz.")
	for i := range s.CPUs {
		p.row("node_cpu_scaling_frequency_hertz", pairs("cpu", strconv.Itoa(i)), cpuHertz)
	}
	p.head("node_cpu_seconds_total", counter, "Seconds the CPUs spent in each mode.")
	for i := range s.CPUs {
		c := &s.CPUs[i]
		for _, m := range []struct {
			mode    string
			seconds float64
		}{{"idle", c.Idle}, {"iowait", c.IOWait}, {"irq", 0}, {"nice", 0}, {"softirq", c.Softirq}, {"steal", 0}, {"system", c.System}, {"user", c.User}} {
			p.row("node_cpu_seconds_total", pairs("cpu", strconv.Itoa(i), "mode", m.mode), m.seconds)
		}
	}
}

func (p *page) memory(n *simulate.Node) {
	total := float64(n.Group.Host.Memory)
	used := whole(n.Host.Used)
	cached := whole(min(0.3*total, (total-used)*0.6))
	for _, m := range []struct {
		field string
		bytes float64
	}{{"MemTotal", total}, {"MemFree", total - used - cached}, {"MemAvailable", total - used}, {"Cached", cached}, {"Buffers", 0}, {"SwapTotal", 0}, {"SwapFree", 0}} {
		p.one("node_memory_"+m.field+"_bytes", gauge, "Memory information field "+m.field+"_bytes.", "", m.bytes)
	}
	p.head("node_memory_numa_MemTotal", gauge, "Memory information field MemTotal.")
	for i := range n.Group.Host.Sockets {
		p.row("node_memory_numa_MemTotal", pairs("node", strconv.Itoa(i)), whole(total/float64(n.Group.Host.Sockets)))
	}
}

func (p *page) disks(n *simulate.Node) {
	s, size := &n.Host, float64(n.Group.Host.Disk)
	disk := pairs("device", "nvme0n1")
	p.one("node_disk_read_bytes_total", counter, "The total number of bytes read successfully.", disk, whole(s.ReadBytes))
	p.one("node_disk_written_bytes_total", counter, "The total number of bytes written successfully.", disk, whole(s.WriteBytes))
	p.one("node_disk_io_time_seconds_total", counter, "Total seconds spent doing I/Os.", disk, s.DiskSeconds)
	fs := pairs("device", "/dev/nvme0n1p2", "device_error", "", "fstype", "ext4", "mountpoint", "/")
	p.one("node_filesystem_size_bytes", gauge, "Filesystem size in bytes.", fs, size)
	p.one("node_filesystem_free_bytes", gauge, "Filesystem free space in bytes.", fs, whole(size-s.DiskUsed))
	p.one("node_filesystem_avail_bytes", gauge, "Filesystem space available to non-root users in bytes.", fs, whole(size*0.95-s.DiskUsed))
}

func (p *page) networks(n *simulate.Node) {
	s := &n.Host
	eth := pairs("device", "eth0")
	p.one("node_network_receive_bytes_total", counter, "Network device statistic receive_bytes.", eth, whole(s.RxBytes))
	p.one("node_network_transmit_bytes_total", counter, "Network device statistic transmit_bytes.", eth, whole(s.TxBytes))
	p.one("node_network_receive_packets_total", counter, "Network device statistic receive_packets.", eth, whole(s.RxPackets))
	p.one("node_network_transmit_packets_total", counter, "Network device statistic transmit_packets.", eth, whole(s.TxPackets))
	for _, dir := range []string{"receive", "transmit"} {
		p.one("node_network_"+dir+"_errs_total", counter, "Network device statistic "+dir+"_errs.", eth, 0)
		p.one("node_network_"+dir+"_drop_total", counter, "Network device statistic "+dir+"_drop.", eth, 0)
	}
	p.one("node_network_up", gauge, "Value is 1 if operstate is 'up', 0 otherwise.", eth, 1)
	p.one("node_network_speed_bytes", gauge, "Network device property: speed_bytes", eth, float64(n.Group.Host.Network))
	p.infiniband(n)
}

// infiniband are the counters of the DPUs' ports again, here in bytes.
func (p *page) infiniband(n *simulate.Node) {
	nics := devices(n, simulate.BlueField)
	for _, f := range []struct {
		name, kind, help string
		value            func(*dev) float64
	}{
		{"node_infiniband_port_data_received_bytes_total", counter, "Number of data octets received on all links", func(d *dev) float64 { return whole(d.LinkRxBytes/4) * 4 }},
		{"node_infiniband_port_data_transmitted_bytes_total", counter, "Number of data octets transmitted on all links", func(d *dev) float64 { return whole(d.LinkTxBytes/4) * 4 }},
		{"node_infiniband_rate_bytes_per_second", gauge, "Maximum signal transfer rate", func(d *dev) float64 { return d.Link }},
		{"node_infiniband_state_id", gauge, "State of the InfiniBand port (0: no change, 1: down, 2: init, 3: armed, 4: active, 5: act defer)", func(d *dev) float64 { return 4 - 3*asFloat(d.PortDown) }},
		{"node_infiniband_link_downed_total", counter, "Number of times the link failed to recover from an error state and went down", func(d *dev) float64 { return float64(d.LinkDowned) }},
	} {
		for i, d := range nics {
			if i == 0 {
				p.head(f.name, f.kind, f.help)
			}
			p.row(f.name, pairs("device", "mlx5_"+strconv.Itoa(i), "port", "1"), f.value(d))
		}
	}
}
