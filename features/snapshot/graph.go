package snapshot

import (
	"context"
	"slices"
	"strings"
	"time"

	"sextant/features"
)

// placed is the placements as they were at a moment.
type placed struct {
	Moment
	rows []features.Placement // by task
}

// graph is the cluster as vertices, relations and the matrices of their features, all of one
// moment. It never changes once it is built.
type graph struct {
	nodes, devices, edges, tasks *matrix
	top                          *topology
	relations                    []relation
	header                       graphHeader
}

// graphHeader is the JSON header of a graph.
type graphHeader struct {
	Kind       string           `json:"kind"`
	Version    int64            `json:"version"` // unix ms
	Tick       int64            `json:"tick"`    // unix ms, the same
	Known      int64            `json:"known"`   // unix ms, Moment.At
	Vertices   map[string]int   `json:"vertices"`
	Relations  []headerRelation `json:"relations"`
	Placed     headerPlaced     `json:"placed"`
	Unresolved headerUnresolved `json:"unresolved"`
	Nodes      header           `json:"nodes"` // of the matrices
	Devices    header           `json:"devices"`
	Edges      header           `json:"edges"`
	Tasks      header           `json:"tasks"`
	Sections   []section        `json:"sections,omitempty"` // of a flat file alone
}

type headerRelation struct {
	Name  string `json:"name"`
	From  string `json:"from"`
	To    string `json:"to"`
	Links int    `json:"links"`
	Edges bool   `json:"edges"` // links have a row in the matrix of edges
}

// headerPlaced says as of when tasks are placed.
type headerPlaced struct {
	Tick  int64 `json:"tick"`  // unix ms; 0: it is not known where any task is
	Known int64 `json:"known"` // unix ms
	Tasks int   `json:"tasks"` // that are bound
	Late  bool  `json:"late"`  // they are of an earlier version: clickhouse did not answer
}

// headerUnresolved counts what leads to no vertex of the graph.
type headerUnresolved struct {
	Links   int `json:"links"`
	Tasks   int `json:"tasks"`   // bound to a node that is no row, or without features
	Devices int `json:"devices"` // that a task has
}

// join makes the graph of matrices of one moment.
func join(m Moment, nodes, devices, edges, tasks *matrix, top *topology, where placed) *graph {
	g := &graph{nodes: nodes, devices: devices, edges: edges, tasks: tasks, top: top}
	h := graphHeader{Kind: "graph", Version: m.Tick, Tick: m.Tick, Known: m.At, Vertices: map[string]int{"tasks": tasks.ents.n},
		Placed:     headerPlaced{Tick: where.Tick, Known: where.At, Tasks: len(where.rows), Late: where.Tick != m.Tick},
		Unresolved: headerUnresolved{Links: top.unresolved}, Nodes: nodes.header, Devices: devices.header, Edges: edges.header, Tasks: tasks.header}
	for kind, name := range kindNames {
		h.Vertices[name] = top.size(kind)
	}
	g.relations = append(slices.Clone(top.relations), g.place(where, &h.Unresolved)...)
	for _, r := range g.relations {
		h.Relations = append(h.Relations, headerRelation{r.name, r.from, r.to, len(r.indices), r.edge != nil})
	}
	g.header = h
	return g
}

// place is the relations of tasks: the node of each, and its devices.
func (g *graph) place(where placed, lost *headerUnresolved) []relation {
	var node, device [][2]int32
	names, d := g.tasks.ents.keys[0], g.devices.ents
	for _, p := range where.rows {
		task, ok := slices.BinarySearch(names, p.Task)
		n, known := slices.BinarySearch(g.nodes.ents.keys[0], p.Node)
		if !ok || !known {
			lost.Tasks++
			continue
		}
		node = append(node, [2]int32{int32(task), int32(n)})
		first, _ := slices.BinarySearch(d.keys[0], p.Node)
		for _, uid := range p.Devices {
			at := first
			for at < d.n && d.keys[0][at] == p.Node && d.keys[1][at] != uid {
				at++
			}
			if at == d.n || d.keys[0][at] != p.Node {
				lost.Devices++
				continue
			}
			device = append(device, [2]int32{int32(task), int32(at)})
		}
	}
	all := func(pairs [][2]int32) func(func(from, to, edge int32)) {
		return func(yield func(from, to, edge int32)) {
			for _, p := range pairs {
				yield(p[0], p[1], -1)
			}
		}
	}
	n := g.tasks.ents.n
	return []relation{csr("task_node", "tasks", "nodes", n, all(node), false), csr("task_device", "tasks", "devices", n, all(device), false)}
}

// unique leaves out tasks that two clusters bind to nodes under one name: it is not known
// which of them a row of features is of.
func unique(rows []features.Placement) []features.Placement {
	slices.SortFunc(rows, func(a, b features.Placement) int {
		return strings.Compare(a.Task, b.Task)
	})
	out := rows[:0]
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && rows[j].Task == rows[i].Task {
			j++
		}
		if j == i+1 {
			out = append(out, rows[i])
		}
		i = j
	}
	return out
}

// placeTimeout is how long clickhouse may take to say where tasks are, before the version goes
// without.
const placeTimeout = 5 * time.Second

// placedAt asks where tasks are. While the store does not answer it is what was known last.
func (s *Server) placedAt(m Moment) placed {
	ctx, cancel := context.WithTimeout(context.Background(), placeTimeout) // of no request: all share the answer
	defer cancel()
	defer s.metrics.took("placed")()
	rows, err := s.past.Placed(ctx, m.Tick, m.At)
	if err != nil {
		s.opts.Log.Warn("not known where tasks are at this version", "version", m.Tick, "err", err)
		if last := s.placed.Load(); last != nil {
			return *last
		}
		return placed{}
	}
	p := placed{m, unique(rows)}
	s.placed.Store(&p)
	return p
}

// topology is the one of these rows, made anew only if they are others than last time.
func (s *Server) topology(nodes, devices, edges *entities) *topology {
	if t := s.top.Load(); t != nil && t.nodes == nodes && t.devices == devices && t.edges == edges {
		return t
	}
	defer s.metrics.took("topology")()
	t := topologyOf(nodes, devices, edges)
	s.top.Store(t)
	return t
}

// graph is the graph of an edition.
func (s *Server) graph(e *edition) (*graph, error) {
	return once(&e.mu, e.graphs, s.plans.graph, func() (*graph, error) {
		var parts []*matrix
		for _, p := range s.plans.graph.all() {
			x, err := s.matrix(e, p)
			if err != nil {
				return nil, err
			}
			parts = append(parts, x)
		}
		where := s.placedAt(e.Moment)
		defer s.metrics.took("graph")()
		return join(e.Moment, parts[0], parts[1], parts[2], parts[3], s.topology(parts[0].ents, parts[1].ents, parts[2].ents), where), nil
	})
}

// pastGraph is the graph of a version that is over.
func (s *Server) pastGraph(ctx context.Context, m Moment) (*graph, error) {
	var parts []*matrix
	for _, p := range s.plans.graph.all() {
		x, err := s.pastMatrix(ctx, p, m)
		if err != nil {
			return nil, err
		}
		parts = append(parts, x)
	}
	rows, err := s.past.Placed(ctx, m.Tick, m.At)
	if err != nil {
		return nil, errPast{err}
	}
	top := topologyOf(parts[0].ents, parts[1].ents, parts[2].ents)
	return join(m, parts[0], parts[1], parts[2], parts[3], top, placed{m, unique(rows)}), nil
}
