package online

import (
	"context"
	"errors"
	"sync"
	"time"

	"sextant/features"
)

// row is one stored row of testView.
type row struct {
	node        string
	tick, known int64 // unix ms
	load        float64
	kernel      string
}

// table is a source that answers from rows in memory, as the store of rows does: of each
// entity the latest row above a tick.
type table struct {
	mu    sync.Mutex
	rows  []row
	away  error
	asked []int64 // every afterTick, in order
}

var errAway = errors.New("dial 10.0.0.4:9000: refused")

func (s *table) add(rows ...row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, rows...)
}

func (s *table) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = err
}

func (s *table) LatestRows(_ context.Context, v *features.View, afterTick int64) (*features.Rows, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, afterTick)
	if s.away != nil {
		return nil, s.away
	}
	latest := map[string]row{}
	for _, r := range s.rows {
		if old, ok := latest[r.node]; r.tick > afterTick && (!ok || later(r.tick, r.known, old.tick, old.known)) {
			latest[r.node] = r
		}
	}
	var rows []row
	for _, r := range latest {
		rows = append(rows, r)
	}
	return columns(v, rows...), nil
}

// columns lays rows out as a source does.
func columns(v *features.View, rows ...row) *features.Rows {
	out := &features.Rows{View: v, Keys: make([][]string, 1), Cols: make([]features.Column, 2)}
	for _, r := range rows {
		out.Tick, out.Known = append(out.Tick, r.tick), append(out.Known, r.known)
		out.Keys[0] = append(out.Keys[0], r.node)
		out.Cols[0].Num = append(out.Cols[0].Num, r.load)
		out.Cols[1].Str = append(out.Cols[1].Str, r.kernel)
	}
	return out
}

func testView() *features.View {
	return &features.View{
		Name: "box", Version: 1, Entity: "node", Keys: []string{"node"}, Interval: 10 * time.Second, TTL: time.Minute,
		Features: []features.Feature{{Name: "load"}, {Name: "kernel", DType: features.String, Label: "release"}},
	}
}
