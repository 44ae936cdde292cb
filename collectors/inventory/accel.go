package inventory

import (
	"slices"
	"strings"

	schema "sextant/schema/inventory"
)

// vendor is a maker of accelerators.
type vendor struct{ name, kind string }

var vendors = map[uint16]vendor{
	0x10de: {"nvidia", "gpu"},
	0x1002: {"amd", "gpu"},
	0x8086: {"intel", "gpu"},
	0x19e5: {"huawei", "npu"},
	0x1da3: {"habana", "hpu"},
}

// accelerators lists the accelerators of PCI, by address. Virtual functions are shares of
// a device that is listed; in a virtual machine they are devices of their own, and have
// no physfn there.
func (r *reader) accelerators() {
	for _, f := range r.functions {
		if v, ok := vendors[f.vendor]; ok && !f.virtual && f.computes() {
			m := models()[f.id()]
			r.doc.Devices = append(r.doc.Devices, schema.Device{Vendor: v.name, Kind: v.kind, Model: m.name, Generation: m.generation, PCIPlace: r.at(f.address)})
		}
	}
	slices.SortFunc(r.doc.Devices, func(a, b schema.Device) int { return strings.Compare(a.PCI, b.PCI) })
	r.doc.Devices = cut(r, "devices", r.doc.Devices, schema.MaxDevices)
	for i := range r.doc.Devices {
		switch v := &r.doc.Devices[i]; v.Vendor {
		case "nvidia":
			r.nvidia(v)
		case "amd":
			r.amd(v)
		case "huawei":
			r.ascend(v)
		}
	}
	r.kfd()
}

// computes tells an accelerator from what else its maker builds: sound, bridges,
// NVSwitches, the display of a management controller, graphics inside a CPU.
func (f *function) computes() bool {
	switch f.kind() {
	case classAccel, class3D, classDisplay:
		return true
	case classVGA:
		return f.vendor == 0x10de || f.vendor == 0x1002 && len(f.above) > 0 || f.vendor == 0x8086 && len(f.above) > 0
	}
	return f.vendor == 0x1da3 // Gaudi, whatever class its firmware has
}

// nvidia adds what the driver says in proc.
func (r *reader) nvidia(v *schema.Device) {
	if line := r.proc.text("driver/nvidia/version"); line != "" && v.DriverVersion == "" {
		// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar …"
		for _, word := range strings.Fields(line) {
			if strings.Count(word, ".") >= 1 && strings.Trim(word, "0123456789.") == "" {
				v.DriverVersion = word
				break
			}
		}
	}
	info, err := r.proc.pairs(":", false, "driver/nvidia/gpus", v.PCI, "information")
	if err != nil {
		return // no driver, or one that is not NVIDIA's
	}
	if m := info["Model"]; m != "" {
		v.Model = m
	}
	if uid := info["GPU UUID"]; !strings.Contains(uid, "?") { // question marks until a client has opened the device
		v.UID = uid
	}
	if b := info["Video BIOS"]; !strings.Contains(b, "?") {
		v.Firmware = b
	}
	v.Slices = r.mig(info["Device Minor"])
}

// mig is the MIG layout as the driver's capabilities show it: which instances there are,
// not of what profile.
func (r *reader) mig(minor string) []schema.Slice {
	if minor == "" {
		return nil
	}
	at := "driver/nvidia/capabilities/gpu" + minor + "/mig"
	var out []schema.Slice
	instances, _ := r.proc.names(at)
	for _, gi := range instances {
		if !strings.HasPrefix(gi, "gi") {
			continue
		}
		out = append(out, schema.Slice{ID: gi, Kind: "mig_gpu"})
		parts, _ := r.proc.names(at, gi)
		for _, ci := range parts {
			if strings.HasPrefix(ci, "ci") {
				out = append(out, schema.Slice{ID: gi + "/" + ci, Kind: "mig_compute", Parent: gi})
			}
		}
	}
	return out[:min(len(out), schema.MaxSlices)]
}

// ascend adds the version that the driver's package leaves on disk.
func (r *reader) ascend(v *schema.Device) {
	info, err := r.root.pairs("=", false, "usr/local/Ascend/driver/version.info")
	if err == nil && v.DriverVersion == "" {
		v.DriverVersion = info["Version"]
	}
}
