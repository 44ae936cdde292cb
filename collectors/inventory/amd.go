package inventory

import (
	"fmt"
	"strconv"
	"strings"

	schema "sextant/schema/inventory"
)

// amd adds what the driver says beside the PCI function.
func (r *reader) amd(v *schema.Device) {
	at := "bus/pci/devices/" + v.PCI
	v.UID = r.sys.text(at, "unique_id")
	v.Memory = r.sys.count(at, "mem_info_vram_total")
	v.Firmware = r.sys.text(at, "vbios_version")
	if m := r.sys.text(at, "product_name"); m != "" && v.Model == "" {
		v.Model = m
	}
	v.Partition = strings.Trim(r.sys.text(at, "current_compute_partition")+"/"+r.sys.text(at, "current_memory_partition"), "/")
}

// Kinds of links in KFD's topology.
const kfdXGMI = 11

// kfd reads AMD's compute topology: the instruction set of each GPU, and the XGMI links
// between them.
func (r *reader) kfd() {
	const at = "class/kfd/kfd/topology/nodes"
	names, err := r.sys.names(at)
	if err != nil {
		r.fault("kfd: %s", plain(err))
	}
	address := map[string]string{} // of the GPU, by number of the KFD node
	for _, n := range names {
		p := r.kfdProperties(at, n, "properties")
		if p["simd_count"] == 0 {
			continue // a CPU
		}
		loc := p["location_id"]
		address[n] = fmt.Sprintf("%04x:%02x:%02x.%x", p["domain"], loc>>8&0xff, loc>>3&0x1f, loc&7)
		for i := range r.doc.Devices {
			if v := &r.doc.Devices[i]; v.PCI == address[n] {
				v.Capability = gfx(p["gfx_target_version"])
			}
		}
	}
	for n := range address {
		r.xgmi(at, n, address)
	}
}

// gfx names a target as AMD's compilers do: 90402 is gfx942, 90010 is gfx90a.
func gfx(v uint64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("gfx%d%x%x", v/10000, v/100%100, v%100)
}

// xgmi notes the links of one GPU. Both ends list a link: the lower address tells of it.
func (r *reader) xgmi(at, node string, address map[string]string) {
	links, _ := r.sys.names(at, node, "io_links")
	for _, l := range links {
		p := r.kfdProperties(at, node, "io_links", l, "properties")
		to := address[strconv.FormatUint(p["node_to"], 10)]
		if p["type"] != kfdXGMI || to == "" || to <= address[node] {
			continue
		}
		r.stated = append(r.stated, LinkExtra{From: address[node], To: to, Kind: schema.LinkXGMI, Bandwidth: float64(p["max_bandwidth"]) * 1e6})
	}
}

// kfdProperties reads lines of a name and a number.
func (r *reader) kfdProperties(parts ...string) map[string]uint64 {
	out := map[string]uint64{}
	lines, err := r.sys.pairs(" ", false, parts...)
	if err != nil {
		return out
	}
	for k, v := range lines {
		out[k], _ = strconv.ParseUint(v, 10, 64)
	}
	return out
}
