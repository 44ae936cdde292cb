//go:build cgo && linux

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/prometheus/client_golang/prometheus"
)

// reading is a function of the library and what it tells, in DCGM's units.
type reading struct {
	function string // as the library calls it
	metrics  []metric
	read     func(nvml.Device) ([]float64, nvml.Return) // a value for each metric
}

type metric struct {
	name, help string
	kind       prometheus.ValueType
}

func gauge(name, help string) metric   { return metric{name, help, prometheus.GaugeValue} }
func counter(name, help string) metric { return metric{name, help, prometheus.CounterValue} }

const mib = 1 << 20

// one is a reading of a single number, times scale.
func one[T ~int | ~int32 | ~uint32 | ~uint64](function string, m metric, scale float64, get func(nvml.Device) (T, nvml.Return)) reading {
	return reading{function, []metric{m}, func(d nvml.Device) ([]float64, nvml.Return) {
		v, ret := get(d)
		return []float64{float64(v) * scale}, ret
	}}
}

func clock(m metric, which nvml.ClockType) reading {
	return one("nvmlDeviceGetClockInfo", m, 1, func(d nvml.Device) (uint32, nvml.Return) { return d.GetClockInfo(which) })
}

func ecc(m metric, kind nvml.MemoryErrorType, since nvml.EccCounterType) reading {
	return one("nvmlDeviceGetTotalEccErrors", m, 1, func(d nvml.Device) (uint64, nvml.Return) { return d.GetTotalEccErrors(kind, since) })
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var readings = []reading{
	{"nvmlDeviceGetUtilizationRates", []metric{gauge("DCGM_FI_DEV_GPU_UTIL", "Share of time in which a kernel ran (in %; absent under MIG)."),
		gauge("DCGM_FI_DEV_MEM_COPY_UTIL", "Share of time in which memory was read or written (in %; not how full it is).")},
		func(d nvml.Device) ([]float64, nvml.Return) {
			u, ret := d.GetUtilizationRates()
			return []float64{float64(u.Gpu), float64(u.Memory)}, ret
		}},
	one("nvmlDeviceGetEncoderUtilization", gauge("DCGM_FI_DEV_ENC_UTIL", "Encoder utilization (in %)."), 1,
		func(d nvml.Device) (uint32, nvml.Return) { v, _, ret := d.GetEncoderUtilization(); return v, ret }),
	one("nvmlDeviceGetDecoderUtilization", gauge("DCGM_FI_DEV_DEC_UTIL", "Decoder utilization (in %)."), 1,
		func(d nvml.Device) (uint32, nvml.Return) { v, _, ret := d.GetDecoderUtilization(); return v, ret }),
	// The first version of this function counts reserved memory as used, so it is not read.
	{"nvmlDeviceGetMemoryInfo_v2", []metric{gauge("DCGM_FI_DEV_FB_TOTAL", "Framebuffer memory (in MiB)."), gauge("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB)."),
		gauge("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB)."), gauge("DCGM_FI_DEV_FB_RESERVED", "Framebuffer memory reserved (in MiB).")},
		func(d nvml.Device) ([]float64, nvml.Return) {
			m, ret := d.GetMemoryInfo_v2()
			return []float64{float64(m.Total / mib), float64(m.Free / mib), float64(m.Used / mib), float64(m.Reserved / mib)}, ret
		}},
	clock(gauge("DCGM_FI_DEV_SM_CLOCK", "SM clock (in MHz)."), nvml.CLOCK_SM),
	clock(gauge("DCGM_FI_DEV_MEM_CLOCK", "Memory clock (in MHz)."), nvml.CLOCK_MEM),
	clock(gauge("DCGM_FI_DEV_VIDEO_CLOCK", "Video clock (in MHz)."), nvml.CLOCK_VIDEO),
	one("nvmlDeviceGetTemperature", gauge("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C)."), 1,
		func(d nvml.Device) (uint32, nvml.Return) { return d.GetTemperature(nvml.TEMPERATURE_GPU) }),
	one("nvmlDeviceGetPowerUsage", gauge("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W)."), 1e-3, nvml.Device.GetPowerUsage),
	one("nvmlDeviceGetEnforcedPowerLimit", gauge("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "Power limit in force (in W)."), 1e-3, nvml.Device.GetEnforcedPowerLimit),
	one("nvmlDeviceGetTotalEnergyConsumption", counter("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Energy used since the driver was loaded (in mJ)."), 1, nvml.Device.GetTotalEnergyConsumption),
	one("nvmlDeviceGetPerformanceState", gauge("DCGM_FI_DEV_PSTATE", "Performance state (0 is the fastest)."), 1, nvml.Device.GetPerformanceState),
	one("nvmlDeviceGetFanSpeed", gauge("DCGM_FI_DEV_FAN_SPEED", "Fan speed (in %)."), 1, nvml.Device.GetFanSpeed),
	one("nvmlDeviceGetCurrentClocksThrottleReasons", gauge("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "Why the clocks are held back (bits)."), 1, nvml.Device.GetCurrentClocksThrottleReasons),
	one("nvmlDeviceGetPcieReplayCounter", counter("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "PCIe retries."), 1, nvml.Device.GetPcieReplayCounter),
	one("nvmlDeviceGetCurrPcieLinkGeneration", gauge("DCGM_FI_DEV_PCIE_LINK_GEN", "PCIe generation in use."), 1, nvml.Device.GetCurrPcieLinkGeneration),
	one("nvmlDeviceGetCurrPcieLinkWidth", gauge("DCGM_FI_DEV_PCIE_LINK_WIDTH", "PCIe lanes in use."), 1, nvml.Device.GetCurrPcieLinkWidth),
	ecc(counter("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "Single-bit ECC errors since the driver was loaded."), nvml.MEMORY_ERROR_TYPE_CORRECTED, nvml.VOLATILE_ECC),
	ecc(counter("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Double-bit ECC errors since the driver was loaded."), nvml.MEMORY_ERROR_TYPE_UNCORRECTED, nvml.VOLATILE_ECC),
	ecc(counter("DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "Single-bit ECC errors of the device's life."), nvml.MEMORY_ERROR_TYPE_CORRECTED, nvml.AGGREGATE_ECC),
	ecc(counter("DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "Double-bit ECC errors of the device's life."), nvml.MEMORY_ERROR_TYPE_UNCORRECTED, nvml.AGGREGATE_ECC),
	{"nvmlDeviceGetRemappedRows", []metric{counter("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "Rows remapped for correctable errors."),
		counter("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Rows remapped for uncorrectable errors."),
		gauge("DCGM_FI_DEV_ROW_REMAP_PENDING", "Whether rows wait to be remapped."), gauge("DCGM_FI_DEV_ROW_REMAP_FAILURE", "Whether remapping of rows has failed.")},
		func(d nvml.Device) ([]float64, nvml.Return) {
			corrected, uncorrected, pending, failed, ret := d.GetRemappedRows()
			return []float64{float64(corrected), float64(uncorrected), flag(pending), flag(failed)}, ret
		}},
}
