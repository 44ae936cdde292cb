package inventory

import (
	"slices"

	schema "sextant/schema/inventory"
)

// end is a part on PCI, as the end of links.
type end struct {
	schema.Part
	*schema.PCIPlace
}

// links draws the graph of the node: parts to NUMA nodes, NUMA nodes to each other,
// devices to each other and to NICs over PCIe, what sources stated, and the node to its
// surroundings.
func (r *reader) links() {
	r.onlyNUMA()
	var devices, nics, disks []end
	for i := range r.doc.Devices {
		devices = append(devices, end{schema.Part{Kind: schema.PartDevice, ID: r.doc.Devices[i].ID}, &r.doc.Devices[i].PCIPlace})
	}
	for i := range r.doc.NICs {
		nics = append(nics, end{schema.Part{Kind: schema.PartNIC, ID: r.doc.NICs[i].ID}, &r.doc.NICs[i].PCIPlace})
	}
	for i := range r.doc.Disks {
		disks = append(disks, end{schema.Part{Kind: schema.PartDisk, ID: r.doc.Disks[i].ID}, &r.doc.Disks[i].PCIPlace})
	}
	for _, e := range slices.Concat(devices, nics, disks) {
		r.local(e)
	}
	for i, a := range r.doc.NUMA {
		for _, b := range r.doc.NUMA[i+1:] {
			r.link(schema.Link{From: schema.NUMAPart(a.ID), To: schema.NUMAPart(b.ID), Kind: schema.LinkNUMA, Distance: r.distance(a.ID, b.ID), Origin: schema.OriginStated})
		}
	}
	for i, a := range devices {
		for _, b := range slices.Concat(devices[i+1:], nics) {
			r.pcie(a, b)
		}
	}
	r.statedLinks()
	r.surroundings()
}

func (r *reader) link(l schema.Link) { r.doc.Links = append(r.doc.Links, l) }

// onlyNUMA puts parts of unknown place on the only NUMA node, where there is one: the
// kernel does not trouble to say so.
func (r *reader) onlyNUMA() {
	if len(r.doc.NUMA) != 1 {
		return
	}
	settle := func(n *int) {
		if *n < 0 {
			*n = r.doc.NUMA[0].ID
		}
	}
	for i := range r.doc.Devices {
		settle(&r.doc.Devices[i].NUMA)
	}
	for i := range r.doc.NICs {
		settle(&r.doc.NICs[i].NUMA)
	}
	for i := range r.doc.Disks {
		settle(&r.doc.Disks[i].NUMA)
	}
	for i := range r.doc.PCI {
		settle(&r.doc.PCI[i].NUMA)
	}
}

// local links a part to its NUMA node, through all bridges above it.
func (r *reader) local(e end) {
	if !slices.ContainsFunc(r.doc.NUMA, func(n schema.NUMANode) bool { return n.ID == e.NUMA }) {
		return
	}
	l := schema.Link{From: e.Part, To: schema.NUMAPart(e.NUMA), Kind: schema.LinkLocal, Origin: schema.OriginDerived}
	if f := r.functions[e.PCI]; f != nil {
		w := r.way(f, 0)
		l.Hops, l.Bandwidth, l.Degraded = len(f.above), w.bandwidth(), w.degraded
	}
	r.link(l)
}

// pcie links two parts over PCIe.
func (r *reader) pcie(a, b end) {
	f, g := r.functions[a.PCI], r.functions[b.PCI]
	if f == nil || g == nil || f == g {
		return
	}
	shared := 0
	for shared < min(len(f.above), len(g.above)) && f.above[shared] == g.above[shared] {
		shared++
	}
	l := schema.Link{From: a.Part, To: b.Part, Origin: schema.OriginDerived, Distance: r.distance(a.NUMA, b.NUMA)}
	switch {
	case f.root == g.root && shared > 0:
		l.Kind, l.Hops = schema.LinkPCIeSwitch, len(f.above)+len(g.above)-2*shared+1
	case f.root == g.root:
		l.Kind, l.Hops = schema.LinkPCIeHost, len(f.above)+len(g.above)
	case a.NUMA >= 0 && a.NUMA == b.NUMA:
		l.Kind, l.Hops = schema.LinkPCIeNode, len(f.above)+len(g.above)
	default: // an unknown NUMA node counts as another one: better too far than too near
		l.Kind, l.Hops = schema.LinkPCIeSocket, len(f.above)+len(g.above)
	}
	w := r.way(f, shared)
	w.join(r.way(g, shared))
	l.Bandwidth, l.Degraded = w.bandwidth(), w.degraded
	r.link(l)
}

// way is the PCIe links from a part up.
type way struct {
	narrowest float64 // bytes/s
	known     bool    // every link on it told its speed
	degraded  bool
}

// way goes from f up to the bridges that are shared, those not included.
func (r *reader) way(f *function, shared int) way {
	w := way{known: len(f.above) > 0}
	below := []*function{f}
	for _, a := range f.above[shared:] {
		if up := r.functions[a]; up != nil {
			below = append(below, up)
		}
	}
	for _, step := range below {
		switch {
		case !step.onLink():
		case step.link == nil:
			w.known = false
		default:
			w.degraded = w.degraded || step.link.Degraded()
			if w.narrowest == 0 || step.link.Bandwidth < w.narrowest {
				w.narrowest = step.link.Bandwidth
			}
		}
	}
	return w
}

func (w *way) join(o way) {
	w.known, w.degraded = w.known && o.known, w.degraded || o.degraded
	if w.narrowest == 0 || o.narrowest > 0 && o.narrowest < w.narrowest {
		w.narrowest = o.narrowest
	}
}

// bandwidth is 0 when a link on the way did not tell its speed.
func (w *way) bandwidth() float64 {
	if !w.known {
		return 0
	}
	return w.narrowest
}

// statedLinks adds the links of sources, with the parts by their ids.
func (r *reader) statedLinks() {
	seen := map[[3]string]bool{}
	for _, x := range r.stated {
		from, ok := r.find(x.From)
		to, ok2 := r.find(x.To)
		if !ok || !ok2 || from == to || !slices.Contains(schema.LinkKinds, x.Kind) {
			r.fault("link %s from %s to %s: unknown kind or part", x.Kind, x.From, x.To)
			continue
		}
		if to.Kind == from.Kind && to.ID < from.ID {
			from, to = to, from
		}
		if key := [3]string{from.ID, to.ID, string(x.Kind)}; seen[key] {
			continue // the other end told of it too
		} else {
			seen[key] = true
		}
		r.link(schema.Link{From: from, To: to, Kind: x.Kind, Bandwidth: x.Bandwidth, Latency: x.Latency, Count: x.Count, Origin: schema.OriginStated})
	}
}

// find is the part with that PCI address, uid, id or network name.
func (r *reader) find(name string) (schema.Part, bool) {
	address := plainAddress(name)
	for i := range r.doc.Devices {
		if v := &r.doc.Devices[i]; name != "" && (v.PCI == address || v.ID == name) {
			return schema.Part{Kind: schema.PartDevice, ID: v.ID}, true
		}
	}
	for i := range r.doc.NICs {
		if v := &r.doc.NICs[i]; name != "" && (v.PCI == address || v.ID == name || v.Name == name) {
			return schema.Part{Kind: schema.PartNIC, ID: v.ID}, true
		}
	}
	return schema.Part{}, false
}

// surroundings links the node to its rack, zone and switch, and to the nodes that the
// configuration measured. All nodes of a rack are not linked to each other: that would be
// a graph of N² links that says no more.
func (r *reader) surroundings() {
	node := schema.Part{Kind: schema.PartNode, ID: r.doc.Node}
	p := r.doc.Place
	for _, to := range []struct {
		kind schema.LinkKind
		name string
	}{{schema.LinkSwitch, p.Switch}, {schema.LinkRack, p.Rack}, {schema.LinkZone, p.Zone}} {
		if to.name != "" {
			r.link(schema.Link{From: node, To: schema.Part{Kind: schema.PartPlace, ID: to.name}, Kind: to.kind, Origin: schema.OriginConfigured})
		}
	}
	for _, n := range r.cfg.Neighbours {
		if n.Node != r.doc.Node {
			r.link(schema.Link{From: node, To: schema.Part{Kind: schema.PartNode, ID: n.Node}, Kind: schema.LinkNetwork,
				Latency: n.Latency, Bandwidth: n.Bandwidth, Origin: schema.OriginConfigured})
		}
	}
}
