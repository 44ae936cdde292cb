// Package window holds the recent past of the series that feature views read, and shows
// it to the PromQL engine. It is pure: no clock, goroutine or client.
package window

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Store keeps, for each series that some expression selects, the points that a later
// tick may read. Series of a node lie in one group; a query sees one group, so that
// its working set fits the cache and a fault in one node's data stays near that node.
type Store struct {
	selectors []*Selector
	byFirst   map[*labels.Matcher]int // by the first matcher of each kept expression's selectors
	byKey     map[string]int
	byName    map[string][]int // selectors with a fixed metric name
	unnamed   []int
	history   int64 // the longest of all selectors, ms
	next      int64 // the next tick to close: no later one reads before next - history

	kinds  map[string]*kind
	groups []*group
	nodes  map[string]*node
	size   int // nodes per group
	live   int // attached series
}

// group is the series of some nodes, listed per selector.
type group struct {
	nodes int
	lists []list // by selector
	live  int
}

// node is where the series of a node lie, and the columns that they share.
type node struct {
	name    string
	group   *group
	columns []*column
}

// list is the series of one selector.
type list struct {
	series  []*Series // sorted by nodes and labels unless dirty
	dirty   bool
	version uint64 // counts changes, from 1 on
}

// NewStore returns a store that keeps nothing yet. groupSize is nodes per group.
func NewStore(groupSize int) *Store {
	return &Store{
		byFirst: map[*labels.Matcher]int{},
		byKey:   map[string]int{},
		byName:  map[string][]int{},
		nodes:   map[string]*node{},
		kinds:   map[string]*kind{},
		size:    groupSize,
	}
}

// Keep has the store hold what an expression reads, and makes Select answer its
// selectors. Call it before there are series. lookback is how long a sample stands for
// its series in an instant selector.
func (st *Store) Keep(expr parser.Expr, lookback time.Duration) error {
	sels, err := selectorsOf(expr, lookback)
	if err != nil {
		return err
	}
	for _, s := range sels {
		st.byFirst[s.matchers[0]] = st.addSelector(s)
	}
	return nil
}

// addSelector returns the index of a selector, which may have been there.
func (st *Store) addSelector(s *Selector) int {
	st.history = max(st.history, s.history)
	if i, ok := st.byKey[s.key]; ok {
		st.selectors[i].history = max(st.selectors[i].history, s.history)
		return i
	}
	i := len(st.selectors)
	st.selectors = append(st.selectors, s)
	st.byKey[s.key] = i
	if s.name == "" {
		st.unnamed = append(st.unnamed, i)
	} else {
		st.byName[s.name] = append(st.byName[s.name], i)
	}
	return i
}

// History is the longest time before a tick that any expression reads, in ms.
func (st *Store) History() int64 { return st.history }

// Len is the number of series held.
func (st *Store) Len() int { return st.live }

// SetNext says which tick closes next, in unix ms: older points may go.
func (st *Store) SetNext(tick int64) { st.next = tick }

// Reads says whether a series of that name may be selected by some expression.
func (st *Store) Reads(name string) bool {
	return len(st.unnamed) > 0 || len(st.byName[name]) > 0
}

// NewSeries returns the window of a series of a node, or nil when no expression selects
// it. It takes its place in the store with its first point. Call it once per series.
func (st *Store) NewSeries(nodeName string, ls labels.Labels) *Series {
	k := st.kindOf(ls)
	if k == nil {
		return nil
	}
	return &Series{Labels: ls, kind: k, node: st.node(nodeName)}
}

// kindOf returns the kind of a series with these labels, or nil when nothing selects it.
func (st *Store) kindOf(ls labels.Labels) *kind {
	k := kind{}
	var key []byte
	for _, list := range [][]int{st.byName[ls.Get(labels.MetricName)], st.unnamed} {
		for _, i := range list {
			if st.selectors[i].matches(ls) {
				k.selectors = append(k.selectors, i)
				k.keep = max(k.keep, st.selectors[i].history)
				key = binary.AppendUvarint(key, uint64(i))
			}
		}
	}
	if k.selectors == nil {
		return nil
	}
	known, ok := st.kinds[string(key)]
	if !ok {
		known = &k
		st.kinds[string(key)] = known
	}
	return known
}

// Buffers gives series that were made together buffers that lie together, in their
// order: a scrape then walks memory forward. interval is the expected distance of their
// points in ms.
func (st *Store) Buffers(series []*Series, interval int64) {
	total := 0
	for _, s := range series {
		total += s.room(interval)
	}
	values := make([]float64, total)
	for _, s := range series {
		n := s.room(interval)
		s.values, values = values[:0:n], values[n:]
	}
}

// room is the number of points that a buffer holds: the history, and an eighth more so that
// old points are moved out in bulk.
func (s *Series) room(interval int64) int {
	n := int(s.kind.keep/interval) + 4
	return n + n/8
}

func (st *Store) node(name string) *node {
	if n, ok := st.nodes[name]; ok {
		return n
	}
	n := &node{name: name, group: st.room()}
	n.group.nodes++
	st.nodes[name] = n
	return n
}

// room returns a group that has room for a node.
func (st *Store) room() *group {
	for _, g := range st.groups {
		if g.nodes < st.size {
			return g
		}
	}
	g := &group{lists: make([]list, len(st.selectors))}
	st.groups = append(st.groups, g)
	return g
}

// Forget frees a node's place. Its series must not be added to again.
func (st *Store) Forget(node string) {
	if n, ok := st.nodes[node]; ok {
		n.group.nodes--
		delete(st.nodes, node)
	}
}

func (st *Store) attach(s *Series) {
	s.attached = true
	for _, i := range s.kind.selectors {
		l := &s.node.group.lists[i]
		l.series = append(l.series, s)
		l.dirty = true
		l.version++
	}
	s.node.group.live++
	st.live++
}

// list returns a selector's series in the order of their nodes and labels. A sum of floats
// depends on its order, and the order in which series came differs after a restart. Series
// of a node have the same times and lie together in memory.
func (g *group) list(sel int) []*Series {
	l := &g.lists[sel]
	if l.dirty {
		slices.SortFunc(l.series, func(a, b *Series) int {
			if c := cmp.Compare(a.node.name, b.node.name); c != 0 {
				return c
			}
			return labels.Compare(a.Labels, b.Labels)
		})
		l.dirty = false
	}
	return l.series
}

// Sweep takes out the series that have no point that a later tick reads.
func (st *Store) Sweep() {
	for _, g := range st.groups {
		for i := range g.lists {
			l := &g.lists[i]
			before := len(l.series)
			l.series = slices.DeleteFunc(l.series, st.gone)
			if len(l.series) != before {
				l.version++
			}
		}
	}
}

// gone reports whether a series is to be taken out of its lists, and frees its points.
func (st *Store) gone(s *Series) bool {
	if s.newest() >= st.next-s.kind.keep {
		return false
	}
	if s.attached {
		s.attached = false
		s.values, s.rising, s.clean = nil, 0, 0
		s.quit()
		s.node.group.live--
		st.live--
	}
	return true
}

// find is Selector, faster when the matchers are the very ones of a kept expression.
func (st *Store) find(ms []*labels.Matcher) (int, bool) {
	if i, ok := st.byFirst[ms[0]]; ok {
		return i, true
	}
	return st.Selector(ms)
}

// Selector returns the number of the selector with these matchers, if an expression with
// it is kept.
func (st *Store) Selector(ms []*labels.Matcher) (int, bool) {
	i, ok := st.byKey[selectorKey(ms)]
	return i, ok
}

// Series returns a selector's series in a group, in the order in which the engine sees
// them. The slice is the store's own.
func (st *Store) Series(group, selector int) []*Series { return st.groups[group].list(selector) }

// Version changes when the series of a selector in a group do.
func (st *Store) Version(group, selector int) uint64 { return st.groups[group].lists[selector].version }

// Groups is the number of groups; each is queried on its own.
func (st *Store) Groups() int { return len(st.groups) }

// Empty reports whether a group holds no series.
func (st *Store) Empty(group int) bool { return st.groups[group].live == 0 }

// NodesOf lists the nodes of a group, sorted.
func (st *Store) NodesOf(group int) []string {
	var names []string
	for name, n := range st.nodes {
		if n.group == st.groups[group] {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, cmp.Compare)
	return names
}

// Names lists the metric names that expressions select, sorted; all says that some
// expression selects without naming one.
func (st *Store) Names() (names []string, all bool) {
	return slices.Sorted(maps.Keys(st.byName)), len(st.unnamed) > 0
}
