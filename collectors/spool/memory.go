package spool

import "slices"

// memory holds entries that the disk did not take. Sending them is better than losing
// them, but their numbers cannot be kept, and a number must never be given to two records:
// so they are numbered under an agent id that ends with the process.
type memory struct {
	standing
	agent string
	limit int
	held  []Item // in order of number; what a shipper took is not here
	bytes int
}

func newMemory(limit int) *memory {
	return &memory{agent: newAgentID(), limit: limit, standing: standing{next: 1}}
}

// push numbers e, and drops the oldest entries that no longer fit beside it.
func (m *memory) push(e Entry) {
	e.Payload = slices.Clone(e.Payload)
	it := Item{Agent: m.agent, Seq: m.next, Entry: e}
	m.next++
	m.give(it)
}

// give takes a new or a returned item and keeps the bound.
func (m *memory) give(it Item) {
	at, _ := slices.BinarySearchFunc(m.held, it.Seq, func(h Item, seq uint64) int { return compare(h.Seq, seq) })
	m.held = slices.Insert(m.held, at, it)
	m.bytes += it.bytes()
	for m.bytes > m.limit {
		m.drop(m.held[0].Seq)
		m.forget(0)
	}
}

// take hands out the oldest item, if it fits room or room is untouched.
func (m *memory) take(room int, first bool) (Item, bool) {
	if len(m.held) == 0 || (!first && m.held[0].bytes() > room) {
		return Item{}, false
	}
	it := m.held[0]
	m.forget(0)
	return it, true
}

func (m *memory) forget(i int) {
	m.bytes -= m.held[i].bytes()
	m.held = slices.Delete(m.held, i, i+1)
}

func (m *memory) drop(seq uint64) {
	if err := m.apply(recordDrop, seq, seq+1); err != nil {
		panic("BUG: " + err.Error())
	}
}

func (m *memory) ack(seq uint64) {
	if err := m.apply(recordAck, seq, seq+1); err != nil {
		panic("BUG: " + err.Error())
	}
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
