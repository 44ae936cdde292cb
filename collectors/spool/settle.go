package spool

// Ack settles items that the broker has acknowledged.
func (s *Spool) Ack(items ...Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.each(items, func(it Item) { s.memory.ack(it.Seq) }, func(sp span) {
		s.taken.remove(sp)
		s.record(recordAck, sp)
	})
	if s.active == nil || len(s.segs) > 1 {
		s.wake() // a segment may have become reclaimable, which the one that is written never is
	}
}

// Return puts items back that were not acknowledged, or may not have been. They are
// offered again under the same numbers.
func (s *Spool) Return(items ...Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.each(items, s.memory.give, s.putBack)
	s.notify()
}

// Standing returns what the record of it says about its agent id when it is sent: the
// lowest number that is not settled, and how many were dropped.
func (s *Spool) Standing(it Item) (oldest, dropped uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := &s.journal.standing
	if it.Agent == s.memory.agent {
		of = &s.memory.standing
	}
	return of.settled.gap(1), of.dropped
}

// each calls volatile for the items of the memory, and durable for runs of the others.
func (s *Spool) each(items []Item, volatile func(Item), durable func(span)) {
	var run span
	for _, it := range items {
		switch {
		case it.Agent == s.memory.agent:
			volatile(it)
		case it.Seq == run.to && run.to != 0:
			run.to++
		default:
			if run.to != 0 {
				durable(run)
			}
			run = span{it.Seq, it.Seq + 1}
		}
	}
	if run.to != 0 {
		durable(run)
	}
}
