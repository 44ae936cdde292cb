package snapshot

import (
	"slices"
	"strings"
)

// The kinds of vertices, in the order in which a relation names its two.
const (
	kindNode = iota
	kindDevice
	kindNIC
	kindNUMA
	kindPlace
	kinds
	kindNone = -1
)

// kindNames are the vertex sets of a graph.
var kindNames = [kinds]string{"nodes", "devices", "nics", "numas", "places"}

// vertex is one end of a link: a row of the set of its kind.
type vertex struct {
	kind int
	row  int32
}

// relation is links of one kind of ends, in CSR form: those of row i of from lead to
// to[indptr[i]:indptr[i+1]]. edge has of each link its row in the matrix of edges; it is nil where
// links have no features. Between two of one kind a link stands twice, once in each direction.
type relation struct {
	name, from, to string
	indptr         []int32
	indices        []int32
	edge           []int32
}

// topology is how nodes, devices and the parts of nodes hang together. It changes when
// one of them comes or goes, and not at each tick.
type topology struct {
	nodes, devices, edges *entities // that it was made of

	nics, numas, places parts
	relations           []relation
	unresolved          int // links with an end that is no row of the graph
}

// parts are vertices without features: network ports and NUMA nodes, by node and name, and
// places, whose node is empty.
type parts struct {
	node []string
	name []string
}

func (p *parts) len() int { return len(p.name) }

// linkRelations are the relations that links make; others are not resolved.
var linkRelations = []struct {
	name     string
	from, to int
}{
	{"node_node", kindNode, kindNode}, {"node_place", kindNode, kindPlace}, {"device_device", kindDevice, kindDevice}, {"device_nic", kindDevice, kindNIC},
	{"device_numa", kindDevice, kindNUMA}, {"nic_nic", kindNIC, kindNIC}, {"nic_numa", kindNIC, kindNUMA}, {"numa_numa", kindNUMA, kindNUMA},
}

// topologyOf resolves the ends of all links. Nodes are keyed by node, devices by (node, uid),
// edges by (node, src, dst); all are in the order of their keys, so that what is of one node
// lies side by side.
func topologyOf(nodes, devices, edges *entities) *topology {
	t := &topology{nodes: nodes, devices: devices, edges: edges}
	b := &linker{t: t, node: make(map[string]int32, nodes.n), place: map[string]int32{}}
	for i, name := range nodes.keys[0] {
		b.node[name] = int32(i)
	}
	b.places()
	b.ends = make([][2]vertex, edges.n)
	for from := 0; from < edges.n; {
		to := from
		for to < edges.n && edges.keys[0][to] == edges.keys[0][from] {
			to++
		}
		b.ofNode(edges.keys[0][from], from, to)
		from = to
	}
	t.relations = append(t.relations, b.membership())
	for _, r := range linkRelations {
		t.relations = append(t.relations, b.links(r.name, r.from, r.to))
	}
	for _, e := range b.ends {
		if !b.related(e) {
			t.unresolved++
		}
	}
	return t
}

// linker finds the vertices of names.
type linker struct {
	t     *topology
	node  map[string]int32 // nodes by name
	place map[string]int32 // places by name
	ends  [][2]vertex      // of each edge, the lower kind first
}

// placeKinds are the kinds of links that lead to a place, which names the place.
var placeKinds = []string{"rack:", "switch:", "zone:"}

func isPlace(name string) bool {
	return slices.ContainsFunc(placeKinds, func(kind string) bool { return strings.HasPrefix(name, kind) })
}

// places numbers the places of all nodes, by name.
func (b *linker) places() {
	var names []string
	for _, ends := range b.t.edges.keys[1:] {
		for _, name := range ends {
			if _, ok := b.place[name]; !ok && isPlace(name) {
				b.place[name] = 0
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for i, name := range names {
		b.place[name] = int32(i)
	}
	b.t.places = parts{node: make([]string, len(names)), name: names}
}

// ofNode resolves the edges from to to, which are those of one node.
func (b *linker) ofNode(node string, from, to int) {
	d := b.t.devices
	first, _ := slices.BinarySearch(d.keys[0], node)
	last := first
	for last < d.n && d.keys[0][last] == node {
		last++
	}
	local := localParts{node: node, uids: d.keys[1][first:last], firstDevice: int32(first)}
	local.nics = b.t.nics.take(node, "nic:", b.t.edges.keys[1][from:to], b.t.edges.keys[2][from:to])
	local.numas = b.t.numas.take(node, "numa:", b.t.edges.keys[1][from:to], b.t.edges.keys[2][from:to])
	for i := from; i < to; i++ {
		x, y := b.find(&local, b.t.edges.keys[1][i]), b.find(&local, b.t.edges.keys[2][i])
		if y.kind < x.kind {
			x, y = y, x
		}
		b.ends[i] = [2]vertex{x, y}
	}
}

// localParts are the vertices of one node.
type localParts struct {
	node        string
	uids        []string // of its devices
	firstDevice int32
	nics, numas numbered
}

// numbered is names in order, of which the first has a number.
type numbered struct {
	first int32
	names []string
}

// take numbers the parts of one node, by name, as the ends of its links name them.
func (p *parts) take(node, prefix string, ends ...[]string) numbered {
	first := p.len()
	for _, names := range ends {
		for _, name := range names {
			if strings.HasPrefix(name, prefix) {
				p.name = append(p.name, name)
			}
		}
	}
	slices.Sort(p.name[first:])
	p.name = append(p.name[:first], slices.Compact(p.name[first:])...)
	for len(p.node) < len(p.name) {
		p.node = append(p.node, node)
	}
	return numbered{int32(first), p.name[first:]}
}

func (n numbered) find(name string) (int32, bool) {
	i, ok := slices.BinarySearch(n.names, name)
	return n.first + int32(i), ok
}

// find is the vertex that a link of a node names. A device goes before what its name may look like.
func (b *linker) find(l *localParts, name string) vertex {
	if i, ok := slices.BinarySearch(l.uids, name); ok {
		return vertex{kindDevice, l.firstDevice + int32(i)}
	}
	if i, ok := l.nics.find(name); ok {
		return vertex{kindNIC, i}
	}
	if i, ok := l.numas.find(name); ok {
		return vertex{kindNUMA, i}
	}
	if i, ok := b.place[name]; ok {
		return vertex{kindPlace, i}
	}
	if i, ok := b.node[name]; ok {
		return vertex{kindNode, i}
	}
	return vertex{kind: kindNone}
}

// related says whether a relation has the link.
func (b *linker) related(e [2]vertex) bool {
	for _, r := range linkRelations {
		if r.from == e[0].kind && r.to == e[1].kind {
			return true
		}
	}
	return false
}

// size is how many vertices a kind has.
func (t *topology) size(kind int) int {
	return [kinds]int{t.nodes.n, t.devices.n, t.nics.len(), t.numas.len(), t.places.len()}[kind]
}

// membership is the devices of each node.
func (b *linker) membership() relation {
	of := make([]int32, b.t.devices.n)
	for i, node := range b.t.devices.keys[0] {
		of[i] = -1
		if n, ok := b.node[node]; ok {
			of[i] = n
		}
	}
	return csr("node_device", "nodes", "devices", b.t.nodes.n, func(yield func(from, to, edge int32)) {
		for device, node := range of {
			if node >= 0 {
				yield(node, int32(device), -1)
			}
		}
	}, false)
}

// links is the relation of two kinds.
func (b *linker) links(name string, from, to int) relation {
	return csr(name, kindNames[from], kindNames[to], b.t.size(from), func(yield func(from, to, edge int32)) {
		for i, e := range b.ends {
			if e[0].kind != from || e[1].kind != to {
				continue
			}
			yield(e[0].row, e[1].row, int32(i))
			if from == to && e[0].row != e[1].row {
				yield(e[1].row, e[0].row, int32(i))
			}
		}
	}, true)
}

// csr counts what each yields, then puts it in its place.
func csr(name, from, to string, rows int, each func(yield func(from, to, edge int32)), edges bool) relation {
	r := relation{name: name, from: from, to: to, indptr: make([]int32, rows+1)}
	each(func(f, _, _ int32) { r.indptr[f+1]++ })
	for i := range rows {
		r.indptr[i+1] += r.indptr[i]
	}
	next := slices.Clone(r.indptr)
	r.indices = make([]int32, r.indptr[rows])
	if edges {
		r.edge = make([]int32, r.indptr[rows])
	}
	each(func(f, t, e int32) {
		at := next[f]
		next[f]++
		r.indices[at] = t
		if edges {
			r.edge[at] = e
		}
	})
	return r
}
