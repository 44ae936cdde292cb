//go:build cgo && linux

package dcgm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/NVIDIA/go-dcgm/pkg/dcgm"
)

// watches is what the engine was asked to keep fresh, and what of it works.
type watches struct {
	byScope [scopes][]watched
	gpus    map[uint][]watched // profiling fields of a GPU and its instances, by GPU; nil: none
	events  watchedGroup       // XIDs of all GPUs
	health  watchedGroup       // all GPUs, with health checks on

	faults    map[string]error // what could not be watched: subject → why
	temporary bool             // one of the faults may pass
	groups    []dcgm.GroupHandle
	fields    []dcgm.FieldHandle
	active    []watchedGroup // to be unwatched
}

// watched is a field that is watched, by its id.
type watched struct {
	field
	id dcgm.Short
}

type watchedGroup struct {
	group  dcgm.GroupHandle
	fields dcgm.FieldHandle
	ok     bool
}

// keepAge is how much history of XIDs the engine keeps, so that none is missed between
// two readings.
const keepAge = 10 * time.Minute

// watch begins to watch the entities of an inventory. What cannot be watched costs only
// itself.
func watch(inv *inventory, c Config, period time.Duration) *watches {
	w := &watches{faults: map[string]error{}, gpus: map[uint][]watched{}}
	all := w.resolve(c)
	for sc := range scopes {
		es := inv.of(sc)
		if len(es) == 0 {
			continue
		}
		group, ok := w.group(es)
		if !ok {
			continue
		}
		for _, cl := range []class{fast, slow, event, prof} {
			if cl == prof && sc != scopeLink {
				continue // with its GPU, below
			}
			every := period
			if cl == slow {
				every = rescanEvery / 2
			}
			w.byScope[sc] = append(w.byScope[sc], w.fieldsOf(group, all.of(sc, cl), every)...)
		}
		if sc == scopeGPU {
			w.watchEvents(group, period)
			w.watchHealth(group, c)
		}
	}
	if c.Profiling {
		for _, g := range inv.gpus {
			w.profile(g, inv, all, period)
		}
	}
	return w
}

// of are the entities of a scope.
func (inv *inventory) of(sc scope) []entity {
	var out []entity
	for _, e := range inv.entities {
		if e.scope == sc {
			out = append(out, e)
		}
	}
	return out
}

type watchList []watched

func (l watchList) of(sc scope, cl class) watchList {
	var out watchList
	for _, f := range l {
		if f.class == cl && slices.Contains(f.scopes, sc) {
			out = append(out, f)
		}
	}
	return out
}

// resolve finds the ids of all fields that shall be read. A field that this release of
// the library does not have is noted.
func (w *watches) resolve(c Config) watchList {
	var out watchList
	for _, f := range append(slices.Clone(table()), c.extra()...) {
		if slices.Contains(c.Exclude, f.name) || f.class == prof && !c.Profiling {
			continue
		}
		id, ok := dcgm.GetFieldID(f.name)
		if !ok {
			w.faults["field "+f.name] = fmt.Errorf("not a field of DCGM")
			continue
		}
		if slices.ContainsFunc(out, func(o watched) bool { return o.id == id }) {
			continue // another name of one that is read already
		}
		meta, err := dcgm.FieldGetByID(id)
		if err != nil {
			w.faults["field "+f.name] = err
			continue
		}
		if f.scopes == nil {
			f.scopes = scopesOf(meta.EntityLevel)
		}
		out = append(out, watched{f, id})
	}
	return out
}

// scopesOf are the entities that a field named by the configuration is read of.
func scopesOf(level dcgm.Field_Entity_Group) []scope {
	switch level {
	case dcgm.FE_GPU_I, dcgm.FE_GPU_CI:
		return []scope{scopeGPU, scopeGI}
	case dcgm.FE_SWITCH:
		return []scope{scopeSwitch}
	case dcgm.FE_LINK:
		return []scope{scopeLink, scopeSwitchLink}
	case dcgm.FE_CPU:
		return []scope{scopeCPU}
	case dcgm.FE_CPU_CORE:
		return []scope{scopeCore}
	}
	return []scope{scopeGPU}
}

// group makes a group of entities. One that the engine refuses is left out and noted.
func (w *watches) group(es []entity) (dcgm.GroupHandle, bool) {
	g, err := dcgm.CreateGroup(unique("group"))
	if err != nil {
		w.fail("entities", err)
		return g, false
	}
	w.groups = append(w.groups, g)
	added := 0
	for _, e := range es {
		if err := dcgm.AddEntityToGroup(g, e.group, e.id); err != nil {
			w.fail(fmt.Sprintf("%s %d", e.group, e.id), err)
			continue
		}
		added++
	}
	return g, added > 0
}

// unique names things in the engine. It refuses a name that is taken, by an agent that
// was killed a moment ago for example.
func unique(what string) string { return fmt.Sprintf("sextant-%s-%016x", what, rand.Uint64()) }

func (w *watches) fail(subject string, err error) {
	w.faults[subject], w.temporary = err, true
}

// fieldsOf watches fields together, and when that is refused one by one, so that a field
// that these devices do not have costs only itself.
func (w *watches) fieldsOf(g dcgm.GroupHandle, fs watchList, every time.Duration) []watched {
	out, faults := w.eachOf(g, fs, every)
	for name, err := range faults {
		w.fail("field "+name, err)
	}
	return out
}

// eachOf gives the fields that are watched, and why the others are not.
func (w *watches) eachOf(g dcgm.GroupHandle, fs watchList, every time.Duration) (out watchList, faults map[string]error) {
	if len(fs) == 0 {
		return nil, nil
	}
	if _, err := w.watch(g, fs, every, 0, 1); err == nil {
		return fs, nil
	}
	faults = map[string]error{}
	for _, f := range fs {
		if _, err := w.watch(g, watchList{f}, every, 0, 1); err != nil {
			faults[f.name] = err
			continue
		}
		out = append(out, f)
	}
	return out, faults
}

// watch makes a field group and watches it. Nothing is left behind when that fails.
func (w *watches) watch(g dcgm.GroupHandle, fs watchList, every, keep time.Duration, samples int32) (watchedGroup, error) {
	ids := make([]dcgm.Short, len(fs))
	for i, f := range fs {
		ids[i] = f.id
	}
	h, err := dcgm.FieldGroupCreate(unique("fields"), ids)
	if err != nil {
		return watchedGroup{}, err
	}
	if err := dcgm.WatchFieldsWithGroupEx(h, g, every.Microseconds(), keep.Seconds(), samples); err != nil {
		_ = dcgm.UnwatchFields(h, g) // the update after a watch may be what failed
		_ = dcgm.FieldGroupDestroy(h)
		return watchedGroup{}, err
	}
	w.fields = append(w.fields, h)
	wg := watchedGroup{g, h, true}
	w.active = append(w.active, wg)
	return wg, nil
}

// profile watches the profiling fields of a GPU and its instances, as far as the module
// has them. A GPU whose profiling hardware is in use by another program costs only its
// own, and is tried again.
func (w *watches) profile(g gpu, inv *inventory, all watchList, every time.Duration) {
	subject := fmt.Sprintf("profiling of gpu %d", g.id)
	groups, err := dcgm.GetSupportedMetricGroups(g.id)
	if err != nil {
		w.fail(subject, err)
		return
	}
	supported := map[dcgm.Short]bool{}
	for _, mg := range groups {
		for _, id := range mg.FieldIds {
			supported[dcgm.Short(id)] = true
		}
	}
	es := slices.DeleteFunc(slices.Clone(inv.entities), func(e entity) bool { return e.gpu != g.id || e.scope > scopeCI })
	var fs watchList
	for _, f := range all {
		if f.class == prof && supported[f.id] && slices.Contains(f.scopes, scopeGPU) {
			fs = append(fs, f)
		}
	}
	if len(fs) == 0 {
		w.faults[subject] = fmt.Errorf("this device has none of the profiling fields")
		return
	}
	group, ok := w.group(es)
	if !ok {
		return
	}
	got, faults := w.eachOf(group, fs, every)
	for name, err := range faults {
		if len(got) == 0 {
			w.fail(subject, err) // the same for all: one note
			continue
		}
		w.fail(subject+": "+name, err)
	}
	w.gpus[g.id] = got
}

func (w *watches) watchEvents(g dcgm.GroupHandle, every time.Duration) {
	f := watched{id: dcgm.DCGM_FI_DEV_XID_ERRORS}
	wg, err := w.watch(g, watchList{f}, every, keepAge, 0)
	if err != nil {
		w.fail("XID events", err)
	}
	w.events = wg
}

// watchHealth switches the engine's passive health checks on, for this connection's group
// only.
func (w *watches) watchHealth(g dcgm.GroupHandle, c Config) {
	if !c.Health {
		return
	}
	if err := dcgm.HealthSet(g, dcgm.DCGM_HEALTH_WATCH_ALL); err != nil {
		w.fail("health checks", err)
		return
	}
	w.health = watchedGroup{group: g, ok: true}
}

// incomplete reports whether making the watches anew could help.
func (w *watches) incomplete() bool { return w.temporary }

func (w *watches) notes(p *page) {
	for subject, err := range w.faults {
		p.note(subject, err)
	}
}

// remove ends all watches. An engine that is gone has ended them itself.
func (w *watches) remove() {
	for _, a := range w.active {
		_ = dcgm.UnwatchFields(a.fields, a.group)
	}
	for _, f := range w.fields {
		_ = dcgm.FieldGroupDestroy(f)
	}
	for _, g := range w.groups {
		_ = dcgm.DestroyGroup(g)
	}
}
