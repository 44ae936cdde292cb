package pipeline

import (
	"math"

	"github.com/prometheus/prometheus/model/value"

	"sextant/pipeline/window"
	"sextant/schema/catalog"
	"sextant/schema/quality"
)

// fold is a series of a record that is the same canonical series as another one, the
// lead: it repeats a reading, is a part of it, or is the second choice.
type fold struct {
	series, lead int32 // lead is -1 for a series that a better one makes needless
	rank         int32
	largest      bool // they are parts of which the largest counts
}

// info is a series that the labels of others tell of. It has the value 1 while one of
// them has samples.
type info struct {
	state *series
	of    []int32 // ascending
}

// told is a sample of an info series.
type told struct {
	id    uint64
	time  int64
	value float64
	flags uint16
}

func (p *planner) fold(i int, all []catalog.Mapping) {
	as := &all[i]
	switch {
	case as.Outranked, as.Lead >= 0 && p.l.states[as.Lead] == nil:
		p.l.folds = append(p.l.folds, fold{series: int32(i), lead: -1})
	case as.Lead >= 0:
		lead := all[as.Lead].Metric
		p.l.ids[i] = p.l.ids[as.Lead]
		p.l.folds = append(p.l.folds, fold{series: int32(i), lead: int32(as.Lead), rank: int32(as.Metric.Rank),
			largest: as.Metric.Fold == catalog.FoldMax && as.Metric.Rank == lead.Rank})
	}
}

func (p *planner) info(s *catalog.InfoSeries) {
	c := p.m.canonical(p.n, s.Name, s.Labels)
	c.source = s.Name
	state, isNew, err := p.m.admit(p.n, &c, catalog.Info.String(), "")
	if err == nil && p.twice(state.id) {
		err = errTwice
	}
	if err != nil {
		p.m.counts.RefusedSeries++
		return
	}
	of := make([]int32, len(s.Of))
	for k, i := range s.Of {
		of[k] = int32(i)
	}
	p.l.infos = append(p.l.infos, info{state, of})
	p.buffer(state, isNew)
}

// fold brings the samples of series that are one together, after their values are in the
// canonical unit. The lead's value stands, unless it has none: its labels may have
// changed, an owner for example, so that the old series ends in the very record in which
// the new one begins.
func (p *pass) fold() {
	for _, f := range p.l.folds {
		if p.m.decoder.Series != nil {
			p.samplesOf(f.series, 0, p.drop)
			continue
		}
		i, lead := int(f.series), int(f.lead)
		switch {
		case lead < 0:
			p.m.counts.Outranked++
		case p.dropped(i) || value.IsStaleNaN(p.values[i]) || p.flags[i]&quality.Unusable != 0:
		case p.dropped(lead) || math.IsNaN(p.values[lead]) || p.flags[lead]&quality.Unusable != 0:
			p.values[lead], p.times[lead], p.flags[lead] = p.values[i], p.times[i], p.flags[i]
			if p.gone != nil {
				p.gone[lead] = false
			}
		case f.largest:
			p.values[lead] = max(p.values[lead], p.values[i])
		case f.rank == 0 && p.values[lead] != p.values[i]:
			p.m.counts.Contradictions++
		default:
			p.m.counts.Repeated++
		}
		p.drop(i)
	}
}

// tell finds the samples of the info series. They take their time and flags from the
// first series that tells of them and is alive; if none is, the info series ends.
func (p *pass) tell() []told {
	out := p.m.told[:0]
	for k := range p.l.infos {
		s := &p.l.infos[k]
		from, v := -1, 1.0
		for _, series := range s.of {
			i := p.sampleOf(series)
			if i < 0 {
				continue
			}
			if !value.IsStaleNaN(p.m.decoder.Values[i]) {
				from, v = i, 1
				break
			}
			from, v = i, math.Float64frombits(value.StaleNaN)
		}
		if from < 0 {
			continue
		}
		t := told{s.state.id, p.times[from], v, p.flags[from] & quality.OfScrape}
		if t.time == s.state.last || !p.put(s.state.window, &t) {
			p.count.duplicates++
			continue
		}
		s.state.last = max(s.state.last, t.time)
		out = append(out, t)
	}
	p.m.told = out
	return out
}

// sampleOf returns the last sample of a series, -1 if it has none.
func (p *pass) sampleOf(s int32) int {
	if p.m.decoder.Series == nil {
		return int(s)
	}
	last := -1
	p.samplesOf(s, 0, func(i int) { last = i })
	return last
}

// put fills the window of an info series and reports whether the sample is new.
func (p *pass) put(w *window.Series, t *told) bool {
	if w == nil {
		return true
	}
	if t.flags&quality.Late != 0 {
		return !w.Has(t.time)
	}
	if !w.Add(p.store, t.time, t.value) {
		return false
	}
	p.m.needs.touch(t.time, p.offset, p.m.time.watermark)
	return true
}

// appendTold adds the samples of info series to the columns.
func (s *Samples) appendTold(all []told) {
	for _, t := range all {
		s.Series = append(s.Series, t.id)
		s.Time = append(s.Time, t.time)
		s.Value = append(s.Value, t.value)
		s.Flags = append(s.Flags, t.flags)
	}
}
