package snapshot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sextant/features"
	"sextant/features/online"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is rows in memory: the source of an online store, and the past.
type world struct {
	mu    sync.Mutex
	set   *features.Set
	rows  map[*features.View][]row // guarded by mu, in the order in which they were stored
	bound []features.Placement     // guarded by mu
	away  error                    // guarded by mu
	now   time.Time                // guarded by mu; zero: the real clock, or that of a bubble
}

// row is one stored row of a view.
type row struct {
	tick, known int64
	keys        []string
	values      []float64
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now.IsZero() {
		return time.Now()
	}
	return w.now
}

func (w *world) at(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

func (w *world) add(v *features.View, tick, known int64, values []float64, keys ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rows[v] = append(w.rows[v], row{tick, known, keys, values})
}

func (w *world) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = err
}

var errAway = errors.New("dial 10.0.0.4:9000: refused")

func (w *world) LatestRows(_ context.Context, v *features.View, after int64) (*features.Rows, error) {
	return w.pick(v, after+1, math.MaxInt64)
}

func (w *world) RowsAt(_ context.Context, v *features.View, at int64) (*features.Rows, error) {
	rows, err := w.pick(v, at-v.Memory().Milliseconds(), at)
	return rows, err
}

func (w *world) Placed(context.Context, int64, int64) ([]features.Placement, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.bound), w.away
}

// pick is the latest row of each entity of those with a tick from from to at, known by at.
func (w *world) pick(v *features.View, from, at int64) (*features.Rows, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away != nil {
		return nil, w.away
	}
	best := map[string]row{}
	for _, r := range w.rows[v] {
		id := fmt.Sprintf("%q", r.keys)
		if old, ok := best[id]; r.tick >= from && r.tick <= at && r.known <= at && (!ok || r.tick > old.tick || r.tick == old.tick && r.known >= old.known) {
			best[id] = r
		}
	}
	out := &features.Rows{View: v, Keys: make([][]string, len(v.Keys)), Cols: make([]features.Column, len(v.Features))}
	for _, r := range best { // in no order
		out.Tick, out.Known = append(out.Tick, r.tick), append(out.Known, r.known)
		for k := range r.keys {
			out.Keys[k] = append(out.Keys[k], r.keys[k])
		}
		for f := range r.values {
			out.Cols[f].Num = append(out.Cols[f].Num, r.values[f])
		}
	}
	return out, nil
}

func viewOf(name string, ttl time.Duration, keys []string, names ...string) *features.View {
	v := &features.View{Name: name, Version: 1, Entity: keys[0], Keys: keys, Tier: "monitoring", Interval: 10 * time.Second, TTL: ttl}
	for _, n := range names {
		v.Features = append(v.Features, features.Feature{Name: n, Unit: "ratio"})
	}
	return v
}

func serviceOf(name string, keys []string, views ...*features.View) *features.Service {
	s := &features.Service{Name: name, Version: 1, Keys: keys}
	for _, v := range views {
		for f := range v.Features {
			s.Columns = append(s.Columns, features.ServiceColumn{View: v, Feature: f, As: v.Name})
		}
	}
	return s
}

// newWorld has two views of nodes, one of links, keyed the other way round than its service, and
// one of tasks; a service of each entity, and one that joins nodes and tasks.
func newWorld() *world {
	half := 0.5
	fast, slow := viewOf("fast", time.Minute, []string{"node"}, "busy", "load"), viewOf("slow", time.Hour, []string{"node"}, "size", "spare")
	slow.Features[1].Default = &half
	link, task := viewOf("link", 2*time.Minute, []string{"src", "node", "dst"}, "rate"), viewOf("task", time.Minute, []string{"task"}, "wait")
	named := viewOf("named", time.Hour, []string{"node"}, "kernel")
	named.Features[0].DType = features.String
	set := &features.Set{Views: []*features.View{fast, slow, link, task, named}, Services: []*features.Service{
		serviceOf("boxes", []string{"node"}, fast, slow),
		serviceOf("links", []string{"node", "src", "dst"}, link),
		serviceOf("pairs", []string{"node", "task"}, fast, task),
		serviceOf("texts", []string{"node"}, fast, named),
	}}
	return &world{set: set, rows: map[*features.View][]row{}}
}

func (w *world) view(name string) *features.View {
	v, _ := w.set.View(name)
	return v
}

// serverOf is a server over the world; its store is filled, and nothing runs.
func serverOf(t testing.TB, w *world, change ...func(*Options)) *Server {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	store, err := online.New(w, w.set.Views, online.Options{Now: w.clock, Log: quiet, Settle: 8 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Now: w.clock, Log: quiet}
	for _, f := range change {
		f(&o)
	}
	s, err := New(store, w.set, w, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// published is the server with the version of the world's time.
func published(t testing.TB, w *world, change ...func(*Options)) *Server {
	t.Helper()
	s := serverOf(t, w, change...)
	if err := s.store.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.publish(momentAt(w.clock().UnixMilli(), s.opts.Settle))
	return s
}

func get(h http.Handler, url string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", url, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// randomRows stores rows of some nodes up to now: some come late, some views miss some nodes,
// some values are missing.
func (w *world) randomRows(r *rand.Rand, now int64) {
	for _, v := range []*features.View{w.view("fast"), w.view("slow"), w.view("link")} {
		for range 10 + r.IntN(200) {
			tick := now - now%stepMillis - int64(r.IntN(100))*stepMillis
			if r.IntN(3) == 0 {
				tick = now - now%stepMillis
			}
			known := tick + []int64{0, 5_000, 5_000, 7_999, 8_000, 8_001, 60_000}[r.IntN(7)]
			keys := []string{fmt.Sprintf("n%d", r.IntN(9)), "é", "b"}[:len(v.Keys)]
			if len(keys) == 3 {
				keys[0], keys[1] = fmt.Sprintf("s%d", r.IntN(3)), fmt.Sprintf("n%d", r.IntN(3))
			}
			var values []float64
			for range v.Features {
				values = append(values, []float64{r.Float64(), float64(r.IntN(5)), math.NaN(), math.Inf(1), -1e30}[r.IntN(5)])
			}
			// Of one tick and entity, what was stored last stands, and it was known last.
			clash := slices.ContainsFunc(w.rows[v], func(o row) bool { return o.tick == tick && slices.Equal(o.keys, keys) && o.known != known })
			if !clash {
				w.add(v, tick, known, values, keys...)
			}
		}
	}
}
