package snapshot

import (
	"maps"
	"slices"
	"sync"

	"sextant/features"
	"sextant/features/online"
)

// edition is the cluster at one moment, as it stood in memory then. It never changes. What is
// asked of it is built once, by whoever asks first, and shared by all.
type edition struct {
	Moment
	held map[*features.View]held

	mu       sync.Mutex
	matrices map[*plan]func() (*matrix, error)     // guarded by mu
	readers  map[bodyKey]bool                      // guarded by mu
	graphs   map[*graphPlan]func() (*graph, error) // guarded by mu
	bodies   map[bodyKey]func() ([]byte, error)    // guarded by mu
}

// held is a view in an edition.
type held struct {
	rows   *online.Snapshot
	loaded bool // the source ever answered
	late   bool // it did not answer in time for this edition
}

// bodyKey names an encoded answer.
type bodyKey struct {
	what   any // *plan or *graphPlan
	format string
	coding string
}

// hold takes what the store has by now.
func (s *Server) hold(m Moment) *edition {
	e := &edition{Moment: m, held: make(map[*features.View]held, len(s.set.Views)),
		readers: map[bodyKey]bool{}, matrices: map[*plan]func() (*matrix, error){}, graphs: map[*graphPlan]func() (*graph, error){}, bodies: map[bodyKey]func() ([]byte, error){}}
	for _, v := range s.set.Views {
		asked := s.store.Asked(v) // before the snapshot, which may be newer
		e.held[v] = held{rows: s.store.Snapshot(v), loaded: asked > 0, late: asked < m.At}
	}
	return e
}

// once is the value of key in made, which the first caller builds while the others wait.
func once[K comparable, V any](mu *sync.Mutex, made map[K]func() (V, error), key K, build func() (V, error)) (V, error) {
	mu.Lock()
	f, ok := made[key]
	if !ok {
		f = sync.OnceValues(build)
		made[key] = f
	}
	mu.Unlock()
	return f()
}

// matrix is a service's matrix.
func (s *Server) matrix(e *edition, p *plan) (*matrix, error) {
	return once(&e.mu, e.matrices, p, func() (*matrix, error) {
		rows, epochs, late := make([]*features.Rows, len(p.views)), make([]int64, len(p.views)), make([]bool, len(p.views))
		for v, view := range p.views {
			h := e.held[view]
			if !h.loaded {
				return nil, later("%s is not loaded yet: clickhouse has not answered", view.Ref())
			}
			rows[v], epochs[v], late[v] = &h.rows.Rows, h.rows.Epoch(), h.late
		}
		defer s.metrics.took("matrix")()
		ents := s.aligners[p].align(rows, epochs)
		if err := s.checkSize(p, ents.n); err != nil {
			return nil, err
		}
		return build(p, ents, rows, late, e.Moment), nil
	})
}

// checkSize refuses an answer that would be larger than any client expects.
func (s *Server) checkSize(p *plan, rows int) error {
	if n := rows * len(p.columns); n > s.opts.MaxValues {
		return &refusal{507, p.ref + " has more values than serve.snapshot.max_values allows"}
	}
	return nil
}

// body is what a client asks for: the matrix of a *plan, or the graph of a *graphPlan.
func (s *Server) body(e *edition, k bodyKey) ([]byte, error) {
	return once(&e.mu, e.bodies, k, func() ([]byte, error) {
		if k.coding != identity {
			plain, err := s.body(e, bodyKey{k.what, k.format, identity})
			if err != nil {
				return nil, err
			}
			defer s.metrics.took(k.coding)()
			return compress(plain, k.coding)
		}
		var x interface {
			encode(format string) ([]byte, error)
		}
		var err error
		if p, ok := k.what.(*plan); ok {
			x, err = s.matrix(e, p)
		} else {
			x, err = s.graph(e)
		}
		if err != nil {
			return nil, err
		}
		defer s.metrics.took(k.format)()
		return x.encode(k.format)
	})
}

// note remembers that a reader asked for k.
func (e *edition) note(k bodyKey) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.readers[k] = true
}

// asked is what readers have asked the edition for.
func (e *edition) asked() []bodyKey {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.readers))
}
