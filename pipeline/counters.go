package pipeline

import (
	"math"

	"sextant/pipeline/crosscheck"
	"sextant/pipeline/events"
	"sextant/schema/catalog"
	"sextant/schema/quality"
)

// bootTime tells of the last boot of a node. It is the epoch of the kernel's counters.
const bootTime = "node_boot_time_seconds"

// bootJitter is how far the boot time of one boot may move, in seconds: the kernel
// computes it anew from its clock.
const bootJitter = 60

// counter is a counter of a layout whose falls are told apart. The engine takes every fall
// for a start from 0 and counts all of the new value as growth; so a counter that only
// corrects itself is held at the highest value that it had.
type counter struct {
	series    int32
	stepsBack float64
	mark
}

// mark is the highest value of a counter since it began.
type mark struct {
	value float64
	at    int64   // time of the newest sample that was judged, unix ms
	boot  float64 // boot time of the node then, 0 if unknown
}

// counter notes a series whose falls matter: those that step back, and those of devices,
// which begin anew with their driver.
func (p *planner) counter(i int, as *catalog.Mapping) {
	m := as.Metric
	if m == nil {
		return
	}
	if m.Newest {
		p.l.newest = append(p.l.newest, int32(i))
	}
	if m.Kind == catalog.Counter && (m.StepsBack > 0 || m.Vendor != "") {
		p.l.counters = append(p.l.counters, counter{series: int32(i), stepsBack: m.StepsBack})
	}
	if as.Name == bootTime {
		p.l.boot = int32(i)
	}
}

// hold judges the falls of counters. Late samples are left as they are: what came after
// them is known.
func (p *pass) hold() {
	if len(p.l.counters) == 0 && p.l.boot < 0 {
		return
	}
	p.reboot()
	at, noted := 0, int64(-1)
	for k := range p.l.counters {
		c := &p.l.counters[k]
		if p.m.decoder.Series == nil {
			noted = p.judge(c, int(c.series), noted)
			continue
		}
		at = p.samplesOf(c.series, at, func(i int) { noted = p.judge(c, i, noted) })
	}
}

// reboot notes the boot time of the node.
func (p *pass) reboot() {
	if p.l.boot < 0 {
		return
	}
	i := p.sampleOf(p.l.boot)
	if i >= 0 && p.values[i] > 0 && !p.dropped(i) && p.flags[i]&(quality.Late|quality.Unusable) == 0 {
		p.l.node.boot = p.values[i]
	}
}

// judge compares a sample that is newer than the mark with it. noted is the last time for
// which the record is remembered as needed.
func (p *pass) judge(c *counter, i int, noted int64) int64 {
	v, t := p.values[i], p.times[i]
	if t <= c.at || v != v || p.flags[i]&(quality.Late|quality.Unusable) != 0 || p.dropped(i) {
		return noted
	}
	if t != noted {
		p.remember(t)
	}
	boot := p.l.node.boot
	c.at = t
	switch {
	case v >= c.value:
	case c.value-v < c.stepsBack && sameBoot(c.boot, boot):
		p.values[i] = c.value
		p.flags[i] |= quality.Held
		p.any |= quality.Held
		return t
	default:
		p.flags[i] |= quality.Reset
		p.any |= quality.Reset
	}
	c.value, c.boot = v, boot
	return t
}

func sameBoot(a, b float64) bool { return a == 0 || b == 0 || math.Abs(a-b) <= bootJitter }

// supersede leaves the newest of several samples of a series, where the older ones are of
// what was there before: a container that was started again is twice on the page.
func (p *pass) supersede() {
	if p.m.decoder.Series == nil {
		return
	}
	at := 0
	for _, s := range p.l.newest {
		newest := -1
		at = p.samplesOf(s, at, func(i int) {
			older := i
			if newest < 0 || p.times[i] > p.times[newest] {
				newest, older = i, newest
			}
			if older >= 0 {
				p.drop(older)
				p.m.counts.Superseded++
			}
		})
	}
}

// remember notes that what the machine says next hangs on this record. Marks and events
// are no part of a checkpoint: a restart finds them by reading the record again.
func (p *pass) remember(t int64) { p.m.recent.touch(t, p.offset, p.m.time.watermark) }

// memory is how far before the windows a restart begins to read, in ms.
const memory = int64(events.Memory / 1_000_000)

// oldest is the first record that a restart needs.
func (m *Machine) oldest() (first need, ok bool) {
	windows := m.eval.Store().History()
	for _, x := range [...]struct {
		needs   *needs
		history int64 // ms
	}{
		{&m.needs, windows}, {&m.recent, windows + memory},
		{&m.judgments, crosscheck.Memory + m.time.interval}, {&m.flagged, m.flagHistory()},
	} {
		if n, is := x.needs.oldest(m.time.next() - x.history); is && (!ok || n.offset < first.offset) {
			first, ok = n, true
		}
	}
	return first, ok
}
