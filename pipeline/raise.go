package pipeline

import (
	"math"
	"math/bits"
	"slices"

	"github.com/prometheus/prometheus/model/value"

	"sextant/features"
	"sextant/pipeline/crosscheck"
	"sextant/pipeline/window"
	"sextant/schema/catalog"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

// fault is a flag of one sample of the present record.
type fault struct {
	sample int
	series int32
	metric string // canonical
	flag   uint16
}

// flag notes a fault of sample i.
func (p *pass) flag(i int, series int32, metric string, flag uint16) {
	p.flags[i] |= flag
	p.any |= flag
	p.m.faults = append(p.m.faults, fault{i, series, metric, flag})
}

// flagAll flags every sample of the record.
func (p *pass) flagAll(flag uint16) {
	for i := range p.flags {
		p.flags[i] |= flag
	}
	p.any |= flag
	p.all |= flag
}

// flagStale flags the samples that end their series.
func (p *pass) flagStale() {
	for i, v := range p.values {
		if v != v && value.IsStaleNaN(v) {
			p.flags[i] |= quality.Stale
			p.any |= quality.Stale
		}
	}
}

// countFlags counts the flags of the record's samples that are stored.
func (p *pass) countFlags(kept int) {
	if p.any == 0 {
		return
	}
	for _, f := range p.flags[:kept] {
		for ; f != 0; f &= f - 1 {
			p.m.counts.Flags[bits.TrailingZeros16(f)]++
		}
	}
}

// raised is a series that tells of a flag in force.
type raised struct {
	key   flagKey
	state *series
	at    int64   // of its last sample, unix ms
	by    *target // that had the flag last: two may report one device
	round uint64  // of that target's record
}

// flagKey names it among those of its node: by metric and uid, or by target.
type flagKey struct {
	flag                uint16
	metric, uid, target string
}

// raise adds the samples of the series that tell of the record's flags, and ends those
// whose flag is no longer found. They say what is in force at a scrape, so those of a
// record that came late are samples of the tick that is open: it is that tick's row that
// goes without.
func (p *pass) raise(out []told, at int64, late bool) []told {
	g := p.target
	if g == nil || p.any == 0 && len(g.raised) == 0 {
		return out
	}
	g.round++
	if late {
		return p.ofTarget(out, quality.Late, p.m.time.closed)
	}
	set := p.all
	if p.count.late > 0 {
		set |= quality.Late
	}
	out = p.ofTarget(out, set|p.any&quality.Retimed, at)
	for _, f := range p.m.faults {
		if p.dropped(f.sample) || p.flags[f.sample]&f.flag == 0 || p.flags[f.sample]&quality.Late != 0 {
			continue
		}
		key := flagKey{flag: f.flag, metric: f.metric, uid: p.l.uid(f.series)}
		out = p.found(out, key, p.times[f.sample])
		p.note(key.uid, p.times[f.sample], f.flag)
	}
	return p.end(out, at)
}

// ofTarget raises the flags of the whole record. Its devices have them too.
func (p *pass) ofTarget(out []told, set uint16, at int64) []told {
	if set == 0 {
		return out
	}
	quality.Each(set, func(f quality.Flag) {
		out = p.found(out, flagKey{flag: f.Bit, target: p.target.name}, at)
	})
	p.note("", at, set)
	if at-p.target.seen <= rowFlags {
		for _, uid := range p.target.devices {
			p.note(uid, at, set)
		}
	}
	return out
}

// note remembers flags for the rows of the node, and of the device if uid is not "".
func (p *pass) note(uid string, at int64, flags uint16) {
	p.m.lately.Note(p.l.node.name, uid, at, flags)
	p.m.flagged.touch(at, p.offset, p.m.time.watermark)
}

// found adds the sample of one flag.
func (p *pass) found(out []told, key flagKey, at int64) []told {
	r, ok := p.l.node.flags[key]
	if !ok {
		if r = p.newRaised(key); r == nil {
			return out
		}
		p.l.node.flags[key] = r
	}
	if r.by != p.target {
		r.by = p.target
		p.target.raised = append(p.target.raised, r)
	}
	r.round = p.target.round
	return p.tellFlag(out, r, at, 1)
}

func (p *pass) newRaised(key flagKey) *raised {
	f := quality.All[bits.TrailingZeros16(key.flag)]
	ls := []wire.Label{{Name: quality.Label, Value: f.Name}}
	for _, l := range [...]wire.Label{{Name: "metric", Value: key.metric}, {Name: "uid", Value: key.uid}, {Name: "target", Value: key.target}} {
		if l.Value != "" {
			ls = append(ls, l)
		}
	}
	c := p.m.canonical(p.l.node, quality.Series, ls)
	c.source = quality.Series
	state, isNew, err := p.m.admit(p.l.node, &c, catalog.Gauge.String(), "")
	if err != nil {
		p.m.counts.RefusedSeries++
		return nil
	}
	if isNew && state.window != nil {
		p.store.Buffers([]*window.Series{state.window}, p.m.time.interval)
	}
	return &raised{key: key, state: state}
}

// tellFlag adds a sample, if it is later than the last: there are no two of one time.
func (p *pass) tellFlag(out []told, r *raised, at int64, v float64) []told {
	t := told{r.state.id, at, v, 0}
	if at <= r.at || !p.put(r.state.window, &t) {
		return out
	}
	r.at = at
	return append(out, t)
}

// flagLookback is for how long a series without news is there, ms: no longer than the
// lookback of any expression, after which no marker is needed.
const flagLookback = 60_000

// end ends the series of flags that the target's record does not have. Records that come
// late come between others: their flag holds for two ticks.
func (p *pass) end(out []told, at int64) []told {
	g := p.target
	g.raised = slices.DeleteFunc(g.raised, func(r *raised) bool {
		if r.by != g {
			return true
		}
		if r.round == g.round || at <= r.at || r.key.flag == quality.Late && at-r.at < 2*p.m.time.interval {
			return false
		}
		if at-r.at <= flagLookback {
			out = p.tellFlag(out, r, at, math.Float64frombits(value.StaleNaN))
		}
		delete(p.l.node.flags, r.key)
		return true
	})
	return out
}

// rowFlags is how far before a tick the flags of its rows may lie, ms.
const rowFlags = crosscheck.RowFlags

// flagRows gives each row the flags of its entity's samples.
func (m *Machine) flagRows(r *features.Rows, tick int64) { m.lately.FlagRows(r, tick) }

// flagHistory is how far before the next tick the records lie, in ms, whose flags a row
// may have, or that have flags in force.
func (m *Machine) flagHistory() int64 {
	longest := int64(flagLookback)
	for _, v := range m.cfg.Views {
		longest = max(longest, min(v.Interval.Milliseconds(), rowFlags))
	}
	return longest + m.time.interval
}

// forgetFlags drops what no answer hangs on any more.
func (m *Machine) forgetFlags() {
	m.lately.Forget(m.time.closed - m.flagHistory())
	for _, n := range m.nodes {
		for name, t := range n.targets {
			if t.last >= m.time.closed-crosscheck.Memory {
				continue
			}
			for _, r := range t.raised {
				if r.by == t {
					delete(n.flags, r.key)
				}
			}
			delete(n.targets, name)
		}
	}
}
