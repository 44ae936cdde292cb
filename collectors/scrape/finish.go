package scrape

import (
	"math"
	"slices"
)

// finish ends a pass over a target that answered. What it returns is to be filled with
// the report and encoded: the main layout first, then further values of series that
// appeared at several times.
func (c *cache) finish() []*layout {
	c.index.turn()
	if !c.fits() {
		c.relayout()
	}
	n := len(c.report)
	for i, s := range c.full.series[n:] {
		c.full.times[n+i], c.full.values[n+i] = c.settle(s)
	}
	if c.index.sweep(c.pass) {
		c.forget()
	}
	if len(c.extra) == 0 {
		c.out = append(c.out[:0], c.full)
		return c.out
	}
	return append([]*layout{c.full}, c.extras()...)
}

// fail ends a pass over a target that did not answer, or whose answer is not used: all
// its series become stale, once.
func (c *cache) fail() []*layout {
	c.index.abandon()
	var owed []*series
	for _, s := range c.full.series[len(c.report):] {
		if s.live {
			owed = append(owed, s)
		}
	}
	if len(owed) == 0 {
		return []*layout{c.alone}
	}
	l := c.full
	if len(owed) < len(l.series)-len(c.report) {
		l = newLayout(append(append([]*series{}, c.report...), owed...))
	}
	n := len(c.report)
	for i, s := range l.series[n:] {
		l.times[n+i], l.values[n+i] = c.start, stale
		s.live = false
	}
	return []*layout{l}
}

// settle returns what the layout says about a series after the pass: its value, or the
// stale marker that ends it.
func (c *cache) settle(s *series) (int64, float64) {
	if c.seen(s) {
		s.live = !s.explicit || c.trackTime
		return s.time, s.value
	}
	s.live = false
	return c.start, stale
}

func (c *cache) seen(s *series) bool { return s.pass == c.pass && !s.conflict }

// fits says whether the layout can express the pass: no series is new, and each of the
// layout's has a value or is owed a stale marker.
func (c *cache) fits() bool {
	for _, s := range c.fresh {
		if c.seen(s) {
			return false
		}
	}
	for _, s := range c.full.series[len(c.report):] {
		if !c.seen(s) && !s.live {
			return false
		}
	}
	return true
}

// relayout drops the series that have nothing to say and appends the new ones.
func (c *cache) relayout() {
	next := append(make([]*series, 0, len(c.full.series)+len(c.fresh)), c.report...)
	for _, s := range c.full.series[len(c.report):] {
		if s.placed = c.seen(s) || s.live; s.placed {
			next = append(next, s)
		}
	}
	for _, s := range c.fresh {
		if s.placed = c.seen(s); s.placed {
			next = append(next, s)
		}
	}
	c.full = newLayout(next)
}

// extras puts further values of this pass into a layout of their own: a template holds
// one value for each series.
func (c *cache) extras() []*layout {
	var kept []sample
	at := map[instant]int{}
	for _, x := range c.extra {
		k := instant{x.series, x.time}
		i, again := at[k]
		switch {
		case !again:
			at[k] = len(kept)
			kept = append(kept, x)
		case i >= 0 && math.Float64bits(kept[i].value) != math.Float64bits(x.value):
			kept[i].series = nil // two values for one time
			at[k] = -1
			c.counts.conflicts++
		}
	}
	kept = slices.DeleteFunc(kept, func(x sample) bool { return x.series == nil })
	if len(kept) == 0 {
		return nil
	}
	ss := make([]*series, len(kept))
	for i, x := range kept {
		ss[i] = x.series
	}
	l := newLayout(ss)
	for i, x := range kept {
		l.times[i], l.values[i] = x.time, x.value
	}
	return []*layout{l}
}

// instant is one series at one time.
type instant struct {
	series *series
	time   int64
}

// forget drops the series that nothing leads to any more.
func (c *cache) forget() {
	c.known.keep(func(s *series) bool { return s.pass == c.pass || s.live || s.placed || s.report })
}

// inherit takes over the series that another cache of the same target had sent, so that
// those which the new rules no longer produce end with a stale marker.
func (c *cache) inherit(old *cache) {
	for _, s := range old.full.series[len(old.report):] {
		if !s.live || c.known.find(s.labels) != nil {
			continue
		}
		heir := &series{labels: s.labels, typ: s.typ, unit: s.unit, live: true}
		c.known.add(heir)
		c.fresh = append(c.fresh, heir)
	}
	next := append(append([]*series{}, c.report...), c.fresh...)
	for _, s := range c.fresh {
		s.placed = true
	}
	c.full = newLayout(next)
	c.fresh = c.fresh[:0]
}
