package receive

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"sextant/schema/wire"
)

// The most that a router remembers. Beyond it, all is forgotten and learnt again.
const (
	maxKnown       = 1 << 17  // series
	maxSymbolBytes = 32 << 20 // text
	maxPlanned     = 1 << 17  // series of all remembered plans
	maxSeen        = 1 << 12  // layouts seen once
)

const (
	// maxSeriesBytes bounds the labels of one series.
	maxSeriesBytes = 64 << 10
	// labelBudget bounds the labels of the new series of one request. A small 2.0 request
	// can refer to the same large symbol from every series.
	labelBudget = 128 << 20
)

// router remembers where the series of the senders go, and the plans of requests whose
// layout came more than once. Its methods may be called from any goroutine.
type router struct {
	rules rules
	seed  uint64

	mu      sync.Mutex             // guards all below
	known   map[[2]uint64]*series  // by what the sender wrote
	named   map[[2]uint64]*series  // by node and labels as they go on
	homes   map[home]*homeOf       //
	symbols symbols                // of all series
	plans   map[[2]uint64]*plan    // by layout
	seen    map[[2]uint64]struct{} // layouts that came once
	planned int                    // series of plans
	pass    uint64                 // number of the plan that is being made
	block   uint64                 // number of the block that is being made
	order   []*homeOf              // of the plan that is being made
	places  []*series              // of the plan that is being made, by series of the request
	labels  []wire.Label
	budget  int // bytes of labels that may still be read
}

// series is a series as it goes on.
type series struct {
	home *homeOf
	refs []uint32 // symbols: name, value, name, …
	meta metadata

	refused error // why it does not go on
	dropped bool  // by a relabelling rule

	pass uint64 // the plan that last used it …
	slot uint32 // … and its place there
}

type metadata struct {
	typ        wire.MetricType
	unit, help uint32 // symbols
}

// homeOf is a home with the series that the plan being made has there.
type homeOf struct {
	home
	pass    uint64
	members []member
}

// member is a series of a request, the first of its labels.
type member struct {
	*series
	of uint32 // its index in the request
}

func newRouter(r rules, seed uint64) *router {
	x := &router{rules: r, seed: seed, plans: map[[2]uint64]*plan{}, seen: map[[2]uint64]struct{}{}}
	x.forget()
	return x
}

// forget empties the memory of series. Plans stand by themselves and stay.
func (r *router) forget() {
	r.known, r.named = map[[2]uint64]*series{}, map[[2]uint64]*series{}
	r.homes = map[home]*homeOf{}
	r.symbols = newSymbols()
}

// find returns series i of the batch. The error says that its labels cannot be read.
func (r *router) find(b *batch, i int) (*series, error) {
	key, err := b.key(i)
	if err != nil {
		return nil, err
	}
	s := r.known[key]
	if s == nil {
		if s, err = r.learn(b, i); err != nil {
			return nil, err
		}
		r.known[key] = s
	}
	return s, nil
}

// learn makes a series of what the request says, or finds that the same one came in
// another form.
func (r *router) learn(b *batch, i int) (*series, error) {
	if r.budget < 0 {
		return nil, fmt.Errorf("series %d: the new series of the request have more than %d bytes of labels", i, labelBudget)
	}
	ls, size := r.labels[:0], 0
	err := b.Labels(i, func(name, value []byte) bool {
		if size += len(name) + len(value); size > maxSeriesBytes {
			return false
		}
		ls = append(ls, wire.Label{Name: r.symbols.intern(name), Value: r.symbols.intern(value)})
		return true
	})
	r.labels = ls
	r.budget -= size
	switch {
	case err != nil:
		return nil, err
	case size > maxSeriesBytes:
		return nil, fmt.Errorf("series %d: %w", i, errTooLong)
	}
	h, ls, keep, err := r.rules.apply(ls)
	if !keep || err != nil {
		return &series{dropped: !keep, refused: err}, nil //nolint:nilerr // the fault is the series', and is answered with it
	}
	id := hash(h.node, ls, r.seed)
	s := r.named[id]
	if s == nil {
		s = &series{home: r.homeOf(h), refs: make([]uint32, 0, 2*len(ls))}
		for _, l := range ls {
			s.refs = append(s.refs, r.symbols.ref(l.Name), r.symbols.ref(l.Value))
		}
		r.named[id] = s
	}
	if typ, unit, help := b.Meta(i); typ != 0 || unit != "" || help != "" {
		s.meta = metadata{typ, r.symbols.ref(unit), r.symbols.ref(help)}
	}
	return s, nil
}

func (r *router) homeOf(h home) *homeOf {
	x := r.homes[h]
	if x == nil {
		x = &homeOf{home: home{strings.Clone(h.node), strings.Clone(h.target)}}
		r.homes[x.home] = x
	}
	return x
}

// hash is the key of a series under which it is known whoever sent it.
func hash(node string, labels []wire.Label, seed uint64) [2]uint64 {
	b := make([]byte, 0, 512)
	b = append(append(b, node...), 0xff)
	for _, l := range labels {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(l.Name)))
		b = append(b, l.Name...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(l.Value)))
		b = append(b, l.Value...)
	}
	sum := xxh3.Hash128Seed(b, seed)
	return [2]uint64{sum.Hi, sum.Lo}
}

// symbols numbers texts. Number 0 is the empty text.
type symbols struct {
	refs  map[string]uint32
	text  []string
	local []local // by number
	bytes int
}

// local is the number that a text has in the block that is being made.
type local struct {
	block uint64
	ref   uint32
}

func newSymbols() symbols {
	s := symbols{refs: map[string]uint32{}}
	s.ref("")
	return s
}

// intern is text as a string, without a copy when it is known.
func (s *symbols) intern(text []byte) string {
	if ref, ok := s.refs[string(text)]; ok {
		return s.text[ref]
	}
	return s.text[s.add(string(text))]
}

func (s *symbols) ref(text string) uint32 {
	if ref, ok := s.refs[text]; ok {
		return ref
	}
	return s.add(strings.Clone(text))
}

func (s *symbols) add(text string) uint32 {
	ref := uint32(len(s.text))
	s.refs[text] = ref
	s.text = append(s.text, text)
	s.local = append(s.local, local{})
	s.bytes += len(text)
	return ref
}
