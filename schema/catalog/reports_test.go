package catalog

import (
	"strings"
	"testing"
)

// TestFieldReports has a page for each of the faults that were reported of exporters and
// that are the catalogue's to mend. docs/field-reports.md lists all, with their tests.
func TestFieldReports(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"row_1_blank_memory_temperature", `
DCGM_FI_DEV_MEMORY_TEMP{UUID="G"} 9223372036854775794
DCGM_FI_DEV_GPU_TEMP{UUID="G"} 47
`, `
accel_device_info{device="G",identity="uid",vendor="nvidia"} 1 # told by 2
accel_temp_celsius{device="G",sensor="core",vendor="nvidia"} 47
accel_temp_celsius{device="G",sensor="memory",vendor="nvidia"} blank
`},
		{"row_3_MIG_repeats_physical_readings", `
DCGM_FI_DEV_GPU_TEMP{UUID="G",GPU_I_ID="3"} 45
DCGM_FI_DEV_GPU_TEMP{UUID="G",GPU_I_ID="4"} 45
DCGM_FI_DEV_FB_USED{UUID="G",GPU_I_ID="3"} 2
DCGM_FI_DEV_FB_USED{UUID="G",GPU_I_ID="4"} 1
`, `
accel_device_info{device="G",identity="uid",vendor="nvidia"} 1 # told by 4
accel_mem_used_bytes{device="G",slice="3",vendor="nvidia"} 2097152
accel_mem_used_bytes{device="G",slice="4",vendor="nvidia"} 1048576
accel_slice_info{device="G",slice="3",vendor="nvidia"} 1 # told by 2
accel_slice_info{device="G",slice="4",vendor="nvidia"} 1 # told by 2
accel_temp_celsius{device="G",sensor="core",vendor="nvidia"} 45
accel_temp_celsius{device="G",sensor="core",vendor="nvidia"} 45 # same series as that of 45
`},
		// Time slicing: every owner's row repeats the whole device. One value, a list of
		// owners, and nothing that says how much of it is whose.
		{"row_4_case_03_shared_by_two_pods", `
DCGM_FI_DEV_GPU_UTIL{UUID="G",namespace="a",pod="p"} 80
DCGM_FI_DEV_GPU_UTIL{UUID="G",namespace="b",pod="q"} 80
DCGM_FI_DEV_FB_USED{UUID="G",namespace="a",pod="p"} 1000
DCGM_FI_DEV_FB_USED{UUID="G",namespace="b",pod="q"} 1000
`, `
accel_busy_ratio{device="G",vendor="nvidia"} 0.8
accel_busy_ratio{device="G",vendor="nvidia"} 0.8 # same series as that of 0.8
accel_device_info{device="G",identity="uid",vendor="nvidia"} 1 # told by 4
accel_mem_used_bytes{device="G",vendor="nvidia"} 1048576000
accel_mem_used_bytes{device="G",vendor="nvidia"} 1048576000 # same series as that of 1048576000
accel_owner_info{device="G",namespace="a",pod="p",vendor="nvidia"} 1 # told by 2
accel_owner_info{device="G",namespace="b",pod="q",vendor="nvidia"} 1 # told by 2
`},
		{"row_5_no_owner_said_in_two_ways", `
DCGM_FI_DEV_GPU_UTIL{UUID="A",namespace="",pod="",container=""} 1
DCGM_FI_DEV_GPU_UTIL{UUID="B"} 2
DCGM_FI_DEV_GPU_UTIL{UUID="C",namespace="n",pod="p",container="c"} 3
`, `
accel_busy_ratio{device="A",vendor="nvidia"} 0.01
accel_busy_ratio{device="B",vendor="nvidia"} 0.02
accel_busy_ratio{device="C",vendor="nvidia"} 0.03
accel_device_info{device="A",identity="uid",vendor="nvidia"} 1 # told by 1
accel_device_info{device="B",identity="uid",vendor="nvidia"} 1 # told by 1
accel_device_info{device="C",identity="uid",vendor="nvidia"} 1 # told by 1
accel_owner_info{container="c",device="C",namespace="n",pod="p",vendor="nvidia"} 1 # told by 1
`},
		{"row_6_host_name_spelled_in_two_ways", `
DCGM_FI_DEV_GPU_UTIL{UUID="A",Hostname="localhost"} 1
DCGM_FI_DEV_GPU_UTIL{UUID="B",hostname="dcgm-exporter-x7k2p"} 2
`, `
accel_busy_ratio{device="A",vendor="nvidia"} 0.01
accel_busy_ratio{device="B",vendor="nvidia"} 0.02
accel_device_info{device="A",identity="uid",vendor="nvidia"} 1 # told by 1
accel_device_info{device="B",identity="uid",vendor="nvidia"} 1 # told by 1
`},
		{"row_7_declared_counter_is_a_rate", `
DCGM_FI_PROF_PCIE_TX_BYTES{UUID="G"} 250000000
`, `
accel_device_info{device="G",identity="uid",vendor="nvidia"} 1 # told by 1
accel_pcie_bytes_per_second{device="G",dir="tx",vendor="nvidia"} 250000000
`},
		// Without profiling the second choice stands, and says so; nothing becomes 0.
		{"row_8_without_profiling", `
DCGM_FI_DEV_GPU_UTIL{UUID="A"} 50
DCGM_FI_DEV_MEM_COPY_UTIL{UUID="A"} 10
DCGM_FI_DEV_MEM_COPY_UTIL{UUID="B"} 10
DCGM_FI_PROF_DRAM_ACTIVE{UUID="B"} 0.5
`, `
accel_busy_ratio{device="A",vendor="nvidia"} 0.5
accel_device_info{device="A",identity="uid",vendor="nvidia"} 1 # told by 2
accel_device_info{device="B",identity="uid",vendor="nvidia"} 1 # told by 2
accel_mem_bw_ratio{device="A",vendor="nvidia",via="controller"} 0.1
accel_mem_bw_ratio{device="B",vendor="nvidia",via="controller"} 0.1 # outranked
accel_mem_bw_ratio{device="B",vendor="nvidia"} 0.5
`},
		// An alias keeps the unit of its field, a new field has its own, and what nobody
		// knows is not guessed.
		{"row_18_case_08_renamed_fields", `
DCGM_FI_DEV_GPU_UTIL_RATIO{UUID="G"} 85
DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL{UUID="G"} 55.5
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="H"} 55500
DCGM_FI_DEV_SM_CLOCK_HERTZ{UUID="G"} 1965000000
DCGM_FI_DEV_SM_CLOCK{UUID="H"} 1965
DCGM_FI_DEV_OF_TOMORROW_RATIO{UUID="G"} 12
`, `
accel_busy_ratio{device="G",vendor="nvidia"} 0.85
accel_clock_hertz{device="G",domain="core",vendor="nvidia"} 1965000000
accel_clock_hertz{device="H",domain="core",vendor="nvidia"} 1965000000
accel_device_info{device="G",identity="uid",vendor="nvidia"} 1 # told by 3
accel_device_info{device="H",identity="uid",vendor="nvidia"} 1 # told by 2
accel_energy_joules_total{device="G",vendor="nvidia"} 55.5
accel_energy_joules_total{device="H",vendor="nvidia"} 55.5
DCGM_FI_DEV_OF_TOMORROW_RATIO{UUID="G"} 12 # unknown
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			page, bad := readPage(t, c.page[1:])
			if got := resolved(page); bad > 0 || got != c.want[1:] {
				t.Errorf("%d bad lines; got:\n%s\nwant:\n%s", bad, got, c.want[1:])
			}
		})
	}
}

// TestRow19UnitsOfVendors: row 19 and case 07. Each vendor's own unit leads to the one
// value; the list is short of none of the prefixes that were found wrong.
func TestRow19UnitsOfVendors(t *testing.T) {
	for name, want := range map[string]struct {
		unit  string
		scale float64
	}{
		"xpum_engine_ratio": {"ratio", 0.01}, "amd_gpu_average_package_power": {"watts", 1}, "amd_gpu_energy_consumed": {"joules", 1e-6},
		"npu_chip_info_used_memory": {"bytes", 1 << 20}, "npu_chip_info_power": {"watts", 1}, "npu_chip_info_utilization": {"ratio", 0.01},
		"DCGM_FI_DEV_FB_USED": {"bytes", 1 << 20}, "DCGM_FI_DEV_POWER_VIOLATION": {"seconds", 1e-9},
		"habanalabs_power_mW": {"watts", 1e-3}, "vnpu_pod_used_memory": {"bytes", 1 << 10},
	} {
		found := false
		for _, m := range Default().Metrics() {
			if m.Name != name || m.Raw != "" {
				continue
			}
			found = true
			if m.Unit != want.unit || m.Scale != want.scale {
				t.Errorf("%s is in %s × %v, want %s × %v (%s:%d)", name, m.Unit, m.Scale, want.unit, want.scale, m.File, m.Line)
			}
		}
		if !found {
			t.Errorf("no row of %s has a unit", name)
		}
	}
	for unit, c := range conversions {
		if !units[c.unit] || c.scale == 0 || strings.TrimSpace(unit) == "" {
			t.Errorf("conversion of %q leads to %q × %v", unit, c.unit, c.scale)
		}
	}
}
