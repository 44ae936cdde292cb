package exposition

import "math"

// Page collects the samples of one page by the cache's index of their series, and finds
// the series that the page gives twice. One index must stand for one final set of
// labels: if relabelling makes two series texts equal, both have the same index.
//
//	page.Reset(len(cache))
//	page.Add(index, ms, value) // for each sample
//	page.Finish()
//
// Then Index, Times and Values hold the samples to keep, in the page's order. The zero
// value is ready.
type Page struct {
	Index  []uint32
	Times  []int64 // unix ms
	Values []float64

	// Excess counts samples that were left out because their series had MaxTimes times
	// on the page already.
	Excess int

	// Duplicates counts samples that repeat another of the same series, time and value;
	// one of them is kept. Conflicts counts pairs of series and time that the page gives
	// different values: none is kept, because nothing says which is true.
	Duplicates int
	Conflicts  int

	last  []slot   // by index: the series' last sample on this page
	prev  []uint32 // by sample: 1 + the sample of the same series before it, or 0
	doubt []bool   // by sample: in conflict; nil while there is none
	page  uint32   // number of the page; slots of other pages count as empty
}

type slot struct{ page, sample uint32 }

// MaxTimes is how many different timestamps one series may have on one page. Exporters
// that keep a short history give a few; without a bound, a page of one series would cost
// the square of its lines.
const MaxTimes = 256

// Reset forgets the samples and makes room for indexes below series. Add grows the room
// by itself when an index is beyond it.
func (p *Page) Reset(series int) {
	p.Index, p.Times, p.Values = p.Index[:0], p.Times[:0], p.Values[:0]
	p.prev, p.doubt = p.prev[:0], nil
	p.Duplicates, p.Conflicts, p.Excess = 0, 0, 0
	p.grow(series)
	if p.page++; p.page == 0 { // after 2^32 pages old slots could pass for new ones
		clear(p.last)
		p.page = 1
	}
}

func (p *Page) grow(series int) {
	if series > len(p.last) {
		p.last = append(p.last, make([]slot, series-len(p.last))...)
	}
}

// Add takes one sample. ms is the time that it will be stored at: its own timestamp or
// that of the scrape.
func (p *Page) Add(index uint32, ms int64, value float64) {
	if int(index) >= len(p.last) {
		p.grow(int(index) + 1)
	}
	at := &p.last[index]
	before := uint32(0)
	if at.page == p.page {
		before = at.sample + 1
		if p.repeats(before, ms, value) {
			return
		}
	}
	*at = slot{p.page, uint32(len(p.Index))}
	p.Index = append(p.Index, index)
	p.Times = append(p.Times, ms)
	p.Values = append(p.Values, value)
	p.prev = append(p.prev, before)
}

// repeats says that the chain of samples from before on has one at time ms already, or
// is full.
func (p *Page) repeats(before uint32, ms int64, value float64) bool {
	n := 0
	for ; before != 0; before = p.prev[before-1] {
		n++
		k := before - 1
		if p.Times[k] != ms {
			continue
		}
		switch {
		case math.Float64bits(p.Values[k]) == math.Float64bits(value):
			p.Duplicates++
		case p.doubt == nil || int(k) >= len(p.doubt) || !p.doubt[k]:
			p.Conflicts++
			p.doubt = append(p.doubt, make([]bool, len(p.Index)-len(p.doubt))...)
			p.doubt[k] = true
		}
		return true
	}
	if n == MaxTimes {
		p.Excess++
	}
	return n == MaxTimes
}

// Finish takes the samples in conflict out.
func (p *Page) Finish() {
	if p.Conflicts == 0 {
		return
	}
	n := 0
	for k := range p.Index {
		if k < len(p.doubt) && p.doubt[k] {
			continue
		}
		p.Index[n], p.Times[n], p.Values[n] = p.Index[k], p.Times[k], p.Values[k]
		n++
	}
	p.Index, p.Times, p.Values = p.Index[:n], p.Times[:n], p.Values[:n]
}
