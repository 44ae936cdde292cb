package receive

import "math"

// none is the slot of a series that does not go on.
const none = math.MaxUint32

// maxPayload is the size of an entry, in bytes, at which a further one is begun. It
// leaves room for the envelope below a broker's usual limit of 1 MiB. A block, which is
// what the series of an entry cost without their samples, gets two thirds of it.
const (
	maxPayload = 900 << 10
	maxBlock   = 600 << 10
)

// plan says where the series of a request with a certain layout go. It does not change
// once it is made.
type plan struct {
	samples int      // of the request that made it: another number is another layout
	slots   []uint32 // by series of the request; none: it does not go on
	of      []uint32 // by slot, the request's series of it
	blocks  []block
	dropped int       // series that a rule dropped
	refused []refusal // by series, ascending
	merged  bool      // two series of the request are one
}

// refusal is a series that cannot go on.
type refusal struct {
	series uint32
	err    error
}

// plan returns the plan of a request. scratch is used for a layout that came for the first
// time: senders that cut their requests anywhere never send one twice, and a plan is only
// worth remembering for those that do.
func (r *router) plan(b *batch, scratch *plan) (p *plan, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.plans[b.layout]; p != nil && p.samples == len(b.values) && len(p.slots) == b.series {
		return p, true
	}
	if len(r.known) > maxKnown || r.symbols.bytes > maxSymbolBytes {
		r.forget()
	}
	if _, again := r.seen[b.layout]; !again {
		if len(r.seen) >= maxSeen {
			clear(r.seen)
		}
		r.seen[b.layout] = struct{}{}
		r.make(b, scratch)
		return scratch, false
	}
	if r.planned += b.series; r.planned > maxPlanned {
		clear(r.plans)
		r.planned = b.series
	}
	p = &plan{}
	r.make(b, p)
	r.plans[b.layout] = p
	return p, false
}

// make fills p for the request.
func (r *router) make(b *batch, p *plan) {
	r.pass++
	r.budget = labelBudget
	*p = plan{samples: len(b.values), slots: p.slots[:0], of: p.of[:0], blocks: p.blocks[:0], refused: p.refused[:0]}
	r.order, r.places = r.order[:0], r.places[:0]
	for i := range b.series {
		s, err := r.find(b, i)
		switch {
		case err != nil:
			p.refused = append(p.refused, refusal{uint32(i), err})
			s = nil
		case s.refused != nil:
			p.refused = append(p.refused, refusal{uint32(i), s.refused})
			s = nil
		case s.dropped:
			p.dropped++
			s = nil
		case s.pass == r.pass:
			p.merged = true
		default:
			s.pass = r.pass
			r.place(member{s, uint32(i)})
		}
		r.places = append(r.places, s)
	}
	for _, h := range r.order {
		r.blocks(p, h)
	}
	for _, s := range r.places {
		slot := uint32(none)
		if s != nil {
			slot = s.slot
		}
		p.slots = append(p.slots, slot)
	}
}

// place puts a series among those of its home.
func (r *router) place(m member) {
	h := m.home
	if h.pass != r.pass {
		h.pass, h.members = r.pass, h.members[:0]
		r.order = append(r.order, h)
	}
	h.members = append(h.members, m)
}

// blocks adds the blocks of one home to p: one, unless it would be too large.
func (r *router) blocks(p *plan, h *homeOf) {
	var b *block
	for _, m := range h.members {
		if b == nil || b.size() > maxBlock {
			p.blocks = extend(p.blocks)
			b = &p.blocks[len(p.blocks)-1]
			b.reset(h.home, uint32(len(p.of)))
			r.block++
			r.local(b, 0)
		}
		m.slot = uint32(len(p.of))
		p.of = append(p.of, m.of)
		r.encode(b, m.series)
	}
}

// extend makes room for one more block and keeps the memory of the one that was there.
func extend(b []block) []block {
	if len(b) < cap(b) {
		return b[:len(b)+1]
	}
	return append(b, block{})
}
