package receive

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sextant/collectors/spool"
	"sextant/schema/wire"
)

// Sink keeps entries. What it has returned for is durable: the spool is one.
type Sink interface {
	Append(e spool.Entry) (seq uint64, err error)
}

const (
	// maxTimes is how many times the samples of a home may have and still get an entry for
	// each. More of them are the times of an exporter that stamps every series; they share
	// an entry, as they do when the agent scrapes them.
	maxTimes = 16
	// maxPoints is how many samples of one series stand in one entry.
	maxPoints = 8192
)

// span is the time that samples may have, in unix ms, both ends included.
type span struct{ oldest, newest, now int64 }

// writer puts the samples of a request into the sink, an entry for each home and time.
// The time of a sample is then the time of its record, so it stands even when the
// pipeline gets the record so late that it does not believe a sample's own.
type writer struct {
	sink Sink
	span span
	b    *batch
	p    *plan
	done outcome

	out     []byte // the entry that is being made
	block   *block
	time    int64 // of that entry
	pending int   // samples in it

	order  []uint32 // samples by slot …
	starts []uint32 // … and where those of each slot begin
	points []point  // of a block, by slot
	ends   []uint32 // where those of each slot of the block end
	times  []int64
}

// write writes all that the plan lets through. An error says that the sink could not keep
// everything just now; entries may have been written.
func (w *writer) write(sink Sink, b *batch, p *plan, s span) error {
	w.sink, w.b, w.p, w.span = sink, b, p, s
	w.done = outcome{samples: len(b.values)}
	w.leaveOut()
	single := b.index == nil && !p.merged
	if !single {
		w.sortBySlot()
	}
	for i := range p.blocks {
		blk := &p.blocks[i]
		write := w.general
		if t, one := w.oneTime(blk); single && one && w.accepts(t) {
			write = w.simple
		}
		if err := write(blk); err != nil {
			return err
		}
	}
	return nil
}

// leaveOut counts the samples of the series that do not go on.
func (w *writer) leaveOut() {
	at, refused := 0, 0
	for _, r := range w.p.refused {
		n := 1
		if index := w.b.index; index != nil {
			for at < len(index) && index[at] < r.series {
				at++
			}
			for n = 0; at < len(index) && index[at] == r.series; at++ {
				n++
			}
		}
		refused += n
		w.done.refuse(badSeries, n, r.err)
	}
	if w.p.dropped > 0 {
		w.done.written += w.without() - refused
	}
}

// without counts the samples that have no slot.
func (w *writer) without() int {
	n := 0
	for i := range w.b.values {
		s := i
		if w.b.index != nil {
			s = int(w.b.index[i])
		}
		if w.p.slots[s] == none {
			n++
		}
	}
	return n
}

func (w *writer) accepts(t int64) bool { return t >= w.span.oldest && t <= w.span.newest }

// oneTime says whether the samples of a block, one for each of its series, have the same
// time.
func (w *writer) oneTime(b *block) (int64, bool) {
	if w.b.index != nil {
		return 0, false
	}
	of := w.p.of[b.from:b.to()]
	t := w.b.times[of[0]]
	for _, i := range of[1:] {
		if w.b.times[i] != t {
			return 0, false
		}
	}
	return t, true
}

// simple writes a block of which every series has one sample, all at one time.
func (w *writer) simple(b *block) error {
	w.begin(b, w.b.times[w.p.of[b.from]])
	for k, i := range w.p.of[b.from:b.to()] {
		p := [1]point{{w.b.times[i], w.b.values[i]}}
		if err := w.add(b.from+uint32(k), p[:]); err != nil {
			return err
		}
	}
	return w.end()
}

// general writes a block of which series have any number of samples at any times.
func (w *writer) general(b *block) error {
	w.collect(b)
	if len(w.times) > maxTimes {
		return w.together(b)
	}
	slices.Sort(w.times)
	for _, t := range w.times {
		w.begin(b, t)
		for slot := b.from; slot < b.to(); slot++ {
			points := w.of(b, slot)
			if at, ok := slices.BinarySearchFunc(points, t, func(p point, t int64) int { return int(sign(p.time - t)) }); ok {
				if err := w.add(slot, points[at:at+1]); err != nil {
					return err
				}
			}
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	return nil
}

func sign(d int64) int64 {
	switch {
	case d < 0:
		return -1
	case d > 0:
		return 1
	}
	return 0
}

// together writes a block with all times in one entry.
func (w *writer) together(b *block) error {
	newest := int64(math.MinInt64)
	for _, p := range w.points {
		newest = max(newest, p.time)
	}
	w.begin(b, newest)
	for slot := b.from; slot < b.to(); slot++ {
		for points := range slices.Chunk(w.of(b, slot), maxPoints) {
			if err := w.add(slot, points); err != nil {
				return err
			}
		}
	}
	return w.end()
}

// collect gathers the acceptable points of a block's slots, each slot's by time, and up to
// one more than maxTimes of their times.
func (w *writer) collect(b *block) {
	w.points, w.ends, w.times = w.points[:0], w.ends[:0], w.times[:0]
	for slot := b.from; slot < b.to(); slot++ {
		from := len(w.points)
		for _, i := range w.samplesOf(slot) {
			switch t := w.b.times[i]; {
			case t < w.span.oldest:
				w.done.refuse(tooOld, 1, fmt.Errorf("series %d: time %d, the oldest accepted is %d", w.p.of[slot], t, w.span.oldest))
			case t > w.span.newest:
				w.done.refuse(tooNew, 1, fmt.Errorf("series %d: time %d, the newest accepted is %d", w.p.of[slot], t, w.span.newest))
			default:
				w.points = append(w.points, point{t, w.b.values[i]})
			}
		}
		w.points = w.settle(slot, from)
		w.ends = append(w.ends, uint32(len(w.points)))
		for _, p := range w.points[from:] {
			if len(w.times) <= maxTimes && !slices.Contains(w.times, p.time) {
				w.times = append(w.times, p.time)
			}
		}
	}
}

// settle sorts the points of a slot, which begin at from, and leaves one for each time.
func (w *writer) settle(slot uint32, from int) []point {
	points := w.points[from:]
	if len(points) < 2 {
		return w.points
	}
	slices.SortStableFunc(points, func(a, b point) int { return int(sign(a.time - b.time)) })
	kept := 1
	for _, p := range points[1:] {
		switch last := points[kept-1]; {
		case p.time != last.time:
			points[kept] = p
			kept++
		case math.Float64bits(p.value) == math.Float64bits(last.value):
			w.done.written++ // the same sample again
		default:
			w.done.refuse(conflict, 1, fmt.Errorf("series %d: %v and %v at %d", w.p.of[slot], last.value, p.value, p.time))
		}
	}
	return w.points[:from+kept]
}

// of are the points of a slot of the collected block.
func (w *writer) of(b *block, slot uint32) []point {
	k := slot - b.from
	start := uint32(0)
	if k > 0 {
		start = w.ends[k-1]
	}
	return w.points[start:w.ends[k]]
}

// samplesOf are the samples of a slot.
func (w *writer) samplesOf(slot uint32) []uint32 {
	if w.b.index == nil && !w.p.merged {
		return w.p.of[slot : slot+1]
	}
	return w.order[w.starts[slot]:w.starts[slot+1]]
}

// sortBySlot fills order and starts.
func (w *writer) sortBySlot() {
	slots := len(w.p.of)
	w.starts = slices.Grow(w.starts[:0], slots+2)[:slots+2]
	clear(w.starts)
	each := func(f func(slot uint32, i int)) {
		for i := range w.b.values {
			s := i
			if w.b.index != nil {
				s = int(w.b.index[i])
			}
			if slot := w.p.slots[s]; slot != none {
				f(slot, i)
			}
		}
	}
	each(func(slot uint32, _ int) { w.starts[slot+2]++ })
	for k := 2; k < len(w.starts); k++ {
		w.starts[k] += w.starts[k-1]
	}
	w.order = slices.Grow(w.order[:0], len(w.b.values))[:len(w.b.values)]
	each(func(slot uint32, i int) {
		w.order[w.starts[slot+1]] = uint32(i)
		w.starts[slot+1]++
	})
}

// begin begins an entry.
func (w *writer) begin(b *block, ms int64) {
	w.block, w.time, w.pending = b, ms, 0
	w.out = append(w.out[:0], b.head...)
}

// add puts points of a series into the entry, or into a further one when it is full.
func (w *writer) add(slot uint32, points []point) error {
	if len(points) == 0 {
		return nil
	}
	if c := w.block.cuts[slot-w.block.from]; w.pending > 0 && len(w.out)+int(c.end-c.start)+18*len(points) > maxPayload {
		if err := w.end(); err != nil {
			return err
		}
		w.begin(w.block, w.time)
	}
	w.out = w.block.append(w.out, slot, points)
	w.pending += len(points)
	return nil
}

// end hands the entry to the sink.
func (w *writer) end() error {
	if w.pending == 0 {
		return nil
	}
	_, err := w.sink.Append(spool.Entry{
		Node: w.block.node, Target: w.block.target, Scrape: max(min(w.time, w.span.now), 0),
		State: wire.StateOK, Payload: w.out, Received: true,
	})
	switch {
	case err == nil:
		w.done.written += w.pending
		w.done.entries++
	case errors.Is(err, spool.ErrRefused):
		w.done.refuse(unstorable, w.pending, err)
	default:
		return err
	}
	return nil
}
