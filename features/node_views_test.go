package features

import (
	"math"
	"testing"
	"time"
)

// Two devices and what becomes of them at the node; G1 lacks what G0 of steadyDevice has
// and has what it lacks.
const secondDevice = `
  inventory_devices{node="a",vendor="nvidia",kind="gpu",model="X"} 3x100
  accel_busy_ratio{node="a",vendor="nvidia",device="G1"} 0.02x100
  accel_mem_used_bytes{node="a",vendor="nvidia",device="G1"} 100x100
  accel_mem_total_bytes{node="a",vendor="nvidia",device="G1"} 1000x100
  accel_mem_bw_ratio{node="a",vendor="nvidia",device="G1"} 0.9x100
  accel_power_watts{node="a",vendor="nvidia",device="G1"} 100x100
  accel_temp_celsius{node="a",vendor="nvidia",device="G1",sensor="core"} 80x100
  accel_throttle_seconds_total{node="a",vendor="nvidia",device="G1",reason="power"} 9x100
  accel_pcie_bytes_per_second{node="a",vendor="nvidia",device="G1",dir="tx"} 7x100
  accel_ecc_errors_total{node="a",vendor="nvidia",device="G1",class="uncorrectable"} 1x90 2x10
  accel_fault_code{node="a",vendor="nvidia",device="G1"} 0x100
  accel_health{node="a",vendor="nvidia",device="G1",watch="all"} 1x100
`

func TestNodeAccelerators(t *testing.T) {
	got := answers(t, "node_accelerators", steadyDevice+secondDevice[1:], 16*time.Minute)
	wantAll(t, "node_accelerators", got, map[string]float64{
		"devices a": 2, "devices_missing a": 1, "devices_idle a": 1, "devices_owned a": 1, "owners a": 2,
		"busy_mean a": (0.475 + 0.02) / 2, "busy_max a": 0.475, "busy_min a": 0.02, "busy_deviation a": (0.4625 - 0.02) / 2,
		"busy_mean_30s a": (0.47 + 0.02) / 2, "busy_mean_1m a": (0.4625 + 0.02) / 2, "busy_mean_5m a": (0.4025 + 0.02) / 2, "busy_mean_15m a": (0.2525 + 0.02) / 2,
		"busy_max_5m a": 0.475, "busy_trend_5m a": 0.015, "busy_forecast_1m a": (0.0005*(959.999+60) + 0.02) / 2, "busy_smoothed a": (0.475 + 0.02) / 2,
		"memory_used_ratio_mean a": (0.4875 + 0.1) / 2, "memory_used_ratio_max a": 0.4875, "memory_free_bytes a": 2950, "memory_free_bytes_max a": 2050,
		"memory_forecast_5m a":       (1000 + 959.999 + 300) / 4000,
		"memory_bandwidth_mean_1m a": (0.1925 + 0.9) / 2, "memory_bandwidth_max_1m a": 0.9, "memory_bandwidth_mean_5m a": (0.1805 + 0.9) / 2,
		"power_watts a": 495, "power_watts_5m a": 480.5, "power_headroom_min a": 1 - 392.5/500,
		"temperature_max a": 80, "temperature_headroom_min a": 40.5, "temperature_forecast_5m a": 80,
		"throttled_max_1m a": 0.2, "throttled_devices a": 1, "pcie_bytes_per_second_1m a": 157, "fabric_bytes_per_second_1m a": 30,
		"memory_errors_15m a": 3, "memory_corrected_15m a": 0, "faults_1h a": 4, "fault_age_seconds a": 959.999 - 720, "unhealthy_devices a": 1,
	})
}

// A host for the long windows, scraped every 10 s for 70 min: the last sample is number 419.
const trendingHost = `load 10s
  node_time_seconds{node="a"} 1.7e9+10x420
  node_boot_time_seconds{node="a"} 1699999000x420
  node_cpu_seconds_total{node="a",cpu="0",mode="idle"}   1000+5x420
  node_cpu_seconds_total{node="a",cpu="1",mode="idle"}   1000+5x420
  node_cpu_seconds_total{node="a",cpu="0",mode="iowait"} 1000+1x420
  node_cpu_seconds_total{node="a",cpu="1",mode="iowait"} 1000+1x420
  node_load1{node="a"} 0+0.01x420
  node_memory_MemTotal_bytes{node="a"}     10000x420
  node_memory_MemAvailable_bytes{node="a"} 9000-10x420
  node_filesystem_size_bytes{node="a",device="/dev/sda1",mountpoint="/",fstype="ext4"}  1000x420
  node_filesystem_avail_bytes{node="a",device="/dev/sda1",mountpoint="/",fstype="ext4"} 900-1x420
  node_filesystem_size_bytes{node="a",device="/dev/sdb1",mountpoint="/d",fstype="xfs"}  1000x420
  node_filesystem_avail_bytes{node="a",device="/dev/sdb1",mountpoint="/d",fstype="xfs"} 600x420
  node_filesystem_size_bytes{node="a",device="tmpfs",mountpoint="/run",fstype="tmpfs"}  100x420
  node_filesystem_avail_bytes{node="a",device="tmpfs",mountpoint="/run",fstype="tmpfs"} 0x420
  node_network_receive_bytes_total{node="a",device="eth0"}  1e6+1000x420
  node_network_receive_bytes_total{node="a",device="ens1"}  1e6+4000x420
  node_network_receive_bytes_total{node="a",device="veth1"} 1e6+9000x420
  node_network_transmit_bytes_total{node="a",device="eth0"} 1e6+2000x420
  node_network_speed_bytes{node="a",device="eth0"} 1000x420
  node_network_speed_bytes{node="a",device="ens1"} -1x420
  node_network_receive_errs_total{node="a",device="eth0"}  5x400 7x20
  node_network_receive_drop_total{node="a",device="eth0"}  5x420
  node_network_transmit_errs_total{node="a",device="eth0"} 0x420
  node_network_transmit_drop_total{node="a",device="eth0"} 1x410 2x20
  node_network_transmit_drop_total{node="a",device="lo"}   1+9x420
  node_infiniband_port_data_received_bytes_total{node="a",device="mlx5_0",port="1"} 1e6+3000x420
  node_infiniband_port_data_received_bytes_total{node="a",device="mlx5_1",port="1"} 1e6+1000x420
  node_infiniband_port_data_transmitted_bytes_total{node="a",device="mlx5_0",port="1"} 1e6+500x420
  node_infiniband_state_id{node="a",device="mlx5_0",port="1"} 4x420
  node_infiniband_state_id{node="a",device="mlx5_1",port="1"} 1x420
  node_pressure_cpu_waiting_seconds_total{node="a"}    5+0.5x420
  node_pressure_memory_waiting_seconds_total{node="a"} 5x420
  node_pressure_io_waiting_seconds_total{node="a"}     5+2x420
  node_pressure_memory_stalled_seconds_total{node="a"} 5x420
  node_pressure_io_stalled_seconds_total{node="a"}     5+1x420
  node_vmstat_oom_kill{node="a"} 3x400 5x20
`

func TestNodeTrend(t *testing.T) {
	got := answers(t, "node_trend", trendingHost, 70*time.Minute)
	wantAll(t, "node_trend", got, map[string]float64{
		// 15 min are samples 330 to 419, 1 h is 60 to 419: means in the middle.
		"cpu_utilization_change a": 0, "load_per_core_mean_15m a": 3.745 / 2, "load_per_core_mean_1h a": 2.395 / 2, "load_per_core_max_1h a": 4.19 / 2,
		"load_trend_15m a": 0.03, "load_forecast_5m a": 0.001 * (4199.999 + 300) / 2, "load_smoothed a": 4.19 / 2,
		"memory_used_ratio_15m a": 1 - (9000-3745)/1e4, "memory_used_ratio_1h a": 1 - (9000-2395)/1e4, "memory_used_ratio_max_1h a": 1 - (9000-4190)/1e4,
		"memory_trend_15m a": 60 / 1e4, "memory_forecast_15m a": 1 - (9000-4199.999-900)/1e4,
		"filesystem_forecast_1h a":                1 - (900-0.1*(4199.999+3600))/1000,
		"network_receive_bytes_per_second_15m a":  500,
		"network_transmit_bytes_per_second_15m a": 200, "network_receive_utilization_1m a": 0.1, "network_transmit_utilization_1m a": 0.2,
		"network_faults_5m a":                3,
		"rdma_receive_bytes_per_second_1m a": 400, "rdma_transmit_bytes_per_second_1m a": 50, "rdma_ports_down a": 1,
		"pressure_cpu_15m a": 0.05, "pressure_memory_15m a": 0, "pressure_io_15m a": 0.2, "stalled_memory_1m a": 0, "stalled_io_1m a": 0.1,
		"oom_kills_15m a": 2, "uptime_seconds a": 1000 + 4190,
	})
}

// A load that begins to fall shows in the change before it shows in a mean; what is not
// there stays NULL; a counter that begins anew is not taken for traffic.
func TestNodeTrendOfPartialHosts(t *testing.T) {
	got := answers(t, "node_trend", `load 10s
  node_time_seconds{node="a"} 0+10x60
  node_cpu_seconds_total{node="a",cpu="0",mode="idle"}   1000+2x24 1058+10x6
  node_cpu_seconds_total{node="a",cpu="0",mode="iowait"} 1x60
  node_network_receive_bytes_total{node="a",device="eth0"} 5000+100x26 0+100x10
  node_memory_MemAvailable_bytes{node="a"} 50x60
  node_vmstat_oom_kill{node="a"} 5x20 0x3 1x30
  node_load1{node="gap"} 1 2 _x4 7 8 9
  node_cpu_seconds_total{node="gap",cpu="0",mode="idle"} 0+2x9
`, 5*time.Minute)
	wantNums(t, got, map[string]float64{
		// Idle for all of the last minute; over 300 s, 24 × 2 + 5 × 10 + ... of 290 s are idle.
		"cpu_utilization_change a":               0 - (1 - (24*2+10+4*10)/290.),
		"network_receive_bytes_per_second_15m a": (26*100 + 2*100) / 290.,
		"memory_used_ratio_15m a":                null, "load_forecast_5m a": null, "rdma_ports_down a": null, "stalled_io_1m a": null, "network_receive_utilization_1m a": null,
		"oom_kills_15m a": 1, "uptime_seconds a": null,
	})
	// The load is its time over 10 s and 1, with a gap: the line goes on through it.
	got = answers(t, "node_trend", `load 10s
  node_load1{node="gap"} 1 2 _x4 7 8 9
  node_cpu_seconds_total{node="gap",cpu="0",mode="idle"} 0+2x9
`, 90*time.Second)
	wantNums(t, got, map[string]float64{"load_forecast_5m gap": 1 + 0.1*(89.999+300), "load_trend_15m gap": 6, "load_per_core_mean_15m gap": 27. / 5, "cpu_utilization_change gap": null})
}

func TestNodeTopology(t *testing.T) {
	got := answers(t, "node_topology", `load 30s
  inventory_devices{node="a",vendor="nvidia",kind="gpu"} 3x4
  inventory_devices{node="a",vendor="amd",kind="gpu"} 1x4
  inventory_device_memory_bytes{node="a",uid="G0"} 80x4
  inventory_device_memory_bytes{node="a",uid="G1"} 40x4
  inventory_device_power_limit_watts{node="a",uid="G0"} 700x4
  inventory_device_compute_capability{node="a",uid="G0"} 9x4
  inventory_device_compute_capability{node="a",uid="G1"} 8.6x4
  inventory_device_slices{node="a",uid="G0"} 7x4
  inventory_device_slices{node="a",uid="G1"} 0x4
  inventory_device_mig_enabled{node="a",uid="G0"} 1x4
  inventory_device_mig_enabled{node="a",uid="G1"} 0x4
  inventory_device_replicas{node="a",uid="G1"} 4x4
  inventory_device_pcie_bytes_per_second{node="a",uid="G0"} 30x4
  inventory_device_pcie_bytes_per_second{node="a",uid="G1"} 60x4
  inventory_device_pcie_generation{node="a",uid="G0"} 4x4
  inventory_device_pcie_generation{node="a",uid="G1"} 5x4
  inventory_device_pcie_max_lanes{node="a",uid="G0"} 16x4
  inventory_device_pcie_lanes{node="a",uid="G0"} 8x4
  inventory_numa_nodes{node="a"} 2x4
  inventory_cpu_sockets{node="a"} 2x4
  inventory_cpu_threads{node="a"} 64x4
  inventory_memory_bytes{node="a"} 1000x4
  inventory_nics{node="a"} 2x4
  inventory_nic_up{node="a",nic="nic:0"} 1x4
  inventory_nic_up{node="a",nic="nic:1"} 0x4
  inventory_nic_bytes_per_second{node="a",nic="nic:0"} 25x4
  inventory_nic_bytes_per_second{node="a",nic="nic:1"} 50x4
  inventory_links_left_out{node="a"} 0x4
  inventory_link_info{node="a",src="G0",dst="numa:0",kind="local",src_part="device",dst_part="numa"} 1x4
  inventory_link_info{node="a",src="G1",dst="numa:0",kind="local",src_part="device",dst_part="numa"} 1x4
  inventory_link_info{node="a",src="G2",dst="numa:1",kind="local",src_part="device",dst_part="numa"} 1x4
  inventory_link_info{node="a",src="nic:0",dst="numa:1",kind="local",src_part="nic",dst_part="numa"} 1x4
  inventory_link_info{node="a",src="G0",dst="G1",kind="nvlink",src_part="device",dst_part="device"} 1x4
  inventory_link_info{node="a",src="G0",dst="G2",kind="nvlink",src_part="device",dst_part="device"} 1x4
  inventory_link_info{node="a",src="G1",dst="G2",kind="nvlink",src_part="device",dst_part="device"} 1x4
  inventory_link_bytes_per_second{node="a",src="G0",dst="G1",kind="nvlink"} 100x4
  inventory_link_bytes_per_second{node="a",src="G0",dst="G2",kind="nvlink"} 300x4
  inventory_link_bytes_per_second{node="a",src="G0",dst="numa:0",kind="local"} 5x4
  inventory_link_lanes{node="a",src="G0",dst="G1",kind="nvlink"} 4x4
  inventory_link_lanes{node="a",src="G0",dst="G2",kind="nvlink"} 12x4
  inventory_link_info{node="a",src="G0",dst="nic:0",kind="pcie_switch",src_part="device",dst_part="nic"} 1x4
  inventory_link_info{node="a",src="G0",dst="G1",kind="pcie_switch",src_part="device",dst_part="device"} 1x4
  inventory_link_info{node="a",src="G1",dst="nic:0",kind="pcie_host",src_part="device",dst_part="nic"} 1x4
  inventory_link_info{node="a",src="G1",dst="nic:1",kind="pcie_node",src_part="device",dst_part="nic"} 1x4
  inventory_link_info{node="a",src="G2",dst="nic:0",kind="pcie_socket",src_part="device",dst_part="nic"} 1x4
  inventory_link_numa_distance{node="a",src="G0",dst="nic:0",kind="pcie_switch"} 10x4
  inventory_link_numa_distance{node="a",src="G2",dst="nic:0",kind="pcie_socket"} 21x4
  inventory_link_pcie_hops{node="a",src="G0",dst="nic:0",kind="pcie_switch"} 1x4
  inventory_link_pcie_hops{node="a",src="G2",dst="nic:0",kind="pcie_socket"} 4x4
  inventory_link_degraded{node="a",src="G2",dst="nic:0",kind="pcie_socket"} 1x4
  inventory_link_latency_seconds{node="a",src="a",dst="b",kind="network"} 4e-6x4
  inventory_link_latency_seconds{node="a",src="a",dst="c",kind="network"} 3e-6x4
  inventory_link_latency_seconds{node="a",src="G0",dst="G1",kind="nvlink"} 1e-6x4
  inventory_links_left_out{node="cpu"} 0x4
  inventory_devices{node="cpu"} 0x4
  inventory_memory_bytes{node="cpu"} 1000x4
  inventory_devices{node="old"} 1x4
`, time.Minute)
	wantAll(t, "node_topology", got, map[string]float64{
		"devices a": 4, "device_memory_bytes a": 120, "device_power_limit_watts a": 700, "device_compute_capability a": 8.6, "device_slices a": 7, "mig_devices a": 1,
		"shared_devices a": 1, "devices_per_numa_max a": 2, "numa_nodes a": 2, "sockets a": 2, "threads_per_device a": 16, "memory_bytes_per_device a": 250,
		"pcie_bytes_per_second a": 90, "pcie_generation_min a": 4, "pcie_lanes_missing a": 8,
		// Three pairs of the six that four devices make.
		"fabric_links a": 3, "fabric_pairs_ratio a": 0.5, "fabric_bytes_per_second_min a": 100, "fabric_bytes_per_second_max a": 300, "fabric_lanes a": 16,
		"pcie_switch_links a": 2, "pcie_host_links a": 1, "pcie_node_links a": 1, "pcie_socket_links a": 1, "device_nic_pairs_near a": 1,
		"numa_distance_max a": 2.1, "pcie_hops_mean a": 2.5, "links_degraded a": 1, "nics a": 2, "nics_up a": 1, "nic_bytes_per_second a": 75, "uplink_latency_seconds a": 3e-6,
		// A node with an inventory and no device has none; of one whose links are not there nothing is known.
		"devices cpu": 0, "fabric_links cpu": 0, "fabric_pairs_ratio cpu": null, "memory_bytes_per_device cpu": null, "pcie_generation_min cpu": null, "nics cpu": null,
		"devices old": 1, "fabric_links old": null, "device_memory_bytes old": null,
	})
}

func TestLinkMonitoring(t *testing.T) {
	got := answers(t, "link_monitoring", `load 10s
  node_time_seconds{node="a"} 0+10x20
  accel_link_bytes_per_second{node="a",device="G0",dir="tx",kind="nvlink"} 10x20
  accel_link_bytes_per_second{node="a",device="G0",dir="rx",kind="nvlink"} 20x20
  accel_link_bytes_per_second{node="a",device="G1",dir="tx",kind="nvlink"} 70x20
  accel_pcie_bytes_total{node="a",device="G0",dir="rx"} 1e6+500x20
  accel_pcie_bytes_per_second{node="a",device="G1",dir="rx"} 8x20
  inventory_device_pcie_bytes_per_second{node="a",device="G0",uid="G0"} 100x20
  inventory_device_pcie_bytes_per_second{node="a",device="G1",uid="G1"} 4x20
  node_network_receive_bytes_total{node="a",device="eth0"}  1e6+1000x20
  node_network_transmit_bytes_total{node="a",device="eth0"} 1e6+3000x20
  inventory_nic_info{node="a",nic="nic:0",device="eth0"} 1x20
  inventory_nic_bytes_per_second{node="a",nic="nic:0",device="eth0"} 1000x20
  inventory_link_info{node="a",src="G0",dst="G1",kind="nvlink"} 1x20
  inventory_link_info{node="a",src="G0",dst="G1",kind="pcie_switch"} 1x20
  inventory_link_info{node="a",src="G1",dst="nic:0",kind="pcie_node"} 1x20
  inventory_link_info{node="a",src="nic:0",dst="numa:1",kind="local"} 1x20
  inventory_link_info{node="a",src="a",dst="rack:r",kind="rack"} 1x20
`, 3*time.Minute)
	wantAll(t, "link_monitoring", got, map[string]float64{
		"fabric_bytes_per_second_1m a G0 G1": 70, "pcie_bytes_per_second_1m a G0 G1": 50, "pcie_load_1m a G0 G1": 1, // 8 of 2 × 4
		"pcie_bytes_per_second_1m a G1 nic:0": 8, "nic_bytes_per_second_1m a G1 nic:0": 400, "nic_load_1m a G1 nic:0": 0.2,
		"nic_bytes_per_second_1m a nic:0 numa:1": 400, "pcie_bytes_per_second_1m a nic:0 numa:1": null, "fabric_bytes_per_second_1m a G1 nic:0": null,
		"nic_bytes_per_second_1m a a rack:r": null,
	})
	if math.IsNaN(got["nic_load_1m a nic:0 numa:1"]) {
		t.Error("a port and its NUMA node have no load")
	}
}
