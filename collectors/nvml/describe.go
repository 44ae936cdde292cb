//go:build cgo && linux

package nvml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"sextant/collectors/inventory"
	schema "sextant/schema/inventory"
)

// describe asks the driver what its devices are, how they are sliced and how NVLinks join
// them. What a release of the library or a device does not tell is left out.
func (l *library) describe() (inventory.Extra, error) {
	var x inventory.Extra
	if err := l.open(); err != nil {
		return x, err
	}
	n, ret := l.lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		l.close()
		return x, fmt.Errorf("count GPUs: %s", l.lib.ErrorString(ret))
	}
	f := fabric{links: map[string][]nvlink{}}
	for i := range n {
		d, ret := l.lib.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			continue
		}
		e := l.part(d)
		if e.UID == "" {
			continue // nothing that would name it
		}
		x.Devices = append(x.Devices, e)
		f.order = append(f.order, e.PCI)
		f.links[e.PCI] = l.nvlinks(d)
	}
	x.Links = f.join()
	return x, nil
}

// can says whether this release of the library has a function. A call of one that it does
// not have would end the process.
func (l *library) can(function string) bool {
	return l.lib.Extensions().LookupSymbol(function) == nil
}

// ask calls get if the library has the function, and returns the zero value for what it
// does not tell.
func ask[T any](l *library, function string, get func() (T, nvml.Return)) T {
	var none T
	if !l.can(function) {
		return none
	}
	if v, ret := get(); ret == nvml.SUCCESS {
		return v
	}
	return none
}

func (l *library) part(d nvml.Device) inventory.DeviceExtra {
	uid, _ := d.GetUUID()
	model, _ := d.GetName()
	e := inventory.DeviceExtra{UID: uid, PCI: busOf(d.GetPciInfo()), Vendor: "nvidia", Kind: "gpu", Model: model, Driver: l.driver}
	e.Firmware = ask(l, "nvmlDeviceGetVbiosVersion", d.GetVbiosVersion)
	e.Memory = ask(l, "nvmlDeviceGetMemoryInfo_v2", d.GetMemoryInfo_v2).Total
	e.PowerLimit = float64(ask(l, "nvmlDeviceGetPowerManagementDefaultLimit", d.GetPowerManagementDefaultLimit)) / 1e3
	e.MaxHertz = 1e6 * float64(ask(l, "nvmlDeviceGetMaxClockInfo", func() (uint32, nvml.Return) { return d.GetMaxClockInfo(nvml.CLOCK_SM) }))
	e.MemoryHertz = 1e6 * float64(ask(l, "nvmlDeviceGetMaxClockInfo", func() (uint32, nvml.Return) { return d.GetMaxClockInfo(nvml.CLOCK_MEM) }))
	e.Capability = ask(l, "nvmlDeviceGetCudaComputeCapability", func() (string, nvml.Return) {
		major, minor, ret := d.GetCudaComputeCapability()
		return fmt.Sprintf("%d.%d", major, minor), ret
	})
	e.MIG = ask(l, "nvmlDeviceGetMigMode", func() (string, nvml.Return) {
		now, _, ret := d.GetMigMode()
		return map[bool]string{true: "enabled", false: "disabled"}[now == nvml.DEVICE_MIG_ENABLE], ret
	})
	if e.MIG == "enabled" {
		e.Slices = l.mig(d)
	}
	return e
}

// busOf is "" for a device whose address is not told.
func busOf(pci nvml.PciInfo, ret nvml.Return) string {
	if ret != nvml.SUCCESS {
		return ""
	}
	var b strings.Builder
	for _, c := range pci.BusId {
		if c == 0 {
			break
		}
		b.WriteByte(byte(c))
	}
	return b.String()
}

// mig lists the MIG devices. The library's MIG device is a compute instance; several of
// them may lie in one GPU instance.
func (l *library) mig(d nvml.Device) []schema.Slice {
	for _, f := range []string{"nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetComputeInstanceId"} {
		if !l.can(f) {
			return nil
		}
	}
	var out []schema.Slice
	for i := range ask(l, "nvmlDeviceGetMaxMigDeviceCount", d.GetMaxMigDeviceCount) {
		m, ret := d.GetMigDeviceHandleByIndex(i)
		if ret != nvml.SUCCESS {
			continue // no slice in this place
		}
		gi, ret := m.GetGpuInstanceId()
		if ret != nvml.SUCCESS {
			continue
		}
		name, _ := m.GetName()
		uid, _ := m.GetUUID() // empty where the driver does not tell
		_, profile, _ := strings.Cut(name, "MIG ")
		about := ask(l, "nvmlDeviceGetAttributes_v2", m.GetAttributes)
		id := fmt.Sprintf("gi%d", gi)
		if !slices.ContainsFunc(out, func(s schema.Slice) bool { return s.ID == id }) {
			out = append(out, schema.Slice{ID: id, Kind: "mig_gpu", Profile: withoutCompute(profile), Memory: about.MemorySizeMB << 20, Cores: float64(about.GpuInstanceSliceCount)})
		}
		if ci, ret := m.GetComputeInstanceId(); ret == nvml.SUCCESS {
			out = append(out, schema.Slice{ID: fmt.Sprintf("%s/ci%d", id, ci), UID: uid, Kind: "mig_compute", Parent: id, Profile: profile, Cores: float64(about.ComputeInstanceSliceCount)})
		}
	}
	slices.SortFunc(out, func(a, b schema.Slice) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// withoutCompute makes the GPU instance's profile of that of a part of it: 1c.3g.20gb is in
// 3g.20gb.
func withoutCompute(profile string) string {
	if c, rest, ok := strings.Cut(profile, "."); ok && strings.HasSuffix(c, "c") {
		return rest
	}
	return profile
}

// nvlink is one active link, as its device tells.
type nvlink struct {
	peer  string  // PCI address of what is at the other end
	bytes float64 // per second in one direction, 0 if not known
}

// perLink is what a link of a version carries in one direction, bytes per second.
var perLink = map[nvml.NvlinkVersion]float64{nvml.NVLINK_VERSION_1_0: 20e9, nvml.NVLINK_VERSION_2_0: 25e9, nvml.NVLINK_VERSION_2_2: 25e9,
	nvml.NVLINK_VERSION_3_0: 25e9, nvml.NVLINK_VERSION_3_1: 25e9, nvml.NVLINK_VERSION_4_0: 25e9, nvml.NVLINK_VERSION_5_0: 50e9}

func (l *library) nvlinks(d nvml.Device) []nvlink {
	if !l.can("nvmlDeviceGetNvLinkState") || !l.can("nvmlDeviceGetNvLinkRemotePciInfo_v2") {
		return nil
	}
	var out []nvlink
	for i := range nvml.NVLINK_MAX_LINKS {
		if on, ret := d.GetNvLinkState(i); ret != nvml.SUCCESS || on != nvml.FEATURE_ENABLED {
			continue
		}
		peer := busOf(d.GetNvLinkRemotePciInfo(i))
		version := ask(l, "nvmlDeviceGetNvLinkVersion", func() (uint32, nvml.Return) { return d.GetNvLinkVersion(i) })
		if peer != "" {
			out = append(out, nvlink{strings.ToUpper(peer), perLink[nvml.NvlinkVersion(version)]})
		}
	}
	return out
}

// fabric is the NVLinks of a host.
type fabric struct {
	order []string            // PCI addresses of the devices
	links map[string][]nvlink // by that address
}

// join finds which devices the links join: two of which one names the other, and two that
// both hang on switches, which join all with all. Through switches the narrower side counts.
func (f *fabric) join() []inventory.LinkExtra {
	var out []inventory.LinkExtra
	for i, a := range f.order {
		for _, b := range f.order[i+1:] {
			n, bytes := f.between(a, b)
			if n == 0 {
				n, bytes = f.switched(a, b)
			}
			if n > 0 {
				out = append(out, inventory.LinkExtra{From: a, To: b, Kind: schema.LinkNVLink, Count: n, Bandwidth: bytes})
			}
		}
	}
	return out
}

func (f *fabric) between(a, b string) (n int, bytes float64) {
	return sum(f.links[a], func(l nvlink) bool { return l.peer == strings.ToUpper(b) })
}

func (f *fabric) switched(a, b string) (n int, bytes float64) {
	outside := func(l nvlink) bool {
		return !slices.ContainsFunc(f.order, func(d string) bool { return strings.ToUpper(d) == l.peer })
	}
	n, bytes = sum(f.links[a], outside)
	m, other := sum(f.links[b], outside)
	return min(n, m), min(bytes, other)
}

// sum counts links; their bandwidth is 0 if one of them is not known.
func sum(all []nvlink, counts func(nvlink) bool) (n int, bytes float64) {
	known := true
	for _, l := range all {
		if counts(l) {
			n, bytes, known = n+1, bytes+l.bytes, known && l.bytes > 0
		}
	}
	if !known {
		bytes = 0
	}
	return n, bytes
}
