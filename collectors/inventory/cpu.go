package inventory

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	schema "sextant/schema/inventory"
)

var cpuFolder = regexp.MustCompile(`^cpu[0-9]+$`)

// placement are the instruction sets that decide what runs on a node, x86 and Arm.
var placement = []string{"avx2", "avx512f", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx_vnni", "amx_tile", "amx_bf16", "amx_int8",
	"asimd", "asimddp", "bf16", "i8mm", "sme", "sve", "sve2"}

// armCores names what an Arm CPU tells of itself: implementer and part.
var armCores = map[string]string{
	"0x41/0xd0c": "Neoverse-N1", "0x41/0xd40": "Neoverse-V1", "0x41/0xd49": "Neoverse-N2", "0x41/0xd4f": "Neoverse-V2",
	"0x48/0xd01": "Kunpeng-920", "0xc0/0xac3": "Ampere-1",
}

// cpu reads the processors. Model and features are those of the first: a node has one
// kind.
func (r *reader) cpu() {
	info, err := r.proc.pairs(":", true, "cpuinfo")
	if err != nil {
		r.fault("cpu: %s", plain(err))
	}
	c := schema.CPU{Model: info["model name"], Vendor: info["vendor_id"], Family: info["cpu family"], Stepping: info["stepping"],
		Microcode: info["microcode"], Isolated: r.sys.text("devices/system/cpu/isolated")}
	if part := info["CPU part"]; part != "" {
		c.Vendor, c.Stepping = info["CPU implementer"], info["CPU revision"]
		if c.Model == "" {
			c.Model = armCores[info["CPU implementer"]+"/"+part]
		}
		if c.Model == "" {
			c.Model = fmt.Sprintf("Arm implementer %s part %s", info["CPU implementer"], part)
		}
	}
	flags := strings.Fields(info["flags"] + " " + info["Features"])
	for _, f := range placement {
		if slices.Contains(flags, f) {
			c.Features = append(c.Features, f)
		}
	}
	r.topology(&c)
	r.doc.CPU = c
}

// topology counts sockets, cores and threads that are online.
func (r *reader) topology(c *schema.CPU) {
	folders, err := r.sys.names("devices/system/cpu")
	if err != nil {
		r.fault("cpu: %s", plain(err))
	}
	sockets, cores := map[string]bool{}, map[string]bool{}
	for _, cpu := range folders {
		at := "devices/system/cpu/" + cpu
		if !cpuFolder.MatchString(cpu) || r.sys.text(at, "online") == "0" {
			continue // cpu0 often has no such file
		}
		c.Threads++
		socket := r.sys.text(at, "topology/physical_package_id")
		siblings := r.sys.text(at, "topology/core_cpus_list")
		if siblings == "" {
			siblings = r.sys.text(at, "topology/thread_siblings_list")
		}
		if siblings == "" {
			siblings = cpu
		}
		sockets[socket], cores[siblings] = true, true
		c.BaseHertz = max(c.BaseHertz, float64(r.sys.count(at, "cpufreq/base_frequency"))*1e3)
		c.MaxHertz = max(c.MaxHertz, float64(r.sys.count(at, "cpufreq/cpuinfo_max_freq"))*1e3)
	}
	c.Sockets, c.Cores = len(sockets), len(cores)
}
