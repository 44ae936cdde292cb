package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/features"
	"sextant/features/online"
)

// start is the tick of the rows, and the time at which requests come unless a test says
// another one.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rows is a source that always answers with the same rows of each view, by its Ref.
type rows map[string]*features.Rows

func (r rows) LatestRows(_ context.Context, v *features.View, _ int64) (*features.Rows, error) {
	if rs, ok := r[v.Ref()]; ok {
		return rs, nil
	}
	return nil, errors.New("refused")
}

func view(name string, version int, keys []string, fs ...features.Feature) *features.View {
	return &features.View{Name: name, Version: version, Entity: keys[0], Keys: keys, Tier: "monitoring", Owner: "tests",
		Interval: 10 * time.Second, TTL: time.Minute, Features: fs}
}

// world is three views: box in two versions, keyed by node, and gpu keyed by node and gpu.
func world() ([]*features.View, rows) {
	half, yes := 0.5, 1.0
	box1 := view("box", 1, []string{"node"}, features.Feature{Name: "load"})
	box := view("box", 2, []string{"node"},
		features.Feature{Name: "load", Unit: "ratio", Description: "Load.", Expr: "max by (node) (load)"},
		features.Feature{Name: "wide", DType: features.Float64},
		features.Feature{Name: "count", DType: features.Int64},
		features.Feature{Name: "up", DType: features.Bool},
		features.Feature{Name: "kernel", DType: features.String, Label: "release"})
	gpu := view("gpu", 1, []string{"node", "gpu"}, features.Feature{Name: "load"},
		features.Feature{Name: "share", Default: &half}, features.Feature{Name: "fit", DType: features.Bool, Default: &yes})
	tick := start.UnixMilli()
	return []*features.View{box1, box, gpu}, rows{
		"box@v1": {Tick: []int64{tick}, Known: []int64{tick}, Keys: [][]string{{"a"}}, Cols: []features.Column{{Num: []float64{0.125}}}},
		"box@v2": {
			Tick: []int64{tick, tick - 30_000, tick + 1}, Known: []int64{tick, tick, tick}, Flags: []uint16{0, 32, 256}, Keys: [][]string{{"a", "b", "ü\"1"}},
			Cols: []features.Column{
				{Num: []float64{float64(float32(0.1)), math.NaN(), math.Inf(1)}},
				{Num: []float64{1e-7, 1.5e300, 123456789.25}},
				{Num: []float64{64, 1 << 53, -3}},
				{Num: []float64{1, 0, math.NaN()}},
				{Str: []string{"6.8.0", "", "<\"\\\n>"}},
			},
		},
		"gpu@v1": {Tick: []int64{tick, tick}, Known: []int64{tick, tick}, Keys: [][]string{{"a", "a"}, {"0", "1"}},
			Cols: []features.Column{{Num: []float64{0.25, 0.75}}, {Num: []float64{0.1, math.NaN()}}, {Num: []float64{0, math.NaN()}}}},
	}
}

func storeOf(t testing.TB, views []*features.View, src online.Source) *online.Store {
	t.Helper()
	store, err := online.New(src, views, online.Options{Now: func() time.Time { return start }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

// setOf adds services over world's views: one of both entities, in two versions, and one
// whose names collide.
func setOf(views []*features.View) *features.Set {
	box, gpu := views[1], views[2]
	load, share := features.ServiceColumn{View: gpu, As: "gpu"}, features.ServiceColumn{View: gpu, Feature: 1, As: "gpu"}
	count := features.ServiceColumn{View: box, Feature: 2, As: "box@v2"}
	keys := []string{"node", "gpu"}
	return &features.Set{Views: views, Services: []*features.Service{
		{Name: "clash", Version: 1, Keys: keys, Columns: []features.ServiceColumn{load, {View: box, As: "box"}}},
		{Name: "mix", Version: 1, Keys: keys, Columns: []features.ServiceColumn{load, count}},
		{Name: "mix", Version: 2, Owner: "tests", Description: "Both.", Keys: keys, Columns: []features.ServiceColumn{count, share, load}},
	}}
}

// serve is the handler over world, at a time.
func serve(t testing.TB, now time.Time, opts Options) http.Handler {
	t.Helper()
	views, src := world()
	opts.Now = func() time.Time { return now }
	h, err := New(storeOf(t, views, src), setOf(views), opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func do(h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestMethodsAndPaths(t *testing.T) {
	h := serve(t, start, Options{Gatherer: prometheus.NewRegistry()})
	tests := []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/get-online-features", 405, `{"detail":"method GET: want POST"}`},
		{"POST", "/v1/features", 405, `{"detail":"method POST: want GET"}`},
		{"POST", "/readyz", 405, `{"detail":"method POST: want GET"}`},
		{"GET", "/nothing", 404, `{"detail":"no such path"}`},
		{"GET", "/healthz", 200, `{"status":"ok"}`},
		{"HEAD", "/healthz", 200, `{"status":"ok"}`},
		{"GET", "/metrics", 200, ``},
	}
	for _, tt := range tests {
		w := do(h, tt.method, tt.path, "")
		if w.Code != tt.status || strings.TrimSpace(w.Body.String()) != tt.body {
			t.Errorf("%s %s: %d %s, want %d %s", tt.method, tt.path, w.Code, w.Body, tt.status, tt.body)
		}
	}
	if w := do(serve(t, start, Options{}), "GET", "/metrics", ""); w.Code != 404 {
		t.Errorf("/metrics without a gatherer: %d", w.Code)
	}
}

func TestReadyz(t *testing.T) {
	views, src := world()
	h := serve(t, start.Add(7*time.Second), Options{})
	w := do(h, "GET", "/readyz", "")
	want := `{"status":"ready","views":[` +
		`{"view":"box@v1","entities":1,"newest_tick":"2026-03-01T12:00:00Z","age_seconds":7},` +
		`{"view":"box@v2","entities":3,"newest_tick":"2026-03-01T12:00:00Z","age_seconds":6.999},` +
		`{"view":"gpu@v1","entities":2,"newest_tick":"2026-03-01T12:00:00Z","age_seconds":7}]}`
	if w.Code != 200 || strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("%d %s\nwant %s", w.Code, w.Body, want)
	}

	store, err := online.New(src, views, online.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h, err = New(store, setOf(views), Options{})
	if err != nil {
		t.Fatal(err)
	}
	w = do(h, "GET", "/readyz", "")
	if w.Code != 503 || !strings.Contains(w.Body.String(), `"status":"not ready","detail":"box@v1: not loaded yet\nbox@v2`) {
		t.Errorf("before the first load: %d %s", w.Code, w.Body)
	}
	if w = do(h, "POST", "/get-online-features", `{"features":["box:load"],"entities":{"node":["a"]}}`); !strings.Contains(w.Body.String(), "NOT_FOUND") {
		t.Errorf("before the first load: %s", w.Body)
	}
}

func TestListFeatures(t *testing.T) {
	h := serve(t, start, Options{})
	w := do(h, "GET", "/v1/features?view=box@v2", "")
	want := `{"features":[{"ref":"box@v2:load","name":"load","view":"box","version":2,"latest":true,"join_keys":["node"],` +
		`"dtype":"float32","unit":"ratio","description":"Load.","tier":"monitoring","owner":"tests","interval_seconds":10,` +
		`"ttl_seconds":60,"expr":"max by (node) (load)"},`
	if w.Code != 200 || !strings.HasPrefix(w.Body.String(), want) {
		t.Errorf("%d %s\nwant %s…", w.Code, w.Body, want)
	}
	for query, n := range map[string]int{"": 9, "?view=box": 6, "?view=box@v1": 1, "?view=gpu": 3} {
		if got := strings.Count(do(h, "GET", "/v1/features"+query, "").Body.String(), `"ref"`); got != n {
			t.Errorf("%q: %d features, want %d", query, got, n)
		}
	}
	if w := do(h, "GET", "/v1/features?view=bax", ""); w.Code != 404 || !strings.Contains(w.Body.String(), "view: bax is not defined") {
		t.Errorf("unknown view: %d %s", w.Code, w.Body)
	}
}

func TestListServices(t *testing.T) {
	w := do(serve(t, start, Options{}), "GET", "/v1/services", "")
	hash := setOf(func() []*features.View { v, _ := world(); return v }()).Services[2].Hash()
	want := `{"ref":"mix@v2","name":"mix","version":2,"latest":true,"hash":"` + hash + `","join_keys":["node","gpu"],"width":3,` +
		`"features":["box@v2:count","gpu@v1:share","gpu@v1:load"],"description":"Both.","owner":"tests"}]}`
	if w.Code != 200 || !strings.HasSuffix(strings.TrimSpace(w.Body.String()), want) {
		t.Errorf("%d %s\nwant …%s", w.Code, w.Body, want)
	}
	if n := strings.Count(w.Body.String(), `"latest":true`); n != 2 {
		t.Errorf("%d newest versions, want clash@v1 and mix@v2", n)
	}
}

func TestRequestsAreCounted(t *testing.T) {
	reg := prometheus.NewRegistry()
	h := serve(t, start, Options{Registerer: reg, Gatherer: reg})
	do(h, "POST", "/get-online-features", `{"features":["box:load","box:up"],"entities":{"node":["a","b","c"]}}`)
	do(h, "POST", "/get-online-features", `{`)
	body := do(h, "GET", "/metrics", "").Body.String()
	for _, want := range []string{
		`sextant_api_requests_total{code="200",path="/get-online-features"} 1`,
		`sextant_api_requests_total{code="400",path="/get-online-features"} 1`,
		`sextant_api_request_seconds_count{path="/get-online-features"} 2`,
		`sextant_api_values_total{status="PRESENT"} 3`,
		`sextant_api_values_total{status="NULL_VALUE"} 1`,
		`sextant_api_values_total{status="NOT_FOUND"} 2`,
		`sextant_api_values_total{status="OUTSIDE_MAX_AGE"} 0`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("missing %s in\n%s", want, body)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	views, src := world()
	store := storeOf(t, views[:1], src)
	if _, err := New(store, setOf(views), Options{}); err == nil || err.Error() != "view box@v2 is not in the store" {
		t.Errorf("a view that the store lacks: %v", err)
	}
	reg := prometheus.NewRegistry()
	for i := range 2 {
		_, err := New(store, &features.Set{Views: views[:1]}, Options{Registerer: reg})
		if failed := err != nil; failed != (i == 1) {
			t.Errorf("registration %d: %v", i, err)
		}
	}
}

// A client that goes away in the middle of an answer costs nothing but that answer.
func TestClientGoesAway(t *testing.T) {
	h := serve(t, start, Options{})
	nodes := `"` + strings.Repeat(`a","`, 20_000) + `a"`
	r := httptest.NewRequest("POST", "/get-online-features", strings.NewReader(`{"features":["box:load","box:up"],"entities":{"node":[`+nodes+`]}}`))
	w := &brokenPipe{}
	h.ServeHTTP(w, r)
	if w.writes != 1 {
		t.Errorf("%d writes to a client that went away with the first", w.writes)
	}
}

type brokenPipe struct{ writes int }

func (*brokenPipe) Header() http.Header { return http.Header{} }
func (*brokenPipe) WriteHeader(int)     {}
func (w *brokenPipe) Write([]byte) (int, error) {
	w.writes++
	return 0, fmt.Errorf("write: broken pipe")
}
