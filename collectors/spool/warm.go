package spool

import "slices"

// warm holds copies of the newest entries, so that a shipper that keeps up with the
// appends reads and unpacks nothing. It decides nothing: an entry is offered when the sync
// policy has it, and what is not here comes from the disk.
type warm struct {
	held  []Item // in order of number
	bytes int
}

// What warm holds at most: a few pages, and while the broker is away not more.
const (
	warmBytes   = 1 << 20
	warmEntries = 256
)

// put keeps e, whose payload is not the caller's any more, and lets the oldest entries go
// that no longer fit beside it.
func (w *warm) put(seq uint64, e Entry) {
	it := Item{Seq: seq, Entry: e}
	if it.bytes() > warmBytes {
		return
	}
	w.held = slices.Insert(w.held, w.at(seq), it)
	w.bytes += it.bytes()
	n := 0
	for ; w.bytes > warmBytes || len(w.held)-n > warmEntries; n++ {
		w.bytes -= w.held[n].bytes()
	}
	w.held = slices.Delete(w.held, 0, n)
}

// take hands out entry seq, which is then no longer held.
func (w *warm) take(seq uint64) (Entry, bool) {
	i := w.at(seq)
	if i == len(w.held) || w.held[i].Seq != seq {
		return Entry{}, false
	}
	e := w.held[i].Entry
	w.bytes -= w.held[i].bytes()
	w.held = slices.Delete(w.held, i, i+1)
	return e, true
}

// at is where seq is or would be.
func (w *warm) at(seq uint64) int {
	i, _ := slices.BinarySearchFunc(w.held, seq, func(h Item, seq uint64) int { return compare(h.Seq, seq) })
	return i
}
