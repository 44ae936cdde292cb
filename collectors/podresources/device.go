package podresources

import "strings"

// Place is a device, or a slice of one, under the names of its readings.
type Place struct{ Vendor, Device, Slice string }

// SliceOf finds the slice with a vendor's uid, in the inventory of the node.
type SliceOf func(uid string) (device, slice string, ok bool)

// identify says which device an id of a device plugin means. base is the id without what
// tells replicas of a shared device apart. Only what is documented is mapped: NVIDIA's
// plugin gives uuids, with ::N behind them for the Nth replica of a shared device; plugins
// of other vendors number their devices in ways of their own.
func identify(resource, id string, slices SliceOf) (p Place, base string, ok bool) {
	if !strings.HasPrefix(resource, "nvidia.com/") {
		return Place{}, id, false
	}
	base, _, _ = strings.Cut(id, "::")
	switch {
	case strings.HasPrefix(base, "MIG-GPU-"): // drivers before 470: MIG-<uuid of the GPU>/<instance>/<compute instance>
		parts := strings.Split(strings.TrimPrefix(base, "MIG-"), "/")
		if len(parts) != 3 {
			return Place{}, base, false
		}
		return Place{"nvidia", parts[0], parts[1]}, base, true
	case strings.HasPrefix(base, "MIG-"): // the uuid does not tell its GPU
		device, slice, known := slices(base)
		return Place{"nvidia", device, slice}, base, known
	case strings.HasPrefix(base, "GPU-"):
		return Place{"nvidia", base, ""}, base, true
	}
	return Place{}, base, false // by index, as the plugin can be told to
}
