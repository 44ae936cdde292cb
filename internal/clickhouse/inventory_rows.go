package clickhouse

import (
	"maps"
	"math"
	"slices"

	"sextant/pipeline/inventory"
	schema "sextant/schema/inventory"
	"sextant/schema/wire"
)

var inventoriesTable = &table{"inventories", columns(
	"node", "String", "since", timestamp, "collected", timestamp, "ingest", timestamp, "removed", "UInt8", "simulated", "UInt8", "hash", "String",
	"arch", "String", "kernel", "String", "os", "String", "os_version", "String", "boot_id", "String", "vendor", "String", "product", "String",
	"hypervisor", "String", "cpu_model", "String", "sockets", "Nullable(UInt16)", "cores", "Nullable(UInt32)", "threads", "Nullable(UInt32)",
	"memory_bytes", "Nullable(UInt64)", "numa_nodes", "UInt16", "accelerators", "UInt16", "nics", "UInt16",
	"region", "String", "zone", "String", "rack", "String", "switch", "String", "cordoned", "UInt8",
	"labels", "Map(String, String)", "kubernetes_labels", "Map(String, String)", "taints", "Array(String)", "allocatable", "Map(String, String)",
	"faults", "Array(String)", "facts", "Map(String, String)", "document", "String")}

var partsTable = &table{"inventory_parts", columns(
	"node", "String", "since", timestamp, "part", "String", "id", "String", "ingest", timestamp, "name", "String", "uid", "String",
	"vendor", "String", "kind", "String", "model", "String", "generation", "String", "compute_capability", "String", "firmware", "String",
	"driver", "String", "driver_version", "String", "bytes", "Nullable(UInt64)", "speed", "Nullable(Float64)", "up", "Nullable(UInt8)",
	"pci", "String", "pci_id", "String", "numa", "Nullable(Int16)", "link_gigatransfers", "Nullable(Float32)", "link_width", "Nullable(UInt8)",
	"link_max_width", "Nullable(UInt8)", "link_bandwidth", "Nullable(Float64)", "rdma", "String", "dpu", "String", "partition", "String",
	"slice_ids", "Array(String)", "slice_kinds", "Array(String)", "slice_profiles", "Array(String)",
	"slice_bytes", "Array(UInt64)", "slice_cores", "Array(Float32)", "mig", "String", "sharing", "String", "replicas", "UInt16", "power_limit_watts", "Nullable(Float32)")}

var linksTable = &table{"inventory_links", columns(
	"node", "String", "since", timestamp, "from_part", "String", "from_id", "String", "to_part", "String", "to_id", "String", "kind", "String",
	"ingest", timestamp, "bandwidth", "Nullable(Float64)", "latency", "Nullable(Float64)", "distance", "Nullable(UInt16)", "hops", "UInt16",
	"count", "UInt16", "degraded", "UInt8", "origin", "String", "features", "Array(Float32)")}

// gone is what the store knows of a node that was removed: the time, and nothing else.
func gone(r *inventory.Row) *schema.Document {
	return &schema.Document{Node: r.Node, Since: r.Ingest, Collected: r.Ingest}
}

// document is the row's document, or an empty one of a node that is gone.
func document(r *inventory.Row) *schema.Document {
	if r.Document == nil {
		return gone(r)
	}
	return r.Document
}

func appendInventories(w *columnWriter, rows []inventory.Row) {
	text := func(get func(*schema.Document) string) {
		w.add(collect(rows, func(r *inventory.Row) string { return get(document(r)) }))
	}
	number := func(get func(*schema.Document) float64) []float64 {
		return collect(rows, func(r *inventory.Row) float64 { return unknown0(get(document(r))) })
	}
	small := func(get func(*schema.Document) int) {
		w.add(collect(rows, func(r *inventory.Row) uint16 { return uint16(get(document(r))) }))
	}
	labels := func(get func(*schema.Document) map[string]string) {
		w.add(collect(rows, func(r *inventory.Row) any { return sorted(get(document(r))) }))
	}
	texts := func(get func(*schema.Document) []string) {
		w.add(collect(rows, func(r *inventory.Row) []string { return get(document(r)) }))
	}
	kubernetes := func(d *schema.Document) *schema.Kubernetes {
		if d.Kubernetes == nil {
			return &schema.Kubernetes{}
		}
		return d.Kubernetes
	}
	text(func(d *schema.Document) string { return d.Node })
	w.add(collect(rows, func(r *inventory.Row) int64 { return document(r).Since }))
	w.add(collect(rows, func(r *inventory.Row) int64 { return document(r).Collected }))
	w.add(collect(rows, func(r *inventory.Row) int64 { return r.Ingest }))
	w.add(collect(rows, func(r *inventory.Row) uint8 { return bit(r.Document == nil) }))
	w.add(collect(rows, func(r *inventory.Row) uint8 { return bit(document(r).Simulated) }))
	text(func(d *schema.Document) string { return d.Hash })
	text(func(d *schema.Document) string { return d.Host.Arch })
	text(func(d *schema.Document) string { return d.Host.Kernel })
	text(func(d *schema.Document) string { return d.Host.OS })
	text(func(d *schema.Document) string { return d.Host.OSVersion })
	text(func(d *schema.Document) string { return d.Host.BootID })
	text(func(d *schema.Document) string { return d.Host.Vendor })
	text(func(d *schema.Document) string { return d.Host.Product })
	text(func(d *schema.Document) string { return d.Host.Hypervisor })
	text(func(d *schema.Document) string { return d.CPU.Model })
	w.add(pointers(number(func(d *schema.Document) float64 { return float64(d.CPU.Sockets) }), to[uint16]))
	w.add(pointers(number(func(d *schema.Document) float64 { return float64(d.CPU.Cores) }), to[uint32]))
	w.add(pointers(number(func(d *schema.Document) float64 { return float64(d.CPU.Threads) }), to[uint32]))
	w.add(pointers(number(func(d *schema.Document) float64 { return float64(d.Memory.Total) }), to[uint64]))
	small(func(d *schema.Document) int { return len(d.NUMA) })
	small(func(d *schema.Document) int { return len(d.Devices) })
	small(func(d *schema.Document) int { return len(d.NICs) })
	text(func(d *schema.Document) string { return d.Place.Region })
	text(func(d *schema.Document) string { return d.Place.Zone })
	text(func(d *schema.Document) string { return d.Place.Rack })
	text(func(d *schema.Document) string { return d.Place.Switch })
	w.add(collect(rows, func(r *inventory.Row) uint8 { return bit(kubernetes(document(r)).Cordoned) }))
	labels(func(d *schema.Document) map[string]string { return d.Labels })
	labels(func(d *schema.Document) map[string]string { return kubernetes(d).Labels })
	texts(func(d *schema.Document) []string { return taints(kubernetes(d).Taints) })
	labels(func(d *schema.Document) map[string]string { return kubernetes(d).Allocatable })
	texts(func(d *schema.Document) []string { return d.Faults })
	labels(func(d *schema.Document) map[string]string { return d.Facts() })
	w.add(collect(rows, func(r *inventory.Row) string { return r.Text }))
}

func taints(ts []schema.Taint) []string {
	var out []string
	for _, t := range ts {
		out = append(out, t.Key+"="+t.Value+":"+t.Effect)
	}
	return out
}

// sorted shows a map to clickhouse-go in the order of its keys, so that a row that is
// written again has the same bytes.
func sorted(m map[string]string) *labelMap {
	l := &labelMap{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		l.labels = append(l.labels, wire.Label{Name: k, Value: m[k]})
	}
	return l
}

// unknown0 makes a number that a document leaves out NULL.
func unknown0(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

func to[T uint8 | uint16 | uint32 | uint64 | int16 | float32 | float64](v float64) T { return T(v) }

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
