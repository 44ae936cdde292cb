package pipeline

import (
	"math"
	"slices"

	"sextant/pipeline/crosscheck"
	"sextant/schema/catalog"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

// subjects says which device each series of a layout tells of.
type subjects struct {
	devices []string // ids
	of      []int32  // by series: index into devices, or -1; nil where no series has one
}

func (s *subjects) uid(series int32) string {
	if s.of == nil || s.of[series] < 0 {
		return ""
	}
	return s.devices[s.of[series]]
}

// judged is what is compared across the series of a page. Its state is the target's: it
// outlives the layout.
type judged struct {
	units   []unitKey // devices and slices
	probes  []probe
	body    []int32 // series that make up the page
	restive bool    // one of them cannot stand still
}

// unitKey names a device, or a slice of it.
type unitKey struct{ vendor, device, slice string }

// probe is a reading of a unit. What a slice does, its device does too.
type probe struct {
	series       int32
	metric       string
	role         crosscheck.Role
	unit, device int32
}

// restless are the metrics of a host that move from scrape to scrape, whatever it does.
var restless = map[string]bool{
	"node_time_seconds": true, "node_cpu_seconds_total": true, "container_cpu_usage_seconds_total": true,
}

// maxHostBody is how many of them are looked at.
const maxHostBody = 64

// judge plans what the page has to compare.
func (p *planner) judge(all []catalog.Mapping) {
	j := &judged{}
	for i := range all {
		p.subject(i, &all[i])
		p.compare(j, int32(i), &all[i])
	}
	if p.l.of == nil && len(j.body) > maxHostBody {
		j.body = j.body[:maxHostBody]
	}
	if len(j.body) > 0 || len(j.probes) > 0 {
		p.l.judged = j
	}
}

// subject notes the device of a series.
func (p *planner) subject(i int, as *catalog.Mapping) {
	uid := labelOf(as.Labels, "device")
	if as.Outcome != catalog.Mapped || uid == "" || as.Metric.Scope < catalog.Device || as.Metric.Scope > catalog.Process {
		if p.l.of != nil {
			p.l.of[i] = -1
		}
		return
	}
	if p.l.of == nil {
		p.l.of = make([]int32, len(p.l.ids))
		for k := range i {
			p.l.of[k] = -1
		}
	}
	d := slices.Index(p.l.devices, uid)
	if d < 0 {
		d = len(p.l.devices)
		p.l.devices = append(p.l.devices, uid)
	}
	p.l.of[i] = int32(d)
}

// compare notes a series that is compared with others, or with itself before. One that
// another stands for is not: its value is in the other.
func (p *planner) compare(j *judged, i int32, as *catalog.Mapping) {
	if as.Metric == nil || p.l.states[i] == nil {
		return
	}
	uid := p.l.uid(i)
	if uid == "" {
		if restless[as.Name] {
			j.body, j.restive = append(j.body, i), true
		}
		return
	}
	j.body = append(j.body, i)
	role := crosscheck.RoleOf(as.Name, labelOf(as.Labels, "pipe"))
	if role == crosscheck.NoRole {
		return
	}
	j.restive = j.restive || role == crosscheck.Energy
	whole := unitKey{as.Vendor, uid, ""}
	part := unitKey{as.Vendor, uid, labelOf(as.Labels, "slice")}
	j.probes = append(j.probes, probe{i, as.Name, role, j.unit(part), j.unit(whole)})
}

func (j *judged) unit(key unitKey) int32 {
	i := slices.Index(j.units, key)
	if i < 0 {
		i = len(j.units)
		j.units = append(j.units, key)
	}
	return int32(i)
}

func labelOf(ls []wire.Label, name string) string {
	for i := range ls {
		if ls[i].Name == name {
			return ls[i].Value
		}
	}
	return ""
}

// target is what is remembered of a target of a node.
type target struct {
	name     string
	last     int64 // time of its last record, unix ms
	at       int64 // of the last page that was judged
	pages    crosscheck.Target
	byKey    map[unitKey]*crosscheck.Device
	bound    *layout              // whose units are in the order of:
	units    []*crosscheck.Device // …
	readings []crosscheck.Reading
	devices  []string // of the last page that had any
	seen     int64    // its time
	raised   []*raised
	round    uint64 // counts its records
}

// maxTargets is how many targets of a node are remembered. Pages of others are not judged.
const maxTargets = 1024

// target returns the state of a target, or nil.
func (n *node) target(name string) *target {
	t := n.targets[name]
	if t == nil && len(n.targets) < maxTargets {
		t = &target{name: name, byKey: map[unitKey]*crosscheck.Device{}}
		n.targets[name] = t
	}
	return t
}

// bind puts the units of the target in the order of a layout.
func (t *target) bind(l *layout, at int64) {
	if len(l.devices) > 0 {
		t.devices, t.seen = l.devices, max(t.seen, at)
	}
	if t.bound == l {
		return
	}
	t.bound, t.units = l, t.units[:0]
	if l.judged == nil {
		return
	}
	for key, u := range t.byKey {
		if u.Seen() < at-crosscheck.Memory {
			delete(t.byKey, key)
		}
	}
	for _, key := range l.judged.units {
		u, ok := t.byKey[key]
		if !ok {
			u = &crosscheck.Device{}
			t.byKey[key] = u
		}
		t.units = append(t.units, u)
	}
	t.readings = slices.Grow(t.readings[:0], len(t.units))[:len(t.units)]
}

// crossCheck compares the readings of the page at time at, and flags what cannot be.
func (p *pass) crossCheck(at int64) {
	j := p.l.judged
	if j == nil || p.target == nil || at <= p.target.at {
		return
	}
	p.target.at = at
	p.read(j)
	moves := j.restive
	for i := range p.target.readings {
		moves = moves || p.target.readings[i].Busy()
	}
	frozen, slow := p.target.pages.Observe(at, p.pageOf(j, moves))
	if frozen {
		p.flagAll(quality.Frozen)
	}
	if slow {
		p.flagAll(quality.Period)
	}
	for i, u := range p.target.units {
		contradiction, still := u.Observe(at, &p.target.readings[i])
		if contradiction || still {
			p.blame(j, int32(i), contradiction, still)
		}
	}
	p.m.judgments.touch(at, p.offset, p.m.time.watermark)
}

// read gathers what the page says of each unit.
func (p *pass) read(j *judged) {
	for i := range p.target.readings {
		p.target.readings[i].Reset()
	}
	at := 0
	for k := range j.probes {
		b := &j.probes[k]
		var i int
		if i, at = p.lastOf(b.series, at); i < 0 || p.dropped(i) || p.flags[i]&(quality.Unusable|quality.Late) != 0 {
			continue
		}
		p.target.readings[b.unit].Put(b.role, p.values[i])
		if b.role == crosscheck.Busy {
			p.target.readings[b.device].Put(crosscheck.AnyBusy, p.values[i])
		}
	}
}

// pageOf hashes the page, and looks how much of it was dropped because it has the time of
// the one before.
func (p *pass) pageOf(j *judged, moves bool) crosscheck.Page {
	page := crosscheck.Page{Moves: moves}
	at, cached := 0, 0
	for _, s := range j.body {
		var i int
		if i, at = p.lastOf(s, at); i < 0 {
			continue
		}
		page.Body = crosscheck.Mix(page.Body, math.Float64bits(p.m.decoder.Values[i]))
		if p.dropped(i) {
			cached++
		}
	}
	page.Cached = cached > 0 && 2*cached >= len(j.body)
	return page
}

// blame flags the readings of a unit that contradict each other, or stand still.
func (p *pass) blame(j *judged, unit int32, contradiction, still bool) {
	at := 0
	for _, b := range j.probes {
		var i int
		if i, at = p.lastOf(b.series, at); i < 0 || b.unit != unit || p.dropped(i) || p.flags[i]&quality.Unusable != 0 {
			continue
		}
		switch {
		case still && b.role == crosscheck.Energy:
			p.flag(i, b.series, b.metric, quality.Frozen)
		case contradiction && b.role != crosscheck.Energy:
			p.flag(i, b.series, b.metric, quality.Contradiction)
		}
	}
}

// lastOf returns the last sample of a series, -1 if it has none, and where the samples of
// the next series begin. at is where those of the one before it ended.
func (p *pass) lastOf(s int32, at int) (last, next int) {
	index := p.m.decoder.Series
	if index == nil {
		return int(s), 0
	}
	last = -1
	for at < len(index) && index[at] < uint32(s) {
		at++
	}
	for ; at < len(index) && index[at] == uint32(s); at++ {
		last = at
	}
	return last, at
}
