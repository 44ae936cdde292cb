package pipeline

// senders remembers the records that each agent sent lately. A producer that heard no
// answer sends a record again, and both may have arrived. It is exact while it
// remembers; after a restart it may not, and then the rows' keys see to it.
type senders map[string]*sent

// sent is the last sequence numbers of one agent: bit i of past says that newest-1-i came.
type sent struct {
	newest uint64
	past   [sentWindow / 64]uint64
	ingest int64 // unix ms
}

const sentWindow = 1024

// again notes a record and reports whether it came before.
func (s senders) again(agent string, seq uint64, ingest int64) bool {
	a, ok := s[agent]
	if !ok {
		s[agent] = &sent{newest: seq, ingest: ingest}
		return false
	}
	a.ingest = ingest
	switch {
	case seq == a.newest:
		return true
	case seq > a.newest:
		a.shift(seq - a.newest)
		a.newest = seq
		return false
	}
	back := a.newest - seq - 1
	if back >= sentWindow {
		return false
	}
	bit := uint64(1) << (back % 64)
	was := a.past[back/64]&bit != 0
	a.past[back/64] |= bit
	return was
}

// shift makes room for n newer numbers; the newest so far becomes bit n-1.
func (a *sent) shift(n uint64) {
	if n > sentWindow {
		a.past = [sentWindow / 64]uint64{}
		return
	}
	for range n / 64 {
		copy(a.past[1:], a.past[:])
		a.past[0] = 0
	}
	if r := n % 64; r > 0 {
		for i := len(a.past) - 1; i > 0; i-- {
			a.past[i] = a.past[i]<<r | a.past[i-1]>>(64-r)
		}
		a.past[0] <<= r
	}
	a.past[(n-1)/64] |= 1 << ((n - 1) % 64)
}

// forget drops the agents that sent nothing since.
func (s senders) forget(since int64) {
	for agent, a := range s {
		if a.ingest < since {
			delete(s, agent)
		}
	}
}
