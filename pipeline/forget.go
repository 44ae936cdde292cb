package pipeline

import (
	"maps"

	"sextant/pipeline/events"
)

// forget drops what nothing speaks of any more. Without it a node whose series come and go,
// as those of its containers do, would fill its bound and the memory.
func (m *Machine) forget() {
	m.forgetSilent()
	m.forgetFlags()
	if m.time.ingest-m.forgot >= m.time.maxPast {
		m.forgetUnused()
		m.forgot, m.usedBefore = m.time.ingest, m.uses
	}
	m.sent.forget(m.time.ingest - m.time.maxPast)
}

// forgetSilent drops the nodes that sent nothing for as long as an event time may lie
// back. Were one to return, its series are registered again.
func (m *Machine) forgetSilent() {
	dead := 0
	for name, n := range m.nodes {
		if n.ingest < m.time.ingest-m.time.maxPast {
			n.layouts = nil
			delete(m.nodes, name)
			m.eval.Store().Forget(name)
			dead++
		}
	}
	if dead == 0 {
		return
	}
	for id, s := range m.series {
		if s.node.layouts == nil {
			delete(m.series, id)
		}
	}
}

// forgetUnused drops the layouts that no record had since it was last called, and then the
// series that no layout has. A series that a window still holds stays until the next time:
// there must not be two of it. The bound of a node counts those that are left.
func (m *Machine) forgetUnused() {
	unused := false
	for _, n := range m.nodes {
		unused = n.forgetUnused(m.usedBefore, m.uses) || unused
	}
	if !unused {
		return
	}
	for id, s := range m.series {
		if s.seen != m.uses && (s.window == nil || !s.window.Listed()) {
			s.node.series--
			delete(s.node.marks, id)
			delete(m.series, id)
		}
	}
}

// forgetUnused drops the node's layouts that were used no later than before, and marks the
// series of the others as seen now. It reports whether a series was left out.
func (n *node) forgetUnused(before, now uint64) bool {
	for hash, l := range n.layouts {
		if l.used <= before {
			delete(n.layouts, hash)
		}
	}
	seen := 0
	for target, l := range n.active { // a layout may have been evicted and be in use still
		if l.used <= before {
			l.settle()
			delete(n.active, target)
			continue
		}
		seen += l.see(now)
	}
	for _, l := range n.layouts {
		seen += l.see(now)
	}
	n.forgetThings()
	for _, r := range n.flags {
		if r.state.seen != now {
			r.state.seen = now
			seen++
		}
	}
	return seen < n.series
}

// forgetThings drops the things that no layout tells of.
func (n *node) forgetThings() {
	told := map[*events.Thing]bool{}
	for _, l := range n.active {
		for i := range l.events {
			told[l.events[i].thing] = true
		}
	}
	for _, l := range n.layouts {
		for i := range l.events {
			told[l.events[i].thing] = true
		}
	}
	maps.DeleteFunc(n.things, func(_ string, t *events.Thing) bool { return !told[t] })
}

// see marks the series of a layout, and counts those that were not.
func (l *layout) see(now uint64) int {
	n := 0
	mark := func(s *series) {
		if s != nil && s.seen != now {
			s.seen = now
			n++
		}
	}
	for _, s := range l.states {
		mark(s)
	}
	for i := range l.infos {
		mark(l.infos[i].state)
	}
	return n
}
