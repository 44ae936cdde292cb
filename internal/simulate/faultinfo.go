package simulate

import (
	"maps"
	"slices"
	"strings"
)

// faultInfo says which nodes can have a kind of fault, and what it must be told.
type faultInfo struct {
	needs  string // in words
	device func(*Device, *Fault) bool
	check  func(f *Fault, bad func(key string, wrong bool, format string, args ...any))
}

var faultInfos = map[FaultKind]faultInfo{
	FaultXID: {needs: "an NVIDIA device", device: ofVendor(NVIDIA),
		check: func(f *Fault, bad func(string, bool, string, ...any)) {
			bad("code", f.Code < 1 || f.Code > 999, "%d, want 1 to 999", f.Code)
		}},
	FaultError: {needs: "an Ascend device", device: ofVendor(Ascend),
		check: func(f *Fault, bad func(string, bool, string, ...any)) {
			bad("code", f.Code < 1 || f.Code > 0xffffffff, "%d, want 1 to 4294967295", f.Code)
		}},
	FaultECC: {needs: "a device that computes", device: computes,
		check: func(f *Fault, bad func(string, bool, string, ...any)) {
			bad("class", f.Class != "single" && f.Class != "double", "%q, want single or double", f.Class)
			bad("count", f.Count < 1 || f.Count > 1e6, "%d, want 1 to 1000000", f.Count)
		}},
	FaultThermal: {needs: "a device that computes", device: computes,
		check: func(f *Fault, bad func(string, bool, string, ...any)) {
			bad("celsius", f.Celsius < 1 || f.Celsius > 60, "%g, want 1 to 60", f.Celsius)
		}},
	FaultPower: {needs: "a device that computes", device: computes,
		check: func(f *Fault, bad func(string, bool, string, ...any)) {
			bad("watts", f.Watts <= 0, "%g, want more than 0", f.Watts)
		}},
	FaultFreeze: {needs: "an exporter of that name",
		check: func(f *Fault, bad func(string, bool, string, ...any)) {
			bad("exporter", !slices.Contains(Exporters(), f.Exporter), "%q, want one of %s", f.Exporter, strings.Join(Exporters(), ", "))
		}},
	FaultLayout: {needs: "a device that can be sliced so",
		device: func(d *Device, f *Fault) bool { _, err := d.slicesOf(f.Layout); return d.Parts > 0 && err == nil }},
	FaultNodeLoss: {needs: "a node of that name"},
	FaultClockSkew: {needs: "a node of that name",
		check: func(f *Fault, bad func(string, bool, string, ...any)) {
			bad("skew", f.Skew <= 0, "missing")
		}},
	FaultUnescaped: {needs: "an NVIDIA device", device: ofVendor(NVIDIA)},
	FaultLinkDown:  {needs: "a network adapter", device: ofVendor(BlueField)},
	FaultBlank: {needs: "a device whose exporter prints a sentinel for that metric", device: canBlank,
		check: func(f *Fault, bad func(string, bool, string, ...any)) {
			bad("metric", f.Metric == "", "missing")
		}},
}

func faultKinds() []FaultKind {
	return slices.Sorted(maps.Keys(faultInfos))
}

func ofVendor(v Vendor) func(*Device, *Fault) bool {
	return func(d *Device, _ *Fault) bool { return d.Vendor == v }
}

func computes(d *Device, _ *Fault) bool { return d.Compute }

// canBlank says whose exporter prints something in place of a value: dcgm-exporter its
// blanks, npu-exporter -1 for a state that it could not read.
func canBlank(d *Device, f *Fault) bool {
	switch d.Vendor {
	case NVIDIA:
		return strings.HasPrefix(f.Metric, "DCGM_FI_")
	case Ascend:
		return slices.Contains([]string{"npu_chip_info_health_status", "npu_chip_info_network_status", "npu_chip_info_link_status"}, f.Metric)
	}
	return false
}

// possible says whether nodes of a group can have the fault.
func (i faultInfo) possible(g *Group, f *Fault) bool {
	if f.Kind == FaultFreeze {
		return slices.Contains(g.exporters(), f.Exporter)
	}
	if i.device == nil {
		return true
	}
	index := 0
	for _, d := range g.Devices {
		m, err := findModel(d.Vendor, d.Model)
		for range max(min(d.Count, maxDevicesOfNode), 0) {
			here := f.Device == nil || *f.Device == index
			index++
			if err == nil && here && i.device(&Device{Model: m}, f) {
				return true
			}
		}
	}
	return false
}
