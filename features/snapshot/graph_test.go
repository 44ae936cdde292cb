package snapshot

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"sextant/features"
)

// graphWorld has what a graph needs.
func graphWorld() *world {
	node, task := viewOf("box", time.Minute, []string{"node"}, "busy"), viewOf("job", time.Minute, []string{"task"}, "wait")
	static, monitoring := viewOf("device_static", time.Hour, []string{"node", "uid"}, "bytes", "model"), viewOf("device_monitoring", time.Minute, []string{"node", "uid"}, "busy", "bytes")
	static.Features[1].DType = features.String
	link := viewOf("link", time.Hour, []string{"node", "src", "dst"}, "rate")
	set := &features.Set{Views: []*features.View{node, task, static, monitoring, link}, Services: []*features.Service{
		serviceOf("node_state", []string{"node"}, node), serviceOf("edge_state", []string{"node", "src", "dst"}, link), serviceOf("task_state", []string{"task"}, task)}}
	return &world{set: set, rows: map[*features.View][]row{}}
}

// randomGraph stores nodes, devices, links of every kind, some of which lead nowhere, tasks, and
// where those are.
func (w *world) randomGraph(r *rand.Rand, at int64) {
	view := func(name string) *features.View { v, _ := w.set.View(name); return v }
	nodes := []string{"a", "b", "nic:0", "no-row", "z"} // one that is called like a part
	device := func() string {
		return []string{"GPU-1", "GPU-2", "pci:0000:17:00.0", "rack:r1", "GPU-9"}[r.IntN(5)]
	}
	for i, n := range nodes {
		if n != "no-row" {
			w.add(view("box"), at, at, []float64{float64(i)}, n)
		}
		for range 3 {
			if d := device(); d != "GPU-9" && !(n != "a" && d == "rack:r1") {
				w.add(view("device_monitoring"), at, at, []float64{1, 2}, n, d)
			}
		}
	}
	end := func() string {
		return []string{device(), device(), "numa:0", "numa:1", "nic:0", "nic:0000:18:00.0", "rack:r1", "zone:x", "switch:s", nodes[r.IntN(5)], "disk:sda"}[r.IntN(11)]
	}
	for range 60 {
		w.add(view("link"), at, at, []float64{r.Float64()}, nodes[r.IntN(5)], end(), end())
	}
	for i := range 10 {
		task := fmt.Sprint("t", r.IntN(6))
		w.add(view("job"), at, at, []float64{float64(i)}, task)
		w.bound = append(w.bound, features.Placement{Task: fmt.Sprint("t", r.IntN(8)), Node: nodes[r.IntN(5)], Devices: []string{device(), device()}})
	}
}

// graphTable is a graph as a client read it: by relation, "from > to" with the edge in brackets.
type graphTable struct {
	header    map[string]any
	relations map[string][]string
}

// rawGraph reads a flat graph.
func rawGraph(t testing.TB, file []byte) graphTable {
	t.Helper()
	size := int(binary.LittleEndian.Uint32(file[4:]))
	var h struct {
		Sections []struct {
			Name, DType string
			Shape       []int
			Offset      int
			Bytes       int
		}
		Relations []struct {
			Name, From, To string
			Edges          bool
		}
	}
	g := graphTable{relations: map[string][]string{}}
	for _, into := range []any{&h, &g.header} {
		if err := json.Unmarshal(file[8:8+size], into); err != nil {
			t.Fatal(err)
		}
	}
	texts, ints := map[string][]string{}, map[string][]int{}
	u32 := func(at int) int { return int(int32(binary.LittleEndian.Uint32(file[at:]))) }
	for _, s := range h.Sections {
		if s.Offset%64 != 0 || s.Offset+s.Bytes > len(file) {
			t.Fatalf("section %s at %d", s.Name, s.Offset)
		}
		set, _, isKey := strings.Cut(s.Name, "/keys/")
		for i := range s.Shape[0] {
			switch {
			case s.DType == "int32":
				ints[s.Name] = append(ints[s.Name], u32(s.Offset+4*i))
			case isKey:
				text := s.Offset + 4*(s.Shape[0]+1)
				value := string(file[text+u32(s.Offset+4*i) : text+u32(s.Offset+4*i+4)])
				if len(texts[set]) <= i {
					texts[set] = append(texts[set], value)
				} else {
					texts[set][i] += " " + value
				}
			}
		}
	}
	for _, r := range h.Relations {
		g.relations[r.Name] = decodeCSR(texts[r.From], texts[r.To], texts["edges"], ints[r.Name+"/indptr"], ints[r.Name+"/indices"], ints[r.Name+"/edge"])
	}
	return g
}

func decodeCSR(from, to, edges []string, indptr, indices, edge []int) []string {
	out := []string{}
	for i := range from {
		for at := indptr[i]; at < indptr[i+1]; at++ {
			line := from[i] + " > " + to[indices[at]]
			if edge != nil {
				line += " [" + edges[edge[at]] + "]"
			}
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

// arrowGraph reads the streams of an Arrow graph, one behind the other.
func arrowGraph(t testing.TB, body []byte) graphTable {
	t.Helper()
	type list struct{ indptr, indices, edge []int }
	g := graphTable{relations: map[string][]string{}}
	texts, lists := map[string][]string{}, map[string]list{}
	for in := bytes.NewReader(body); in.Len() > 0; {
		r, err := ipc.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		meta := r.Schema().Metadata()
		var about struct {
			Name  string
			Graph map[string]any
		}
		if err := json.Unmarshal([]byte(meta.Values()[meta.FindKey("sextant")]), &about); err != nil {
			t.Fatal(err)
		}
		if about.Graph != nil {
			g.header = about.Graph
		}
		for r.Next() {
			b := r.RecordBatch()
			var l list
			for c := range int(b.NumCols()) {
				switch col := b.Column(c).(type) {
				case *array.String:
					for i := range col.Len() {
						if c == 0 {
							texts[about.Name] = append(texts[about.Name], col.Value(i))
						} else {
							texts[about.Name][i] += " " + col.Value(i)
						}
					}
				case *array.List:
					l.indptr = nil
					for _, o := range col.Offsets() {
						l.indptr = append(l.indptr, int(o))
					}
					into := &l.indices
					if b.ColumnName(c) == "edge" {
						into, l.edge = &l.edge, []int{}
					}
					for _, x := range col.ListValues().(*array.Int32).Int32Values() {
						*into = append(*into, int(x))
					}
				}
			}
			lists[about.Name] = l
		}
		if r.Err() != nil && !errors.Is(r.Err(), io.EOF) {
			t.Fatal(r.Err())
		}
		r.Release()
	}
	for _, x := range g.header["relations"].([]any) {
		r := x.(map[string]any)
		name := r["name"].(string)
		g.relations[name] = decodeCSR(texts[r["from"].(string)], texts[r["to"].(string)], texts["edges"], lists[name].indptr, lists[name].indices, lists[name].edge)
	}
	return g
}

func jsonGraph(t testing.TB, body []byte) graphTable {
	t.Helper()
	var h struct {
		Relations []struct{ Name, From, To string }
		Data      map[string]struct {
			Keys                  map[string][]string
			Values                [][]any
			Indptr, Indices, Edge []int
		}
	}
	g := graphTable{relations: map[string][]string{}}
	for _, into := range []any{&h, &g.header} {
		if err := json.Unmarshal(body, into); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
	}
	names := func(set string) []string {
		k := h.Data[set].Keys
		order := map[string][]string{"nodes": {"node"}, "devices": {"node", "uid"}, "edges": {"node", "src", "dst"}, "tasks": {"task"}, "nics": {"node", "nic"}, "numas": {"node", "numa"}, "places": {"node", "place"}}[set]
		out := make([]string, len(k[order[0]]))
		for i := range out {
			for j, key := range order {
				out[i] += strings.Repeat(" ", min(j, 1)) + k[key][i]
			}
		}
		return out
	}
	for _, r := range h.Relations {
		d := h.Data[r.Name]
		g.relations[r.Name] = decodeCSR(names(r.From), names(r.To), names("edges"), d.Indptr, d.Indices, d.Edge)
	}
	return g
}

// graphOracle says which lines a graph has, by looking at every pair.
func (w *world) graphOracle() (relations map[string][]string, unresolved int) {
	relations = map[string][]string{}
	for _, name := range []string{"node_device", "node_node", "node_place", "device_device", "device_nic", "device_numa", "nic_nic", "nic_numa", "numa_numa", "task_node", "task_device"} {
		relations[name] = []string{}
	}
	has := func(view string, keys ...string) bool {
		v, _ := w.set.View(view)
		return slices.ContainsFunc(w.rows[v], func(r row) bool { return slices.Equal(r.keys, keys) })
	}
	kindOf := func(node, name string) (kind, full string) {
		switch {
		case has("device_monitoring", node, name):
			return "device", node + " " + name
		case strings.HasPrefix(name, "nic:"):
			return "nic", node + " " + name
		case strings.HasPrefix(name, "numa:"):
			return "numa", node + " " + name
		case strings.HasPrefix(name, "rack:"), strings.HasPrefix(name, "zone:"), strings.HasPrefix(name, "switch:"):
			return "place", " " + name
		case has("box", name):
			return "node", name
		}
		return "", ""
	}
	link, _ := w.set.View("link")
	seen := map[string]bool{}
	for _, r := range w.rows[link] {
		edge := strings.Join(r.keys, " ")
		if seen[edge] {
			continue
		}
		seen[edge] = true
		ka, a := kindOf(r.keys[0], r.keys[1])
		kb, b := kindOf(r.keys[0], r.keys[2])
		if _, ok := relations[kb+"_"+ka]; ok && ka != kb {
			ka, a, kb, b = kb, b, ka, a
		}
		if _, ok := relations[ka+"_"+kb]; !ok || ka+kb == "nodedevice" { // which is membership, and has no links
			unresolved++
			continue
		}
		relations[ka+"_"+kb] = append(relations[ka+"_"+kb], a+" > "+b+" ["+edge+"]")
		if ka == kb && a != b {
			relations[ka+"_"+kb] = append(relations[ka+"_"+kb], b+" > "+a+" ["+edge+"]")
		}
	}
	device, _ := w.set.View("device_monitoring")
	members := map[string]bool{}
	for _, r := range w.rows[device] {
		if line := r.keys[0] + " > " + r.keys[0] + " " + r.keys[1]; has("box", r.keys[0]) && !members[line] {
			members[line] = true
			relations["node_device"] = append(relations["node_device"], line)
		}
	}
	for _, p := range w.bound {
		same := 0
		for _, q := range w.bound {
			if q.Task == p.Task {
				same++
			}
		}
		if same > 1 || !has("job", p.Task) || !has("box", p.Node) {
			continue
		}
		relations["task_node"] = append(relations["task_node"], p.Task+" > "+p.Node)
		for _, d := range p.Devices {
			if has("device_monitoring", p.Node, d) {
				relations["task_device"] = append(relations["task_device"], p.Task+" > "+p.Node+" "+d)
			}
		}
	}
	for _, lines := range relations {
		slices.Sort(lines)
	}
	return relations, unresolved
}

func TestGraphAgainstOracle(t *testing.T) {
	links, lost := map[string]int{}, 0
	for seed := range uint64(60) {
		w := graphWorld()
		w.at(start.Add(8 * time.Second))
		w.randomGraph(rand.New(rand.NewPCG(seed, 3)), start.UnixMilli())
		want, unresolved := w.graphOracle()
		s := published(t, w)
		for _, asOf := range []string{"", "&as_of=2026-03-01T12:00:09Z"} {
			if asOf != "" { // from the store
				w.at(start.Add(30 * time.Second))
			}
			for format, read := range map[string]func(testing.TB, []byte) graphTable{"raw": rawGraph, "arrow": arrowGraph, "json": jsonGraph} {
				if asOf != "" {
					s.current.Store(nil)
				}
				answer := get(s.Handler(), "/v1/graph?format="+format+asOf)
				if answer.Code != 200 {
					t.Fatalf("%s: %d %s", format, answer.Code, answer.Body)
				}
				g := read(t, answer.Body.Bytes())
				if g.header["version"] != float64(start.UnixMilli()) || fmt.Sprint(g.header["unresolved"].(map[string]any)["links"]) != fmt.Sprint(unresolved) {
					t.Errorf("seed %d %s%s: version %v, unresolved %v, want %d", seed, format, asOf, g.header["version"], g.header["unresolved"], unresolved)
				}
				if len(g.relations) != len(want) {
					t.Errorf("%d relations, want %d", len(g.relations), len(want))
				}
				for name, lines := range want {
					if !slices.Equal(g.relations[name], lines) {
						t.Fatalf("seed %d %s%s: %s is\n%s\nwant\n%s", seed, format, asOf, name, strings.Join(g.relations[name], "\n"), strings.Join(lines, "\n"))
					}
				}
			}
		}
		for name, lines := range want {
			links[name] += len(lines)
		}
		lost += unresolved
	}
	for name, n := range links {
		if n < 10 {
			t.Errorf("%d links of %s in all worlds", n, name)
		}
	}
	if lost < 10 {
		t.Errorf("%d links lead nowhere", lost)
	}
}

// The parts of a graph are of one version, and what does not change is not made again.
func TestGraphOfTheNextVersion(t *testing.T) {
	w := graphWorld()
	w.at(start.Add(8 * time.Second))
	w.randomGraph(rand.New(rand.NewPCG(1, 3)), start.UnixMilli())
	s := published(t, w)
	first, err := s.graph(s.current.Load())
	if err != nil {
		t.Fatal(err)
	}
	w.fail(errAway) // the store says no more where tasks are
	w.at(start.Add(18 * time.Second))
	s.publish(momentAt(w.clock().UnixMilli(), s.opts.Settle))
	next, err := s.graph(s.current.Load())
	if err != nil {
		t.Fatal(err)
	}
	if next.top != first.top {
		t.Error("the topology is made anew")
	}
	h := next.header
	if h.Version != first.header.Version+10_000 || h.Nodes.Version != h.Version || h.Edges.Version != h.Version || h.Devices.Version != h.Version || h.Tasks.Version != h.Version {
		t.Errorf("versions %+v", h)
	}
	if !h.Placed.Late || h.Placed.Tick != first.header.Version || first.header.Placed.Late {
		t.Errorf("placed %+v, before %+v", h.Placed, first.header.Placed)
	}
}

func TestGraphNeedsItsServices(t *testing.T) {
	s := published(t, someWorld())
	if got := get(s.Handler(), "/v1/graph"); got.Code != 404 || !strings.Contains(got.Body.String(), `graph: service: \"node_state\" is not defined`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := get(s.Handler(), "/v1/graph?service=x"); got.Code != 400 || !strings.Contains(got.Body.String(), "service: no such parameter: want as_of, format") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	set, err := features.Read(features.BuiltinSource())
	if err != nil {
		t.Fatal(err)
	}
	if ps := newPlans(set); ps.graph == nil || len(ps.graph.devices.columns) < 50 {
		t.Errorf("the built-in features make no graph: %v", ps.noGraph)
	}
}
