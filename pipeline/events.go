package pipeline

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/value"

	"sextant/pipeline/events"
	"sextant/pipeline/window"
	"sextant/schema/catalog"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

// eventful is a thing of a layout that some of its series tell of events of.
type eventful struct {
	thing  *events.Thing
	as     string       // the derived metric
	labels []wire.Label // of the thing
	codes  []int32      // series whose value is a code
	counts []counted    // series whose value is a count
}

type counted struct {
	series int32
	events.Count
}

// Labels of a series that tell of an event and not of whose it is.
var (
	codeLabels = []string{"code", "event"}
	howLabels  = []string{"window_ms", "slot"} // and no part of the event either
)

// events groups the series that tell of events by thing. The state of a thing is the
// node's: it outlives the layout, which changes with the first event of a code.
func (p *planner) events(all []catalog.Mapping) {
	at := map[string]int{}
	for i := range all {
		as := &all[i]
		if as.Metric == nil || as.Metric.Events == "" || p.l.states[i] == nil {
			continue
		}
		labels := slices.DeleteFunc(slices.Clone(as.Labels), func(l wire.Label) bool {
			return slices.Contains(codeLabels, l.Name) || slices.Contains(howLabels, l.Name)
		})
		key := as.Metric.Events + "\xff" + string(appendCanonical(nil, labels))
		k, ok := at[key]
		if !ok {
			k = len(p.l.events)
			at[key] = k
			p.l.events = append(p.l.events, eventful{thing: p.n.thing(key), as: as.Metric.Events, labels: labels})
		}
		e := &p.l.events[k]
		if as.Metric.Kind == catalog.Info {
			e.codes = append(e.codes, int32(i))
			continue
		}
		c := counted{int32(i), events.Count{Key: as.Name + "\xff" + string(appendCanonical(nil, as.Labels)), Total: as.Metric.Kind == catalog.Counter}}
		for _, l := range as.Labels {
			if slices.Contains(codeLabels, l.Name) {
				c.Label, c.Code = l.Name, l.Value
			}
		}
		e.counts = append(e.counts, c)
	}
}

func (n *node) thing(key string) *events.Thing {
	t := n.things[key]
	if t == nil {
		t = &events.Thing{}
		n.things[key] = t
	}
	return t
}

// derive finds the events that came since the scrapes before, and appends their samples
// to those of the info series.
func (p *pass) derive(out []told) []told {
	s := &p.m.thing
	for k := range p.l.events {
		e := &p.l.events[k]
		*s = events.Scrape{Codes: s.Codes[:0], Counts: s.Counts[:0]}
		flags := p.scrapeOf(e, s)
		if s.At == 0 {
			continue
		}
		p.remember(s.At)
		p.m.found = e.thing.Step(s, p.m.found[:0])
		for i := range p.m.found {
			out = p.event(e, &p.m.found[i], told{time: s.At, flags: flags}, out)
		}
	}
	p.m.told = out
	return out
}

// scrapeOf gathers what the record tells of a thing. Late samples tell nothing: what came
// after them is known.
func (p *pass) scrapeOf(e *eventful, s *events.Scrape) (flags uint16) {
	read := func(series int32) (v float64, ok bool) {
		i := p.sampleOf(series)
		if i < 0 || p.dropped(i) || p.flags[i]&(quality.Late|quality.Unusable) != 0 {
			return 0, false
		}
		s.At = max(s.At, p.times[i])
		flags |= p.flags[i]
		return p.values[i], true
	}
	for _, series := range e.codes {
		if v, ok := read(series); ok && !math.IsNaN(v) {
			s.Coded, s.Codes = true, append(s.Codes, v)
		}
	}
	for k := range e.counts {
		c := e.counts[k].Count
		v, ok := read(e.counts[k].series)
		c.Value, c.Ended = v, value.IsStaleNaN(v)
		// A partial scrape may have lost the line and not the count.
		if ok && (!math.IsNaN(v) || c.Ended && flags&quality.Partial == 0) {
			s.Counts = append(s.Counts, c)
		}
	}
	return flags & quality.OfScrape
}

// event makes the samples of an event: how many there were, and when.
func (p *pass) event(e *eventful, ev *events.Event, t told, out []told) []told {
	ls := append(make([]wire.Label, 0, len(e.labels)+2), e.labels...)
	if ev.Code != "" {
		ls = append(ls, wire.Label{Name: ev.Label, Value: ev.Code})
	}
	if ev.ByCode {
		ls = append(ls, wire.Label{Name: "via", Value: "gauge"})
	}
	p.m.counts.Events += uint64(ev.N)
	for _, d := range [...]struct {
		name  string
		value float64
	}{{e.as, ev.N}, {catalog.LastOf(e.as), float64(t.time) / 1000}} {
		s, err := p.m.derived(p.l.node, d.name, ls)
		if err != nil {
			p.m.counts.RefusedSeries++
			continue
		}
		t.id, t.value = s.id, d.value
		if p.put(s.window, &t) {
			out = append(out, t)
		}
	}
	return out
}

// derived returns a series that no exporter has.
func (m *Machine) derived(n *node, name string, ls []wire.Label) (*series, error) {
	c := m.canonical(n, name, ls)
	c.source = name
	kind, unit := catalog.Unknown, ""
	if c.metric, _ = m.cfg.Catalog.Lookup(name); c.metric != nil {
		kind, unit = c.metric.Kind, c.metric.Unit
	}
	s, isNew, err := m.admit(n, &c, kind.String(), unit)
	if isNew && s.window != nil {
		m.eval.Store().Buffers([]*window.Series{s.window}, m.time.interval)
	}
	return s, err
}
