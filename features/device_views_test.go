package features

import (
	"math"
	"testing"
	"time"
)

// A device whose readings change evenly, scraped every 10 s for 16 min: the last sample
// before the tick is number 95, at 950 s. Forecasts are of the tick less 1 ms.
const steadyDevice = `load 10s
  node_time_seconds{node="a"} 1.7e9+10x100
  accel_busy_ratio{node="a",vendor="nvidia",device="G0"} 0+0.005x100
  accel_compute_ratio{node="a",vendor="nvidia",device="G0",pipe="sm"} 0.4x100
  accel_compute_ratio{node="a",vendor="nvidia",device="G0",pipe="tensor"} 0.3x100
  accel_compute_ratio{node="a",vendor="nvidia",device="G0",pipe="tensor_half"} 0.9x100
  accel_occupancy_ratio{node="a",vendor="nvidia",device="G0"} 0.2x100
  accel_mem_used_bytes{node="a",vendor="nvidia",device="G0"} 1000+10x100
  accel_mem_total_bytes{node="a",vendor="nvidia",device="G0"} 4000x100
  accel_mem_bw_ratio{node="a",vendor="nvidia",device="G0",via="controller"} 0.1+0.001x100
  accel_power_watts{node="a",vendor="nvidia",device="G0"} 300+1x100
  accel_power_limit_watts{node="a",vendor="nvidia",device="G0",limit="enforced"} 500x100
  accel_power_limit_watts{node="a",vendor="nvidia",device="G0",limit="max"} 900x100
  inventory_device_power_limit_watts{node="a",vendor="nvidia",device="G0",uid="G0"} 700x100
  accel_temp_celsius{node="a",vendor="nvidia",device="G0",sensor="core"} 40+0.1x100
  accel_temp_celsius{node="a",vendor="nvidia",device="G0",sensor="memory"} 60x100
  accel_temp_celsius{node="a",vendor="nvidia",device="G0",sensor="hbm"} 70x100
  accel_temp_limit_celsius{node="a",vendor="nvidia",device="G0",limit="slowdown"} 90x100
  accel_temp_limit_celsius{node="a",vendor="nvidia",device="G0",limit="shutdown"} 99x100
  accel_throttle_seconds_total{node="a",vendor="nvidia",device="G0",reason="power"} 7+1x100
  accel_throttle_seconds_total{node="a",vendor="nvidia",device="G0",reason="thermal"} 7+2x100
  accel_throttle_seconds_total{node="a",vendor="nvidia",device="G0",reason="low_utilization"} 7+9x100
  accel_clock_hertz{node="a",vendor="nvidia",device="G0",domain="core"} 1e9x100
  accel_clock_hertz{node="a",vendor="nvidia",device="G0",domain="memory"} 9e9x100
  accel_clock_max_hertz{node="a",vendor="nvidia",device="G0",domain="core"} 2e9x100
  accel_pcie_bytes_per_second{node="a",vendor="nvidia",device="G0",dir="tx"} 100x100
  accel_pcie_bytes_per_second{node="a",vendor="nvidia",device="G0",dir="rx"} 50x100
  accel_link_bytes_per_second{node="a",vendor="nvidia",device="G0",dir="tx",kind="nvlink"} 10x100
  accel_link_bytes_per_second{node="a",vendor="nvidia",device="G0",dir="rx",kind="nvlink"} 20x100
  accel_ecc_errors_total{node="a",vendor="nvidia",device="G0",class="uncorrectable"} 5x50 7x50
  accel_ecc_errors_total{node="a",vendor="nvidia",device="G0",class="correctable"} 3x100
  accel_fault_code{node="a",vendor="nvidia",device="G0"} 31x100
  accel_fault_events{node="a",vendor="nvidia",device="G0",code="31"} _x60 1 _x10 2
  accel_fault_events{node="a",vendor="nvidia",device="G0",code="79"} _x60 1
  accel_fault_last_seconds{node="a",vendor="nvidia",device="G0",code="31"} _x60 610 _x10 720
  accel_health{node="a",vendor="nvidia",device="G0",watch="all"} 1x100
  accel_health{node="a",vendor="nvidia",device="G0",watch="nvlink"} 0.5x100
  accel_row_remap_pending{node="a",vendor="nvidia",device="G0"} 0x100
  accel_owner_info{node="a",vendor="nvidia",device="G0",namespace="n",pod="p",container="x"} 1x100
  accel_owner_info{node="a",vendor="nvidia",device="G0",namespace="n",pod="p",container="y"} 1x100
  accel_owner_info{node="a",vendor="nvidia",device="G0",namespace="n",pod="q",container="x"} 1x100
  accel_allocated_ratio{node="a",vendor="nvidia",device="G0"} 0.75x100
`

func TestSteadyDevice(t *testing.T) {
	got := answers(t, "device_monitoring", steadyDevice, 16*time.Minute)
	wantAll(t, "device_monitoring", got, map[string]float64{
		// Samples 93 to 95, 90 to 95, 66 to 95 and 6 to 95: the means lie in the middle.
		"busy_ratio a G0": 0.475, "busy_ratio_30s a G0": 0.47, "busy_ratio_1m a G0": 0.4625, "busy_ratio_5m a G0": 0.4025, "busy_ratio_15m a G0": 0.2525,
		// Rank 0.9 × 29 of samples 66 to 95 is 92.1. Thirty points evenly apart deviate by sqrt((30² − 1) / 12) steps.
		"busy_ratio_max_5m a G0": 0.475, "busy_ratio_p90_5m a G0": 0.4605, "busy_ratio_deviation_5m a G0": 0.005 * math.Sqrt(899./12),
		// 0.0005 a second. What grows evenly is its own smoothing.
		"busy_trend_5m a G0": 0.03, "busy_forecast_1m a G0": 0.0005 * (959.999 + 60), "busy_smoothed a G0": 0.475,
		"compute_ratio a G0": 0.4, "tensor_ratio a G0": 0.3, "occupancy_ratio a G0": 0.2,
		"memory_used_ratio a G0": 1950. / 4000, "memory_used_ratio_5m a G0": 1805. / 4000, "memory_forecast_5m a G0": (1000 + 959.999 + 300) / 4000,
		"memory_used_bytes a G0": 1950, "memory_free_bytes a G0": 2050,
		"memory_bandwidth_ratio a G0": 0.195, "memory_bandwidth_ratio_1m a G0": 0.1925, "memory_bandwidth_ratio_5m a G0": 0.1805,
		"power_watts a G0": 395, "power_watts_1m a G0": 392.5, "power_watts_5m a G0": 380.5, "power_headroom_ratio a G0": 1 - 392.5/500,
		"temperature_celsius a G0": 49.5, "temperature_max_5m a G0": 49.5, "temperature_headroom_celsius a G0": 40.5,
		"temperature_trend_5m a G0": 0.6, "temperature_forecast_5m a G0": 40 + 0.01*(959.999+300), "memory_temperature_celsius a G0": 70,
		"throttled_ratio_1m a G0": 0.2, "clock_ratio a G0": 0.5,
		"pcie_bytes_per_second_1m a G0": 150, "fabric_bytes_per_second_1m a G0": 30,
		"memory_errors_15m a G0": 2, "memory_corrected_15m a G0": 0,
		"faults_1h a G0": 4, "fault_age_seconds a G0": 959.999 - 720, "repair_pending a G0": 0, "health a G0": 0.5, "owners a G0": 2, "allocated_ratio a G0": 0.75,
	})
}

// A device in MIG mode has no reading of its own, and its row stays one. Slice 2/0 is a
// part of slice 2.
func TestSlicesAreOneDevice(t *testing.T) {
	const script = `load 10s
  accel_engine_active_ratio{node="a",vendor="nvidia",device="G0",slice="1"} 0.2x40
  accel_engine_active_ratio{node="a",vendor="nvidia",device="G0",slice="2"} 0.6x40
  accel_engine_active_ratio{node="a",vendor="nvidia",device="G0",slice="2/0"} 0.9x40
  accel_mem_used_bytes{node="a",vendor="nvidia",device="G0",slice="1"} 100x40
  accel_mem_used_bytes{node="a",vendor="nvidia",device="G0",slice="2"} 200x40
  accel_mem_used_bytes{node="a",vendor="nvidia",device="G0",slice="2/0"} 150x40
  accel_mem_total_bytes{node="a",vendor="nvidia",device="G0",slice="1"} 400x40
  accel_mem_total_bytes{node="a",vendor="nvidia",device="G0",slice="2"} 400x40
  accel_mem_bw_ratio{node="a",vendor="nvidia",device="G0",slice="1"} 0.1x40
  accel_mem_bw_ratio{node="a",vendor="nvidia",device="G0",slice="2"} 0.3x40
  accel_power_watts{node="a",vendor="nvidia",device="G0"} 250x40
  accel_owner_info{node="a",vendor="nvidia",device="G0",slice="1",namespace="n",pod="p"} 1x40
  accel_owner_info{node="a",vendor="nvidia",device="G0",slice="2",namespace="n",pod="q"} 1x40
  accel_allocated_ratio{node="a",vendor="nvidia",device="G0",slice="1"} 1x40
  accel_allocated_ratio{node="a",vendor="nvidia",device="G0",slice="2"} 0x40
  accel_busy_ratio{node="a",vendor="huawei",device="N0"} 0.7x40
  accel_busy_ratio{node="a",vendor="huawei",device="N0",slice="100"} 0.1x40
  accel_mem_used_bytes{node="a",vendor="huawei",device="N0"} 70x40
  accel_mem_used_bytes{node="a",vendor="huawei",device="N0",slice="100"} 10x40
`
	want := map[string]float64{
		"busy_ratio a G0": 0.4, "busy_ratio_5m a G0": 0.4, "busy_ratio_max_5m a G0": 0.6, "memory_used_bytes a G0": 300,
		"memory_used_ratio a G0": 300. / 800, "memory_bandwidth_ratio_1m a G0": 0.2, "power_watts a G0": 250, "owners a G0": 2, "allocated_ratio a G0": 0.5, "allocated_ratio a N0": null,
		"busy_ratio a N0": 0.7, "memory_used_bytes a N0": 70, "memory_used_ratio a N0": null,
	}
	wantNums(t, answers(t, "device_monitoring", script, 5*time.Minute), want)
	// With an inventory the total is that of the device, its part without a slice included.
	want["memory_used_ratio a G0"], want["memory_free_bytes a G0"] = 0.3, 700
	const inventory = `  inventory_device_memory_bytes{node="a",vendor="nvidia",device="G0",uid="G0"} 1000x40
`
	wantNums(t, answers(t, "device_monitoring", script+inventory, 5*time.Minute), want)
}

// What the vendors expose differs: rates or counters, seconds or shares, totals or none.
func TestVendorsGiveTheSameFeatures(t *testing.T) {
	got := answers(t, "device_monitoring", `load 10s
  node_time_seconds{node="a"} 1.7e9+10x40
  accel_busy_ratio{node="a",vendor="amd",device="A"} 0.5x40
  accel_throttle_ratio{node="a",vendor="amd",device="A",reason="hot"} 0.25x40
  accel_throttle_ratio{node="a",vendor="amd",device="A",reason="low_utilization"} 0.75x40
  accel_each_link_bytes_total{node="a",vendor="amd",device="A",dir="rx",kind="xgmi",link_index="0"} 1e6+1000x40
  accel_each_link_bytes_total{node="a",vendor="amd",device="A",dir="rx",kind="xgmi",link_index="1"} 2e6+1000x40
  accel_each_link_bytes_total{node="a",vendor="amd",device="A",dir="tx",kind="xgmi",link_index="0"} 1000x25 0+2000x13
  accel_pcie_bytes_per_second{node="a",vendor="amd",device="A",dir="both"} 40x40
  accel_fault_code{node="a",vendor="amd",device="A"} 0x40
  accel_busy_ratio{node="a",vendor="intel",device="I"} 0.5x40
  accel_mem_used_ratio{node="a",vendor="intel",device="I"} 0.6x40
  accel_pcie_bytes_total{node="a",vendor="intel",device="I",dir="rx"} 1e6+500x40
  accel_pcie_bytes_total{node="a",vendor="intel",device="I",dir="tx"} 1e6+300x40
  accel_errors_total{node="a",vendor="intel",device="I",class="uncorrectable",component="non_compute"} 4x20 6x2 0x2 1x20
  accel_busy_ratio{node="a",vendor="huawei",device="N"} 0.5x40
  accel_health{node="a",vendor="huawei",device="N"} 1x40
  accel_pcie_bytes_per_second{node="a",vendor="huawei",device="N",dir="rx",tlp="p"} 1x40
  accel_pcie_bytes_per_second{node="a",vendor="huawei",device="N",dir="rx",tlp="np"} 2x40
  accel_pcie_bytes_per_second{node="a",vendor="huawei",device="N",dir="tx",tlp="cpl"} 3x40
  accel_busy_ratio{node="a",vendor="habana",device="H"} 0.5x40
  accel_power_watts{node="a",vendor="habana",device="H"} 300x40
  accel_power_limit_watts{node="a",vendor="habana",device="H",limit="default"} 600x40
  accel_temp_celsius{node="a",vendor="habana",device="H",sensor="core"} 50x40
  accel_temp_celsius{node="a",vendor="habana",device="H",sensor="board"} 45x40
  accel_temp_limit_celsius{node="a",vendor="habana",device="H",limit="slowdown"} 88x40
  accel_busy_ratio{node="b",vendor="intel",device="J"} 0.5x40
  accel_pcie_bytes_total{node="b",vendor="intel",device="J",dir="rx"} 1e6+500x40
`, 5*time.Minute)
	wantNums(t, got, map[string]float64{
		// 100 a second over each of two links, and 6000 in 50 s since the third began anew.
		"throttled_ratio_1m a A": 0.25, "fabric_bytes_per_second_1m a A": 320, "pcie_bytes_per_second_1m a A": 40, "faults_1h a A": 0, "fault_age_seconds a A": null,
		"memory_used_ratio a I": 0.6, "memory_used_bytes a I": null, "pcie_bytes_per_second_1m a I": 80, "faults_1h a I": null,
		// 4, then 6, then a reset and 1: what came since the reset.
		"memory_errors_15m a I": 1,
		"faults_1h a N":         0, "pcie_bytes_per_second_1m a N": 6, "health a N": 1,
		"faults_1h a H": null, "power_headroom_ratio a H": 0.5, "temperature_headroom_celsius a H": 38, "temperature_headroom_celsius a A": null,
		"throttled_ratio_1m a H": null, "memory_errors_15m a H": null, "owners a H": null,
		// Without a clock on the node the seconds of a counter are not known.
		"pcie_bytes_per_second_1m b J": null, "busy_ratio b J": 0.5,
	})
}

// One device of two stops: its row ends after the lookback, and the other's goes on.
func TestDeviceThatIsGone(t *testing.T) {
	const script = `load 10s
  accel_busy_ratio{node="a",vendor="nvidia",device="G0"} 0.2x60
  accel_busy_ratio{node="a",vendor="nvidia",device="G1"} 0.8x20 stale
  accel_busy_ratio{node="a",vendor="nvidia",device="G2"} 0.8x20 _x9 0.4x30
  inventory_devices{node="a",vendor="nvidia",kind="gpu"} 3x60
  inventory_devices{node="cpu"} 0x60
  accel_busy_ratio{node="bare",vendor="nvidia",device="G9"} 0.1x60
`
	wantNums(t, answers(t, "device_monitoring", script, 4*time.Minute), map[string]float64{
		"busy_ratio a G0": 0.2, "busy_ratio a G1": null, "busy_ratio_30s a G1": null, "busy_ratio_5m a G1": 0.8, "busy_ratio a G2": 0.8,
	})
	wantNums(t, answers(t, "node_accelerators", script, 4*time.Minute), map[string]float64{
		"devices a": 2, "devices_missing a": 1, "busy_mean a": 0.5, "devices_idle a": 0,
		"devices cpu": 0, "devices_missing cpu": 0, "busy_mean cpu": null, "devices_idle cpu": null, "faults_1h cpu": null,
		"devices bare": 1, "devices_missing bare": null, "busy_mean bare": 0.1,
	})
	// After the gap the window holds what was before it and after: 16 times 0.8, 5 times 0.4.
	wantNums(t, answers(t, "device_monitoring", script, 350*time.Second), map[string]float64{"busy_ratio a G2": 0.4, "busy_ratio_5m a G2": (16*0.8 + 5*0.4) / 21})
}

func TestDeviceStatic(t *testing.T) {
	const device = `{node="a",vendor="nvidia",kind="gpu",device="G0",uid="G0"`
	got := answers(t, "device_static", `load 30s
  inventory_device_info`+device+`,model="H100",driver_version="570.1"} 1x4
  inventory_device_memory_bytes`+device+`} 8e10x4
  inventory_device_power_limit_watts`+device+`} 700x4
  inventory_device_clock_max_hertz`+device+`,domain="core"} 2e9x4
  inventory_device_clock_max_hertz`+device+`,domain="memory"} 3e9x4
  inventory_device_compute_capability`+device+`} 9x4
  inventory_device_pcie_generation`+device+`} 5x4
  inventory_device_pcie_lanes`+device+`} 8x4
  inventory_device_pcie_max_lanes`+device+`} 16x4
  inventory_device_pcie_bytes_per_second`+device+`} 3e10x4
  inventory_device_numa_node`+device+`} 0x4
  inventory_device_mig_enabled`+device+`} 0x4
  inventory_device_slices`+device+`} 0x4
  inventory_device_replicas`+device+`} 4x4
  inventory_device_info{node="a",vendor="amd",kind="gpu",device="G1",uid="G1"} 1x4
  inventory_link_info{node="a",src="G0",dst="G1",kind="nvlink"} 1x4
  inventory_link_info{node="a",src="G2",dst="G0",kind="nvlink"} 1x4
  inventory_link_bytes_per_second{node="a",src="G0",dst="G1",kind="nvlink"} 100x4
  inventory_link_bytes_per_second{node="a",src="G2",dst="G0",kind="nvlink"} 200x4
  inventory_link_bytes_per_second{node="a",src="G0",dst="numa:0",kind="local"} 999x4
  inventory_link_info{node="a",src="G0",dst="nic:1",kind="pcie_switch",dst_part="nic"} 1x4
  inventory_link_info{node="a",src="G0",dst="nic:2",kind="pcie_node",dst_part="nic"} 1x4
`, time.Minute)
	wantAll(t, "device_static", got, map[string]float64{
		"memory_bytes a G0": 8e10, "power_limit_watts a G0": 700, "clock_max_hertz a G0": 2e9, "memory_clock_max_hertz a G0": 3e9, "compute_capability a G0": 9,
		"pcie_generation a G0": 5, "pcie_lanes a G0": 8, "pcie_lanes_missing a G0": 8, "pcie_bytes_per_second a G0": 3e10, "numa_node a G0": 0,
		"mig_enabled a G0": 0, "slices a G0": 0, "replicas a G0": 4,
		"fabric_peers a G0": 2, "fabric_bytes_per_second a G0": 300, "nic_peers a G0": 1,
		"vendor a G0 = nvidia": 1, "kind a G0 = gpu": 1, "model a G0 = H100": 1, "driver_version a G0 = 570.1": 1,
		"fabric_peers a G1": 1, "nic_peers a G1": 0, "memory_bytes a G1": null, "numa_node a G1": null,
	})
}
