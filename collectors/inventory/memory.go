package inventory

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	schema "sextant/schema/inventory"
)

// memory reads the size of memory and of the huge page pools.
func (r *reader) memory() {
	info, err := r.proc.pairs(":", false, "meminfo")
	if err != nil {
		r.fault("memory: %s", plain(err))
	}
	r.doc.Memory = schema.Memory{Total: kilobytes(info["MemTotal"]), Swap: kilobytes(info["SwapTotal"]), HugePages: r.hugePages("kernel/mm/hugepages")}
}

// kilobytes reads "16384 kB" as bytes; 0 for anything else.
func kilobytes(s string) uint64 {
	n, err := strconv.ParseUint(strings.TrimSuffix(s, " kB"), 10, 54)
	if err != nil {
		return 0
	}
	return n << 10
}

// hugePages reads the pools below a folder that are not empty, small pages first.
func (r *reader) hugePages(folder string) []schema.HugePages {
	names, _ := r.sys.names(folder)
	var out []schema.HugePages
	for _, n := range names {
		size := kilobytes(strings.TrimPrefix(strings.TrimSuffix(n, "kB"), "hugepages-") + " kB")
		if count := r.sys.count(folder, n, "nr_hugepages"); size > 0 && count > 0 {
			out = append(out, schema.HugePages{Size: size, Count: count})
		}
	}
	slices.SortFunc(out, func(a, b schema.HugePages) int { return cmp.Compare(a.Size, b.Size) })
	return out
}

// numa reads the NUMA nodes.
func (r *reader) numa() {
	names, err := r.sys.names("devices/system/node")
	if err != nil {
		r.fault("numa: %s", plain(err))
	}
	for _, name := range names {
		id, err := strconv.Atoi(strings.TrimPrefix(name, "node"))
		if err != nil || !strings.HasPrefix(name, "node") {
			continue
		}
		r.doc.NUMA = append(r.doc.NUMA, r.numaNode(id, "devices/system/node/"+name))
	}
	slices.SortFunc(r.doc.NUMA, func(a, b schema.NUMANode) int { return cmp.Compare(a.ID, b.ID) })
	r.doc.NUMA = cut(r, "numa", r.doc.NUMA, schema.MaxNUMA)
}

func (r *reader) numaNode(id int, at string) schema.NUMANode {
	n := schema.NUMANode{ID: id, CPUs: r.sys.text(at, "cpulist"), HugePages: r.hugePages(at + "/hugepages")}
	if info, err := r.sys.pairs(":", false, at, "meminfo"); err == nil { // "Node 0 MemTotal: 1024 kB"
		n.Memory = kilobytes(info["Node "+strconv.Itoa(id)+" MemTotal"])
	}
	for _, d := range strings.Fields(r.sys.text(at, "distance")) {
		v, _ := strconv.Atoi(d)
		n.Distances = append(n.Distances, v)
	}
	// What firmware says of the way from the nearest CPUs: ns and MB/s.
	n.Latency = float64(r.sys.count(at, "access0/initiators/read_latency")) / 1e9
	n.Bandwidth = float64(r.sys.count(at, "access0/initiators/read_bandwidth")) * 1e6
	return n
}

// distance is the ACPI distance between two NUMA nodes, 0 when it is not known.
func (r *reader) distance(from, to int) int {
	at := func(id int) int {
		return slices.IndexFunc(r.doc.NUMA, func(n schema.NUMANode) bool { return n.ID == id })
	}
	i, j := at(from), at(to)
	if i < 0 || j < 0 || j >= len(r.doc.NUMA[i].Distances) {
		return 0
	}
	return r.doc.NUMA[i].Distances[j]
}

// plain is an error without the path, which differs from container to container.
func plain(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Op + ": " + path.Err.Error()
	}
	return err.Error()
}
