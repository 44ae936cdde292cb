//go:build cgo && linux

package dcgm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/NVIDIA/go-dcgm/pkg/dcgm"
)

// watches is what the engine was asked to keep fresh, and what of it works.
type watches struct {
	inv    *inventory
	cfg    Config
	period time.Duration
	all    watchList // what shall be watched, of whatever entity

	byScope [scopes][]watched
	gpus    map[uint]*[]watched // profiling fields of a GPU and its instances, by GPU
	events  watchedGroup        // XIDs of all GPUs
	health  watchedGroup        // all GPUs, with health checks on

	faults map[string]error  // what could not be watched: subject → why
	again  map[string]func() // how to try that again, where it may help
	groups []dcgm.GroupHandle
	fields []dcgm.FieldHandle
	active []watchedGroup // to be unwatched
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
	w := &watches{inv: inv, cfg: c, period: period, gpus: map[uint]*[]watched{}, faults: map[string]error{}, again: map[string]func(){}}
	w.all = w.resolve(c)
	for sc := range scopes {
		if es := inv.of(sc); len(es) > 0 {
			w.watchScope(sc, es)
		}
	}
	if c.Profiling {
		for _, g := range inv.gpus {
			w.profile(g)
		}
	}
	return w
}

func (w *watches) watchScope(sc scope, es []entity) {
	group, err := w.group(es)
	if err != nil {
		w.fail(fmt.Sprintf("all of %s", es[0].group), err, func() { w.watchScope(sc, es) })
		return
	}
	for _, cl := range []class{fast, slow, event, prof} {
		if cl == prof && sc != scopeLink {
			continue // with its GPU
		}
		every := w.period
		if cl == slow {
			every = rescanEvery / 2
		}
		w.watchFields("", group, w.all.of(sc, cl), every, &w.byScope[sc])
	}
	if sc == scopeGPU {
		w.watchEvents(group)
		w.watchHealth(group)
	}
}

// retry tries again what could not be watched. What is watched stays so: a watch that is
// ended and begun anew loses the events between.
func (w *watches) retry() {
	again := w.again
	w.again = map[string]func(){}
	for subject, try := range again {
		delete(w.faults, subject)
		try()
	}
}

// fail notes what could not be watched. With again it is tried once more a minute.
func (w *watches) fail(subject string, err error, again func()) {
	w.faults[subject] = err
	if again != nil {
		w.again[subject] = again
	}
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
			w.faults[f.name] = fmt.Errorf("not a field of DCGM")
			continue
		}
		if slices.ContainsFunc(out, func(o watched) bool { return o.id == id }) {
			continue // another name of one that is read already
		}
		meta, err := dcgm.FieldGetByID(id)
		if err != nil {
			w.faults[f.name] = err
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
func (w *watches) group(es []entity) (dcgm.GroupHandle, error) {
	g, err := dcgm.CreateGroup(unique("group"))
	if err != nil {
		return g, err
	}
	w.groups = append(w.groups, g)
	for _, e := range es {
		if err := dcgm.AddEntityToGroup(g, e.group, e.id); err != nil {
			w.fail(fmt.Sprintf("%s %d", e.group, e.id), err, nil)
		}
	}
	return g, nil
}

// unique names things in the engine. It refuses a name that is taken, by an agent that
// was killed a moment ago for example.
func unique(what string) string { return fmt.Sprintf("sextant-%s-%016x", what, rand.Uint64()) }

// watchFields watches fields together, and when that is refused one by one, so that a
// field that these devices do not have costs only itself. Those that work are added to
// into. With a subject, the failure of all is one fault of that name.
func (w *watches) watchFields(subject string, g dcgm.GroupHandle, fs watchList, every time.Duration, into *[]watched) {
	if len(fs) == 0 {
		return
	}
	if _, err := w.watch(g, fs, every, 0, 1); err == nil {
		*into = append(*into, fs...)
		return
	}
	faults := map[string]error{}
	for _, f := range fs {
		if _, err := w.watch(g, watchList{f}, every, 0, 1); err != nil {
			faults[f.name] = err
			continue
		}
		*into = append(*into, f)
	}
	for _, f := range fs {
		err := faults[f.name]
		switch {
		case err == nil:
		case subject != "" && len(faults) == len(fs):
			w.fail(subject, err, func() { w.watchFields(subject, g, fs, every, into) })
		default:
			w.fail(strings.TrimPrefix(subject+": "+f.name, ": "), err, func() { w.watchFields("", g, watchList{f}, every, into) })
		}
	}
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
// own.
func (w *watches) profile(g gpu) {
	subject := fmt.Sprintf("profiling of gpu %d", g.id)
	again := func() { w.profile(g) }
	metrics, err := dcgm.GetSupportedMetricGroups(g.id)
	if err != nil {
		w.fail(subject, err, again)
		return
	}
	var fs watchList
	for _, f := range w.all.of(scopeGPU, prof) {
		if slices.ContainsFunc(metrics, func(m dcgm.MetricGroup) bool { return slices.Contains(m.FieldIds, uint(f.id)) }) {
			fs = append(fs, f)
		}
	}
	if len(fs) == 0 {
		w.fail(subject, errNoProfiling, again)
		return
	}
	var es []entity
	for _, e := range w.inv.entities {
		if e.gpu == g.id && e.scope <= scopeCI {
			es = append(es, e)
		}
	}
	group, err := w.group(es)
	if err != nil {
		w.fail(subject, err, again)
		return
	}
	into := new([]watched)
	w.gpus[g.id] = into
	w.watchFields(subject, group, fs, w.period, into)
}

var errNoProfiling = errors.New("this device has none of the profiling fields")

func (w *watches) watchEvents(g dcgm.GroupHandle) {
	var err error
	w.events, err = w.watch(g, watchList{{id: dcgm.DCGM_FI_DEV_XID_ERRORS}}, w.period, keepAge, 0)
	if err != nil {
		w.fail("XID events", err, func() { w.watchEvents(g) })
	}
}

// watchHealth switches the engine's passive health checks on, for this connection's group
// only.
func (w *watches) watchHealth(g dcgm.GroupHandle) {
	if !w.cfg.Health {
		return
	}
	if err := dcgm.HealthSet(g, dcgm.DCGM_HEALTH_WATCH_ALL); err != nil {
		w.fail("health checks", err, func() { w.watchHealth(g) })
		return
	}
	w.health = watchedGroup{group: g, ok: true}
}

// profiled are the profiling fields that are watched of a GPU and its instances.
func (w *watches) profiled(gpu uint) watchList {
	if fs := w.gpus[gpu]; fs != nil {
		return *fs
	}
	return nil
}

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
