package api

import (
	"slices"
	"strings"

	"sextant/features"
	"sextant/features/online"
)

// catalog finds views, services and features by the names that requests use.
type catalog struct {
	*features.Set
	byRef  map[string]*features.View // "view" is its highest version, "view@v2" that one
	column map[*features.View]map[string]int
}

func newCatalog(set *features.Set) *catalog {
	c := &catalog{Set: set, byRef: map[string]*features.View{}, column: map[*features.View]map[string]int{}}
	for _, v := range set.Views {
		c.byRef[v.Ref()] = v
		if latest, ok := c.byRef[v.Name]; !ok || latest.Version < v.Version {
			c.byRef[v.Name] = v
		}
		cols := make(map[string]int, len(v.Features))
		for i, f := range v.Features {
			cols[f.Name] = i
		}
		c.column[v] = cols
	}
	return c
}

func (c *catalog) latest(v *features.View) bool { return c.byRef[v.Name] == v }

// plan says how a request is answered: join keys first, then one column a feature, in
// the order of the request.
type plan struct {
	entities int
	keys     []string   // join keys, in the order of the views that need them
	values   [][]string // by key, by entity
	views    []*features.View
	columns  []column

	described []*features.View // whose name and version the answer carries
}

type column struct {
	name  string
	group int // index into plan.views
	col   int // index into the view's features
}

func (c *catalog) plan(req *request, limits Limits) (*plan, error) {
	choices, err := c.choices(req)
	if err != nil {
		return nil, err
	}
	names, err := features.ColumnNames(choices, bool(req.FullFeatureNames))
	if err != nil {
		return nil, badRequest("%v", err)
	}
	p := &plan{columns: make([]column, 0, len(choices))}
	for i, x := range choices {
		p.columns = append(p.columns, column{name: names[i], group: p.group(x.View), col: x.Feature})
	}
	if req.ViewMetadata {
		p.described = p.views
	}
	return p, p.bind(req, limits)
}

// choices are the features of the request, or those of its service in the service's order.
func (c *catalog) choices(req *request) ([]features.ServiceColumn, error) {
	if req.FeatureService != nil {
		s, ok := c.Service(*req.FeatureService)
		if !ok {
			return nil, notFound("feature_service: %q is not defined", clip(*req.FeatureService))
		}
		return s.Columns, nil
	}
	choices := make([]features.ServiceColumn, 0, len(req.Features))
	for i, ref := range req.Features {
		viewRef, name, ok := strings.Cut(ref, ":")
		if !ok {
			return nil, badRequest("features[%d]: %q has no view: want \"view:feature\"", i, clip(ref))
		}
		v, ok := c.byRef[viewRef]
		if !ok {
			return nil, notFound("features[%d]: view %q is not defined", i, clip(viewRef))
		}
		col, ok := c.column[v][name]
		if !ok {
			return nil, notFound("features[%d]: view %q has no feature %q", i, viewRef, clip(name))
		}
		choices = append(choices, features.ServiceColumn{View: v, Feature: col, As: viewRef})
	}
	return choices, nil
}

// group is the view's place in the plan.
func (p *plan) group(v *features.View) int {
	if i := slices.Index(p.views, v); i >= 0 {
		return i
	}
	p.views = append(p.views, v)
	return len(p.views) - 1
}

// bind joins the entities of the request to the keys that the views need.
func (p *plan) bind(req *request, limits Limits) error {
	for _, v := range p.views {
		for _, key := range v.Keys {
			values, ok := req.keys[key]
			switch {
			case !ok:
				return badRequest("entities: %s is missing: %s is keyed by %s", key, v.Name, strings.Join(v.Keys, ", "))
			case slices.Contains(p.keys, key):
				continue
			case len(p.keys) > 0 && len(values) != p.entities:
				return badRequest("entities: %s has %d values and %s has %d", p.keys[0], p.entities, key, len(values))
			}
			p.keys, p.values, p.entities = append(p.keys, key), append(p.values, values), len(values)
		}
	}
	for _, key := range sortedKeys(req.keys) {
		if !slices.Contains(p.keys, key) {
			return badRequest("entities: %s is no join key of the features asked for: want %s", clip(key), strings.Join(p.keys, ", "))
		}
	}
	if n := p.entities * len(p.columns); n > limits.Values {
		return badRequest("%d entities times %d features are %d values, at most %d", p.entities, len(p.columns), n, limits.Values)
	}
	return nil
}

// keysOf is the values of one view's keys.
func (p *plan) keysOf(dst [][]string, v *features.View) [][]string {
	for _, key := range v.Keys {
		dst = append(dst, p.values[slices.Index(p.keys, key)])
	}
	return dst
}

// group is one view's part of an answer: a snapshot, and by entity its row and what the
// row's age says.
type group struct {
	snapshot *online.Snapshot
	rows     []int32
	statuses []features.Status // Present, NotFound or OutsideMaxAge
	stamps   []byte            // the ticks of the rows as they stand in an answer; empty: not yet made
}

// scratch is the memory that requests hand on to each other.
type scratch struct {
	body     []byte
	buf      []byte
	groups   []group
	keys     [][]string
	ofColumn []features.Status
	before   statusText
}

// lookUp finds the rows of all entities. Each view's snapshot is taken once, so that an
// answer does not mix two refreshes.
func (sc *scratch) lookUp(store *online.Store, p *plan, now int64) {
	for len(sc.groups) < len(p.views) {
		sc.groups = append(sc.groups, group{})
	}
	for i, v := range p.views {
		g := &sc.groups[i]
		g.stamps = g.stamps[:0]
		g.snapshot = store.Snapshot(v)
		sc.keys = p.keysOf(sc.keys[:0], v)
		g.rows = g.snapshot.Find(g.rows[:0], sc.keys)
		g.statuses = g.statuses[:0]
		for _, row := range g.rows {
			g.statuses = append(g.statuses, g.snapshot.RowStatus(row, now))
		}
	}
	clear(sc.keys)
}

// release lets go of snapshots, so that an idle pool keeps no old one alive.
func (sc *scratch) release() {
	for i := range sc.groups {
		sc.groups[i].snapshot = nil
	}
}
