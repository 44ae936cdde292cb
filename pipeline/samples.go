package pipeline

import (
	"slices"

	"sextant/pipeline/window"
	"sextant/schema/catalog"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

// tally says what became of the samples of one record.
type tally struct{ stored, late, duplicates int }

// samples appends the decoder's samples to the batch, whole columns at a time, and then
// mends the few places that the layout or the times ask for.
func (m *Machine) samples(rec *wire.Record, env *wire.Envelope, l *layout) tally {
	d := &m.decoder
	out := &m.batch.Samples
	base := len(out.Series)
	n := len(d.Values)
	if d.Series == nil {
		out.Series = append(out.Series, l.ids...)
	} else {
		for _, s := range d.Series {
			out.Series = append(out.Series, l.ids[s])
		}
	}
	out.Time = append(out.Time, d.Times...)
	out.Value = append(out.Value, d.Values...)
	out.Flags = slices.Grow(out.Flags, n)[:base+n]
	p := pass{
		m: m, l: l, target: l.node.target(env.Target), store: m.eval.Store(), offset: rec.Offset,
		ids: out.Series[base:], times: out.Time[base:], values: out.Value[base:], flags: out.Flags[base:],
	}
	m.faults = m.faults[:0]
	p.begin(env)
	p.leaveOut()
	p.supersede()
	p.normalise()
	p.fold()
	p.flagStale()
	p.time(env.Scrape, rec.Ingest)
	p.hold()
	at, late := p.scrapeTime(env.Scrape, rec.Ingest)
	if !late {
		p.crossCheck(at)
	}
	p.fillWindows()
	told := p.derive(p.tell())
	own := len(told)
	told = p.raise(told, at, late)
	kept, t := n, p.count
	if p.gone != nil {
		kept = p.compact()
	}
	if m.replaying {
		kept, own, told = 0, 0, nil
		t = tally{}
	}
	p.countFlags(kept)
	truncateSamples(out, base+kept)
	out.appendTold(told)
	t.stored = kept + own // what tells of flags is not the record's
	return t
}

func truncateSamples(s *Samples, n int) {
	s.Series, s.Time, s.Value, s.Flags = s.Series[:n], s.Time[:n], s.Value[:n], s.Flags[:n]
}

// pass is the treatment of one record's samples, which lie at the end of the batch.
type pass struct {
	m      *Machine
	l      *layout
	target *target // nil: the node has too many
	store  *window.Store
	offset int64
	ids    []uint64
	times  []int64
	values []float64
	flags  []uint16
	any    uint16 // flags that some sample has
	all    uint16 // flags that every sample has, and failures of the scrape
	gone   []bool // samples to leave out; nil while there are none
	count  tally
}

// begin gives the samples the flags of the scrape.
func (p *pass) begin(env *wire.Envelope) {
	clear(p.flags)
	switch env.State {
	case wire.StatePartial:
		p.flagAll(quality.Partial)
	case wire.StateFailed:
		p.any, p.all = quality.Stale, quality.Stale // no sample of it is: there are none but its up
	}
}

// scrapeTime is the time of the whole scrape, and whether it came late.
func (p *pass) scrapeTime(scrape, ingest int64) (at int64, late bool) {
	at, _ = p.m.time.bound(scrape, scrape, ingest)
	if p.target != nil {
		p.target.last = max(p.target.last, at)
		p.target.bind(p.l, at)
	}
	return at, p.m.time.late(at)
}

func (p *pass) drop(i int) {
	if p.gone == nil {
		p.m.gone = slices.Grow(p.m.gone[:0], len(p.ids))[:len(p.ids)]
		clear(p.m.gone)
		p.gone = p.m.gone
	}
	p.gone[i] = true
}

func (p *pass) dropped(i int) bool { return p.gone != nil && p.gone[i] }

// samplesOf calls f with the samples of series s. at is where the samples of the series
// before it ended; the result is where those of s end.
func (p *pass) samplesOf(s int32, at int, f func(i int)) int {
	index := p.m.decoder.Series
	if index == nil {
		f(int(s))
		return int(s) + 1
	}
	for at < len(index) && index[at] < uint32(s) {
		at++
	}
	for ; at < len(index) && index[at] == uint32(s); at++ {
		f(at)
	}
	return at
}

// leaveOut drops the samples of refused series.
func (p *pass) leaveOut() {
	at := 0
	for _, s := range p.l.refused {
		at = p.samplesOf(s, at, func(i int) { p.drop(i); p.m.counts.Refused++ })
	}
}

// normalise brings values to the canonical unit and flags those that say "no value". A
// NaN is left alone: its bits tell a staleness marker from a measured NaN.
func (p *pass) normalise() {
	at := 0
	for _, s := range p.l.treated {
		at = p.samplesOf(s.series, at, func(i int) {
			v, reason := s.metric.Normalize(p.values[i])
			switch reason {
			case catalog.Good:
				p.values[i] = v
			case catalog.NotANumber:
			case catalog.IsBlank:
				p.values[i] = v
				p.flag(i, s.series, s.metric.Canonical, quality.Blank)
			case catalog.OutOfRange:
				p.values[i] = v
				p.flag(i, s.series, s.metric.Canonical, quality.OutOfRange)
			}
		})
	}
}

// time gives each sample its event time, drops the ones that repeat their series' last
// time, and flags the late ones.
func (p *pass) time(scrape, ingest int64) {
	if len(p.times) == 0 {
		return
	}
	lo, hi := slices.Min(p.times), slices.Max(p.times)
	if lo == hi {
		p.oneTime(lo, scrape, ingest)
	} else {
		p.ownTimes(scrape, ingest)
	}
}

// oneTime is the usual case: every sample has the time of the scrape.
func (p *pass) oneTime(t, scrape, ingest int64) {
	e, l := &p.m.time, p.l
	if bounded, retimed := e.bound(t, scrape, ingest); retimed {
		for i := range p.times {
			p.times[i] = bounded
			p.flags[i] |= quality.Retimed
		}
		p.any |= quality.Retimed
		t = bounded
	}
	if p.m.decoder.Series != nil || t <= l.last {
		p.repeats()
	} else {
		l.last, l.lasts = t, nil
	}
	if e.late(t) {
		for i := range p.flags {
			p.flags[i] |= quality.Late
		}
		p.any |= quality.Late
		p.count.late = p.remaining()
	}
}

// ownTimes is for samples that carry the times of their exporter.
func (p *pass) ownTimes(scrape, ingest int64) {
	e := &p.m.time
	for i, t := range p.times {
		if bounded, retimed := e.bound(t, scrape, ingest); retimed {
			p.times[i] = bounded
			p.flags[i] |= quality.Retimed
			p.any |= quality.Retimed
		}
	}
	p.repeats()
	for i, t := range p.times {
		if e.late(t) && !p.dropped(i) {
			p.flags[i] |= quality.Late
			p.any |= quality.Late
			p.count.late++
		}
	}
}

// repeats drops samples whose series had a sample of that very time last. Exporters that
// cache keep their timestamp until the value is new.
func (p *pass) repeats() {
	l := p.l
	if l.lasts == nil {
		l.lasts = make([]int64, len(l.ids))
		for s := range l.lasts {
			l.lasts[s] = l.last
		}
	}
	index := p.m.decoder.Series
	for i, t := range p.times {
		s := i
		if index != nil {
			s = int(index[i])
		}
		if p.dropped(i) {
			continue
		}
		if t == l.lasts[s] || i > 0 && index != nil && index[i-1] == index[i] && p.times[i-1] == t {
			p.drop(i)
			p.count.duplicates++
			continue
		}
		l.lasts[s] = max(l.lasts[s], t)
		l.last = max(l.last, t)
	}
}

func (p *pass) remaining() int {
	n := len(p.ids)
	for _, g := range p.gone {
		if g {
			n--
		}
	}
	return n
}

// fillWindows puts the samples that are not late, and are values, into the windows of
// their series. A
// late sample is in no window, not even a later tick's: which ticks it would reach
// depends on when it came, and a backfill that reads stored samples cannot know that. A
// sample that a window has already is a duplicate, late or not: stored again, it
// would be marked as late and as in no row.
func (p *pass) fillWindows() {
	touch(p.l.windows)
	at, noted := 0, int64(-1)
	for _, w := range p.l.windows {
		if p.m.decoder.Series == nil {
			noted = p.fill(w.window, int(w.series), noted)
			continue
		}
		at = p.samplesOf(w.series, at, func(i int) { noted = p.fill(w.window, i, noted) })
	}
}

// touch reads the memory that the windows are written to next. No cache holds it: it was
// used an interval ago. Read ahead, it comes for all of them at once.
//
//go:noinline
func touch(windows []windowed) (sum int32) {
	for _, w := range windows {
		sum += w.window.Touch()
	}
	return sum
}

// fill puts one sample into its window. noted is the last time for which the record is
// remembered as needed.
func (p *pass) fill(w *window.Series, i int, noted int64) int64 {
	t := p.times[i]
	switch {
	case p.gone != nil && p.gone[i]:
	case p.flags[i]&(quality.Late|quality.Unusable) != 0:
		if w.Has(t) {
			p.drop(i)
			p.count.duplicates++
			p.count.late -= int(p.flags[i] & quality.Late / quality.Late)
		}
	case !w.Add(p.store, t, p.values[i]):
		p.drop(i)
		p.count.duplicates++
	case t != noted:
		p.m.needs.touch(t, p.offset, p.m.time.watermark)
		return t
	}
	return noted
}

// compact moves the samples that stay together and returns their number.
func (p *pass) compact() int {
	to := 0
	for i, gone := range p.gone {
		if gone {
			continue
		}
		p.ids[to], p.times[to], p.values[to], p.flags[to] = p.ids[i], p.times[i], p.values[i], p.flags[i]
		to++
	}
	return to
}
