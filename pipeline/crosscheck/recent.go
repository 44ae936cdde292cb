package crosscheck

// Recent is the flags that nodes and devices lately had, by the tick that their samples
// belong to. Only what has flags takes room.
type Recent struct {
	interval int64 // ms of a tick
	nodes    map[string]*flagged
}

// flagged is the flags of a node, and of each of its devices.
type flagged struct {
	node    marks
	devices map[string]*marks
}

type marks []mark

type mark struct {
	tick  int64 // number of the tick: event time / interval
	flags uint16
}

// NewRecent returns an empty Recent for ticks so many ms apart.
func NewRecent(interval int64) *Recent {
	return &Recent{interval: interval, nodes: map[string]*flagged{}}
}

// Empty says that nothing has flags.
func (r *Recent) Empty() bool { return len(r.nodes) == 0 }

// Note adds flags of samples at time t, unix ms, to a node and, if uid is not "", to the
// device.
func (r *Recent) Note(node, uid string, t int64, flags uint16) {
	n, ok := r.nodes[node]
	if !ok {
		n = &flagged{devices: map[string]*marks{}}
		r.nodes[node] = n
	}
	n.node.add(t/r.interval, flags)
	if uid == "" {
		return
	}
	d, ok := n.devices[uid]
	if !ok {
		d = &marks{}
		n.devices[uid] = d
	}
	d.add(t/r.interval, flags)
}

// Node is the flags of a node's samples within [from, to), whole ticks in unix ms.
func (r *Recent) Node(node string, from, to int64) uint16 {
	if n, ok := r.nodes[node]; ok {
		return n.node.between(from/r.interval, to/r.interval)
	}
	return 0
}

// Device is the same of a device's samples.
func (r *Recent) Device(node, uid string, from, to int64) uint16 {
	if n, ok := r.nodes[node]; ok {
		if d, ok := n.devices[uid]; ok {
			return d.between(from/r.interval, to/r.interval)
		}
	}
	return 0
}

// Forget drops what is older than low, unix ms.
func (r *Recent) Forget(low int64) {
	for name, n := range r.nodes {
		for uid, d := range n.devices {
			if d.forget(low / r.interval) {
				delete(n.devices, uid)
			}
		}
		if n.node.forget(low / r.interval) {
			delete(r.nodes, name)
		}
	}
}

func (m *marks) add(tick int64, flags uint16) {
	for i := len(*m) - 1; i >= 0; i-- {
		if (*m)[i].tick == tick {
			(*m)[i].flags |= flags
			return
		}
	}
	*m = append(*m, mark{tick, flags})
}

func (m marks) between(from, to int64) (flags uint16) {
	for _, x := range m {
		if x.tick >= from && x.tick < to {
			flags |= x.flags
		}
	}
	return flags
}

// forget reports whether nothing is left.
func (m *marks) forget(low int64) bool {
	kept := (*m)[:0]
	for _, x := range *m {
		if x.tick >= low {
			kept = append(kept, x)
		}
	}
	*m = kept
	return len(kept) == 0
}
