package spool

import (
	"errors"
	"fmt"
	"time"
)

// Item is an entry with its number. Who took it owes an Ack, a Return or a Sideline.
type Item struct {
	Agent string // the spool's id, or that of its memory
	Seq   uint64
	Entry
}

// itemOverhead stands for the headers and framing of a record.
const itemOverhead = 256

func (it Item) bytes() int { return len(it.Payload) + itemOverhead }

// TakeFresh hands out entries that were appended within Options.Fresh, oldest first, and
// then those in memory: as many as fit maxBytes of payload, and at least one if there is
// one. It does not wait; see Ready.
func (s *Spool) TakeFresh(maxBytes int) ([]Item, error) {
	s.mu.Lock()
	from := s.freshFrom(time.Now())
	s.mu.Unlock()
	items, room, err := s.take(from, ^uint64(0), maxBytes)
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		it, ok := s.memory.take(room, len(items) == 0)
		if !ok {
			return items, err
		}
		items = append(items, it)
		room -= it.bytes()
	}
}

// TakeBacklog hands out entries that are no longer fresh, oldest first, as TakeFresh does.
func (s *Spool) TakeBacklog(maxBytes int) ([]Item, error) {
	s.mu.Lock()
	to := s.freshFrom(time.Now())
	s.mu.Unlock()
	items, _, err := s.take(1, to, maxBytes)
	return items, err
}

// freshFrom is the lowest number that is still fresh.
func (s *Spool) freshFrom(now time.Time) uint64 {
	old := 0
	for old < len(s.recent) && now.Sub(s.recent[old].at) > s.opt.Fresh {
		old++
	}
	s.recent = s.recent[old:]
	if len(s.recent) == 0 {
		return s.next
	}
	return s.recent[0].seq
}

// take hands out what is free and visible in from ≤ n < to.
func (s *Spool) take(from, to uint64, room int) (items []Item, left int, err error) {
	for {
		seq, seg, e, warm := s.claim(from, to)
		if seq == 0 {
			return items, room, nil
		}
		if !warm {
			if e, err = s.reader.read(seg.path, seg.first, seq); err != nil {
				if err := s.unreadable(seq, seg, err); err != nil {
					return items, room, err
				}
				continue
			}
		}
		it := Item{Agent: s.agent, Seq: seq, Entry: e}
		if it.bytes() > room && len(items) > 0 {
			s.release(it)
			return items, room, nil
		}
		items = append(items, it)
		room -= it.bytes()
	}
}

// claim marks the lowest free number of from ≤ n < to as taken, and says where it lies, or
// what it is when that is still in memory.
func (s *Spool) claim(from, to uint64) (seq uint64, seg segment, e Entry, warm bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seq = s.free(from)
	if s.closed || seq >= min(to, s.visible) {
		return 0, segment{}, Entry{}, false
	}
	at := s.find(seq)
	if at == nil {
		panic(fmt.Sprintf("BUG: number %d is unsettled and in no segment", seq))
	}
	s.taken.add(span{seq, seq + 1})
	e, warm = s.warm.take(seq)
	return seq, *at, e, warm
}

// free is the lowest number ≥ n that is neither settled nor taken.
func (s *Spool) free(n uint64) uint64 {
	for {
		m := s.taken.gap(s.journal.settled.gap(n))
		if m == n {
			return n
		}
		n = m
	}
}

func (s *Spool) find(seq uint64) *segment {
	for _, seg := range s.segs {
		if seg.first <= seq && seq < seg.end {
			return seg
		}
	}
	return nil
}

// unreadable settles what is damaged, and returns what is the disk's own fault and may
// pass: then the entry stays.
func (s *Spool) unreadable(seq uint64, seg segment, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putBack(span{seq, seq + 1})
	lost := span{seq, seq + 1}
	switch {
	case errors.Is(err, errEnd), errors.Is(err, errTorn):
		lost.to = seg.end
	case !errors.Is(err, errDamaged):
		return fmt.Errorf("read spool entry %d: %w", seq, err)
	}
	if n := s.giveUp(lost, "damaged"); n > 0 {
		s.log.Error("spool entries are damaged and lost", "segment", seg.path, "first", seq, "count", n)
	}
	return nil
}

// giveUp settles the numbers of sp that no one holds as dropped, and counts them. Those
// that are held may still be delivered, and are dropped if they come back.
func (s *Spool) giveUp(sp span, reason string) uint64 {
	before := s.journal.dropped
	for at := s.free(sp.from); at < sp.to; at = s.free(at) {
		end := min(sp.to, nextStart(s.taken, at), nextStart(s.journal.settled, at))
		s.record(recordDrop, span{at, end})
		at = end
	}
	n := s.journal.dropped - before
	s.m.dropped.WithLabelValues(reason).Add(float64(n))
	return n
}

// putBack makes the numbers of sp free again, or drops those whose segment went at the cap
// while they were held.
func (s *Spool) putBack(sp span) {
	s.taken.remove(sp)
	for n := sp.from; n < sp.to; n++ {
		if s.find(n) == nil {
			s.giveUp(span{n, n + 1}, "cap")
		}
	}
}

// nextStart is where the first span of r above n begins.
func nextStart(r ranges, n uint64) uint64 {
	if i := r.after(n); i < len(r) {
		return r[i].from
	}
	return ^uint64(0)
}

// record settles sp and writes it down. A journal that cannot be written costs a few
// records that are sent again after a restart, no more.
func (s *Spool) record(kind byte, sp span) {
	if err := s.journal.add(kind, sp.from, sp.to); err != nil {
		s.m.journalFailed.Inc()
	}
}

// release gives back an item that was claimed, to be the next that is handed out.
func (s *Spool) release(it Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putBack(span{it.Seq, it.Seq + 1})
	s.warm.put(it.Seq, it.Entry)
}
