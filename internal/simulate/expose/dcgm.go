package expose

import (
	"slices"
	"strconv"
	"strings"

	"sextant/internal/simulate"
)

// dcgmField is a row of dcgm-exporter's counters file. value is asked for a device that
// is whole with its one unit, and for each slice of one that is not.
type dcgmField struct {
	name, kind, help string
	double           bool // DCGM's fp64, printed with six decimals; else int64
	value            func(d *simulate.Device, u *simulate.Unit) float64
	whole            bool // does not exist on a device that is sliced
	linked           bool // exists on devices with NVLink only
}

type (
	dev  = simulate.Device
	unit = simulate.Unit
)

// dcgmFields are the default counters, the profiling ones, and what many add to them.
// NVLINK_BANDWIDTH_TOTAL is left out: nobody says what its unit is.
var dcgmFields = []dcgmField{
	{name: "DCGM_FI_DEV_SM_CLOCK", kind: gauge, help: "SM clock frequency (in MHz).", value: func(d *dev, _ *unit) float64 { return d.Clock }},
	{name: "DCGM_FI_DEV_MEM_CLOCK", kind: gauge, help: "Memory clock frequency (in MHz).", value: func(d *dev, _ *unit) float64 { return d.ClockMemory }},
	{name: "DCGM_FI_DEV_MEMORY_TEMP", kind: gauge, help: "Memory temperature (in C).", value: func(d *dev, _ *unit) float64 { return whole(d.MemoryTemperature) }},
	{name: "DCGM_FI_DEV_GPU_TEMP", kind: gauge, help: "GPU temperature (in C).", value: func(d *dev, _ *unit) float64 { return whole(d.Temperature) }},
	{name: "DCGM_FI_DEV_POWER_USAGE", kind: gauge, help: "Power draw (in W).", double: true, value: func(d *dev, _ *unit) float64 { return d.Power }},
	{name: "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", kind: counter, help: "Total energy consumption since boot (in mJ).", value: func(d *dev, _ *unit) float64 { return d.Joules * 1000 }},
	{name: "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", kind: counter, help: "Total number of PCIe retries.", value: func(*dev, *unit) float64 { return 0 }},
	{name: "DCGM_FI_DEV_GPU_UTIL", kind: gauge, help: "GPU utilization (in %).", whole: true, value: func(d *dev, _ *unit) float64 { return percent(d.Busy) }},
	{name: "DCGM_FI_DEV_MEM_COPY_UTIL", kind: gauge, help: "Memory utilization (in %).", whole: true, value: func(d *dev, _ *unit) float64 { return percent(d.Stream) }},
	{name: "DCGM_FI_DEV_ENC_UTIL", kind: gauge, help: "Encoder utilization (in %).", whole: true, value: func(*dev, *unit) float64 { return 0 }},
	{name: "DCGM_FI_DEV_DEC_UTIL", kind: gauge, help: "Decoder utilization (in %).", whole: true, value: func(*dev, *unit) float64 { return 0 }},
	{name: "DCGM_FI_DEV_FB_TOTAL", kind: gauge, help: "Total framebuffer memory (in MiB).", value: func(d *dev, u *unit) float64 { return fbUsed(u) + fbFree(d, u) + fbReserved(d, u) }},
	{name: "DCGM_FI_DEV_FB_FREE", kind: gauge, help: "Framebuffer memory free (in MiB).", value: fbFree},
	{name: "DCGM_FI_DEV_FB_USED", kind: gauge, help: "Framebuffer memory used (in MiB).", value: func(_ *dev, u *unit) float64 { return fbUsed(u) }},
	{name: "DCGM_FI_DEV_FB_RESERVED", kind: gauge, help: "Framebuffer memory reserved (in MiB).", value: fbReserved},
	{name: "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", kind: counter, help: "Total number of single-bit volatile ECC errors.", value: func(d *dev, _ *unit) float64 { return float64(d.SingleBitErrors) }},
	{name: "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", kind: counter, help: "Total number of double-bit volatile ECC errors.", value: func(d *dev, _ *unit) float64 { return float64(d.DoubleBitErrors) }},
	{name: "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", kind: counter, help: "Total number of single-bit persistent ECC errors.", value: func(d *dev, _ *unit) float64 { return float64(d.SingleBitErrorsAll) }},
	{name: "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", kind: counter, help: "Total number of double-bit persistent ECC errors.", value: func(d *dev, _ *unit) float64 { return float64(d.DoubleBitErrsAll) }},
	{name: "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", kind: counter, help: "Number of remapped rows for uncorrectable errors.", value: func(d *dev, _ *unit) float64 { return min(float64(d.DoubleBitErrsAll), 512) }},
	{name: "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", kind: counter, help: "Number of remapped rows for correctable errors.", value: func(*dev, *unit) float64 { return 0 }},
	{name: "DCGM_FI_DEV_ROW_REMAP_FAILURE", kind: gauge, help: "Whether remapping of rows has failed.", value: func(d *dev, _ *unit) float64 { return asFloat(d.DoubleBitErrsAll > 512) }},
	{name: "DCGM_FI_DEV_POWER_VIOLATION", kind: counter, help: "Throttling duration due to power constraints (in ns).", value: func(d *dev, _ *unit) float64 { return d.PowerThrottledSec * 1e9 }},
	{name: "DCGM_FI_DEV_THERMAL_VIOLATION", kind: counter, help: "Throttling duration due to thermal constraints (in ns).", value: func(d *dev, _ *unit) float64 { return d.HeatThrottledSec * 1e9 }},
	{name: "DCGM_FI_PROF_GR_ENGINE_ACTIVE", kind: gauge, help: "Ratio of time the graphics engine is active.", double: true, value: func(_ *dev, u *unit) float64 { return u.Busy }},
	{name: "DCGM_FI_PROF_SM_ACTIVE", kind: gauge, help: "The ratio of cycles an SM has at least 1 warp assigned.", double: true, value: func(_ *dev, u *unit) float64 { return 0.92 * u.Busy }},
	{name: "DCGM_FI_PROF_SM_OCCUPANCY", kind: gauge, help: "The ratio of number of warps resident on an SM.", double: true, value: func(_ *dev, u *unit) float64 { return 0.4 * u.Busy }},
	{name: "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", kind: gauge, help: "Ratio of cycles the tensor (HMMA) pipe is active.", double: true, value: func(_ *dev, u *unit) float64 { return u.Tensor }},
	{name: "DCGM_FI_PROF_DRAM_ACTIVE", kind: gauge, help: "Ratio of cycles the device memory interface is active sending or receiving data.", double: true, value: func(_ *dev, u *unit) float64 { return u.Stream }},
	{name: "DCGM_FI_PROF_PCIE_TX_BYTES", kind: gauge, help: "The rate of data transmitted over the PCIe bus, in bytes per second.", whole: true, value: func(d *dev, _ *unit) float64 { return d.PCIeTx }},
	{name: "DCGM_FI_PROF_PCIE_RX_BYTES", kind: gauge, help: "The rate of data received over the PCIe bus, in bytes per second.", whole: true, value: func(d *dev, _ *unit) float64 { return d.PCIeRx }},
	{name: "DCGM_FI_PROF_NVLINK_TX_BYTES", kind: gauge, help: "The rate of data transmitted over NVLink, in bytes per second.", whole: true, linked: true, value: func(d *dev, _ *unit) float64 { return d.LinkTx }},
	{name: "DCGM_FI_PROF_NVLINK_RX_BYTES", kind: gauge, help: "The rate of data received over NVLink, in bytes per second.", whole: true, linked: true, value: func(d *dev, _ *unit) float64 { return d.LinkRx }},
}

// fbReserved, fbUsed and fbFree are whole MiB that add up to the total.
func fbReserved(d *dev, u *unit) float64 {
	if u.Slice != nil {
		return 0
	}
	return whole(d.Reserved / mib)
}

func fbUsed(u *unit) float64 { return whole(u.Memory / mib) }

func fbFree(_ *dev, u *unit) float64 { return whole(u.Capacity/mib) - fbUsed(u) }

// dcgmRow is the labels of a row, around which some fields put their own.
type dcgmRow struct {
	d           *dev
	u           *unit
	device, pod string
}

func (r dcgmRow) labels(own ...string) string {
	container, rest, _ := strings.Cut(r.pod, "\x00")
	out := r.device + container
	if len(own) > 0 {
		out += "," + pairs(own...)
	}
	out += rest
	if r.d.Unescaped {
		out += `,owner="rack "9""` // as the exporter's template writes a label of the pod
	}
	return out
}

func (p *page) dcgm(n *simulate.Node) {
	var rows []dcgmRow
	for i, d := range devices(n, simulate.NVIDIA) {
		for j := range d.Units {
			rows = append(rows, newDCGMRow(n, i, d, &d.Units[j]))
		}
	}
	for _, f := range dcgmFields {
		p.dcgmField(f, rows)
	}
	p.dcgmXID(rows)
}

func newDCGMRow(n *simulate.Node, index int, d *dev, u *unit) dcgmRow {
	i := strconv.Itoa(index)
	r := dcgmRow{d: d, u: u}
	r.device = pairs("gpu", i, "UUID", d.UID, "pci_bus_id", "0000"+strings.ToUpper(d.PCI), "device", "nvidia"+i, "modelName", d.Label)
	if s := u.Slice; s != nil {
		r.device += "," + pairs("GPU_I_PROFILE", s.Profile, "GPU_I_ID", strconv.Itoa(s.ID))
	}
	r.device += "," + pairs("hostname", n.Name, "DCGM_FI_DRIVER_VERSION", "570.00.01")
	if c, ns, pod := owner(n, u); pod != "" {
		r.pod = "," + pairs("container", c) + "\x00," + pairs("namespace", ns, "pod", pod)
	}
	return r
}

// What DCGM has in place of a value.
const (
	blankInt64 = "9223372036854775794"
	blankFP64  = "140737488355328.000000"
)

func (p *page) dcgmField(f dcgmField, rows []dcgmRow) {
	begun := false
	for _, r := range rows {
		if f.whole && r.u.Slice != nil || f.linked && r.d.Links == 0 {
			continue
		}
		if !begun {
			p.head(f.name, f.kind, f.help)
			begun = true
		}
		p.series(f.name, r.labels())
		blank := slices.Contains(r.d.Blank, f.name)
		switch v := f.value(r.d, r.u); {
		case blank && f.double:
			p.buf = append(p.buf, blankFP64...)
		case blank:
			p.buf = append(p.buf, blankInt64...)
		case f.double:
			p.buf = strconv.AppendFloat(p.buf, v, 'f', 6, 64)
		default:
			p.buf = strconv.AppendInt(p.buf, int64(v), 10)
		}
		p.buf = append(p.buf, '\n')
	}
}

// xidText is what dcgm-exporter says of the XIDs that one sees.
var xidText = map[int]string{0: "No Error", 13: "Graphics Engine Exception", 31: "GPU memory page fault", 43: "GPU stopped processing",
	48: "Double Bit ECC Error", 63: "ECC page retirement or row remapping recording event", 64: "ECC page retirement or row remapper recording failure",
	74: "NVLINK Error", 79: "GPU has fallen off the bus", 94: "Contained ECC error", 95: "Uncontained ECC error", 119: "GSP RPC Timeout"}

// dcgmXID writes the last XID, which stays, and the count of each in the last 5 minutes.
func (p *page) dcgmXID(rows []dcgmRow) {
	p.head("DCGM_FI_DEV_XID_ERRORS", gauge, "Value of the last XID error encountered.")
	for _, r := range rows {
		text, known := xidText[r.d.XID]
		if !known {
			text = "Unknown Error"
		}
		code := strconv.Itoa(r.d.XID)
		p.row("DCGM_FI_DEV_XID_ERRORS", r.labels("err_code", code, "err_msg", text), float64(r.d.XID))
	}
	p.head("DCGM_EXP_XID_ERRORS_COUNT", gauge, "Count of XID Errors within user-specified time window (see window_size_in_ms).")
	for _, r := range rows {
		codes, count := []int{}, map[int]int{}
		for _, e := range r.d.XIDs {
			if count[e.Code]++; count[e.Code] == 1 {
				codes = append(codes, e.Code)
			}
		}
		if len(codes) == 0 {
			p.row("DCGM_EXP_XID_ERRORS_COUNT", r.labels("window_size_in_ms", "300000"), 0)
		}
		for _, c := range codes {
			p.row("DCGM_EXP_XID_ERRORS_COUNT", r.labels("window_size_in_ms", "300000", "xid", strconv.Itoa(c)), float64(count[c]))
		}
	}
}
