package snapshot

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sextant/features"
)

// plan is how the matrix of a service is laid out: a row for each entity, a column for each
// feature.
type plan struct {
	name, ref string // of the service: "node_state", "node_state@v1"
	version   int
	keys      []string // join keys
	views     []*features.View
	keyOf     [][]int // keyOf[v][k] is the place of keys[k] in views[v].Keys
	columns   []column
}

// column is one place of a row.
type column struct {
	name     string
	view     int     // index into plan.views
	feature  int     // index into the view's features
	fallback float32 // what stands beside NULL_VALUE; NaN: nothing
}

// planOf lays a service out, or says why it is no matrix: its features must be numbers, and
// of one entity.
func planOf(s *features.Service) (*plan, error) {
	p := &plan{name: s.Name, ref: s.Ref(), version: s.Version, keys: s.Keys, views: s.Views()}
	for _, v := range p.views {
		if len(v.Keys) != len(p.keys) {
			return nil, fmt.Errorf("%s joins entities (%s): a matrix is of one", s.Ref(), entitiesOf(p.views))
		}
		order := make([]int, len(p.keys))
		for k, key := range p.keys {
			order[k] = slices.Index(v.Keys, key)
		}
		p.keyOf = append(p.keyOf, order)
	}
	names, err := features.ColumnNames(s.Columns, false)
	if err != nil { // two features of one name: views tell them apart
		if names, err = features.ColumnNames(s.Columns, true); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Ref(), err)
		}
	}
	for i, c := range s.Columns {
		f := c.Def()
		if f.DType == features.String {
			return nil, fmt.Errorf("%s has %s, which is a string: a matrix is of numbers", s.Ref(), c.Ref())
		}
		fallback := float32(math.NaN())
		if f.Default != nil {
			fallback = float32(*f.Default)
		}
		p.columns = append(p.columns, column{name: names[i], view: slices.Index(p.views, c.View), feature: c.Feature, fallback: fallback})
	}
	return p, nil
}

// entitiesOf says what each kind of view is keyed by: "node_static by node, …".
func entitiesOf(views []*features.View) string {
	var out []string
	seen := map[string]bool{}
	for _, v := range views {
		if by := strings.Join(v.Keys, ", "); !seen[by] {
			seen[by] = true
			out = append(out, v.Name+" by "+by)
		}
	}
	return strings.Join(out, "; ")
}

// plans are those of all services that can be a matrix.
type plans struct {
	set   *features.Set
	byRef map[string]*plan
	why   map[string]error // by ref, of those that cannot

	graph   *graphPlan
	noGraph error // why there is none
}

func newPlans(set *features.Set) *plans {
	ps := &plans{set: set, byRef: map[string]*plan{}, why: map[string]error{}}
	for _, s := range set.Services {
		if p, err := planOf(s); err != nil {
			ps.why[s.Ref()] = err
		} else {
			ps.byRef[s.Ref()] = p
		}
	}
	if ps.graph, ps.noGraph = graphPlanOf(ps); ps.noGraph != nil {
		ps.graph = nil
	}
	return ps
}

// all is every plan.
func (ps *plans) all() []*plan {
	out := slices.Collect(maps.Values(ps.byRef))
	if ps.graph != nil {
		out = append(out, ps.graph.devices)
	}
	return out
}

// find is the plan of "name", which is its highest version, or of "name@v2".
func (ps *plans) find(ref string) (*plan, error) {
	s, ok := ps.set.Service(ref)
	if !ok {
		return nil, notFound("service: %q is not defined", clip(ref))
	}
	if err := ps.why[s.Ref()]; err != nil {
		return nil, badRequest("service: %v. Matrices are %s", err, ps.list())
	}
	return ps.byRef[s.Ref()], nil
}

// list names all matrices.
func (ps *plans) list() string {
	var refs []string
	for ref := range ps.byRef {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	return strings.Join(refs, ", ")
}
