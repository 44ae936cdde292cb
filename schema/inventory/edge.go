package inventory

import "math"

// EdgeFeature is one number of the vector that describes a link to a model.
type EdgeFeature struct {
	Name, Unit, Doc string
	value           func(*Link) float64
}

// MaxEdgeFeatures is how many numbers a model takes of each edge.
const MaxEdgeFeatures = 32

// EdgeFeatures are the features of a link, in the order of the vector. The order is part
// of the contract: a feature is only ever added at the end.
func EdgeFeatures() []EdgeFeature {
	var out []EdgeFeature
	for _, k := range LinkKinds {
		out = append(out, EdgeFeature{"kind_" + string(k), "0 or 1", "the link is of this kind", func(l *Link) float64 { return flag(l.Kind == k) }})
	}
	for _, p := range []PartKind{PartDevice, PartNIC, PartDisk, PartNUMA, PartNode, PartPlace} {
		out = append(out, EdgeFeature{"ends_" + string(p), "0, 1 or 2", "ends of this kind",
			func(l *Link) float64 { return flag(l.From.Kind == p) + flag(l.To.Kind == p) }})
	}
	return append(out,
		EdgeFeature{"bandwidth_log2", "log2 GB/s", "log2(1 + bandwidth / 1e9)", func(l *Link) float64 { return math.Log2(1 + l.Bandwidth/1e9) }},
		EdgeFeature{"bandwidth_known", "0 or 1", "the bandwidth is known", func(l *Link) float64 { return flag(l.Bandwidth > 0) }},
		EdgeFeature{"latency_log10", "log10 ns", "log10(1 + latency / 1e-9)", func(l *Link) float64 { return math.Log10(1 + l.Latency/1e-9) }},
		EdgeFeature{"latency_known", "0 or 1", "the latency is known", func(l *Link) float64 { return flag(l.Latency > 0) }},
		EdgeFeature{"numa_distance", "tens", "ACPI distance over 10: 1 is local, 0 unknown", func(l *Link) float64 { return float64(l.Distance) / 10 }},
		EdgeFeature{"pcie_hops", "bridges", "PCIe bridges on the way", func(l *Link) float64 { return float64(l.Hops) }},
		EdgeFeature{"links", "links", "physical links side by side; 1 where the source does not count", func(l *Link) float64 { return float64(max(l.Count, 1)) }},
		EdgeFeature{"degraded", "0 or 1", "a PCIe link on the way lacks lanes", func(l *Link) float64 { return flag(l.Degraded) }},
		EdgeFeature{"stated", "0 or 1", "told by driver, firmware or library", func(l *Link) float64 { return flag(l.Origin == OriginStated) }},
		EdgeFeature{"configured", "0 or 1", "told by the configuration", func(l *Link) float64 { return flag(l.Origin == OriginConfigured) }},
		EdgeFeature{"same_numa", "0 or 1", "both ends are known to be on one NUMA node", func(l *Link) float64 { return flag(l.Distance == localDistance) }},
		EdgeFeature{"fabric", "0 or 1", "over a fabric of accelerators", func(l *Link) float64 {
			return flag(l.Kind == LinkNVLink || l.Kind == LinkXGMI || l.Kind == LinkHCCS)
		}},
		EdgeFeature{"links_known", "0 or 1", "physical links are counted", func(l *Link) float64 { return flag(l.Count > 0) }},
	)
}

// localDistance is ACPI's for a NUMA node and itself.
const localDistance = 10

// Vector appends the link's features to dst. All are finite.
func (l *Link) Vector(dst []float32) []float32 {
	for _, f := range edgeFeatures {
		dst = append(dst, float32(f.value(l)))
	}
	return dst
}

var edgeFeatures = EdgeFeatures()

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
