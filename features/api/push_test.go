package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"sextant/features"
)

// pushStore keeps what is pushed, or refuses it.
type pushStore struct {
	rows []*features.Rows
	err  error
}

func (s *pushStore) WritePushed(_ context.Context, r *features.Rows) error {
	if s.err == nil {
		s.rows = append(s.rows, r)
	}
	return s.err
}

// pushServer serves world and the push view "outside", keyed by node, into a sink.
func pushServer(t *testing.T, sink PushSink, opts Options) http.Handler {
	t.Helper()
	low, high := 0.0, 1.0
	views, src := world()
	outside := view("outside", 1, []string{"node"}, features.Feature{Name: "score", Min: &low, Max: &high},
		features.Feature{Name: "rank", DType: features.Int64}, features.Feature{Name: "ok", DType: features.Bool}, features.Feature{Name: "label", DType: features.String})
	outside.Push = true
	views = append(views, outside)
	src["outside@v1"] = &features.Rows{Keys: make([][]string, 1), Cols: []features.Column{{}, {}, {}, {Str: []string{}}}}
	opts.Now, opts.Push, opts.Log = func() time.Time { return start }, sink, slog.New(slog.DiscardHandler)
	h, err := New(storeOf(t, views, src), &features.Set{Views: views}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// frame is a right body with one part replaced.
func frame(part, by string) string {
	return strings.Replace(`{"push_source_name":"outside","to":"online","allow_registry_cache":true,"df":{"node":["a",7],"score":[0.5,null],"rank":[3,-4],"ok":[true,null],"label":["x",null],`+
		`"event_timestamp":["2026-03-01T11:59:00Z","2026-03-01T11:59:00.5"],"created":[null,null]}}`, part, by, 1)
}

func TestPushStoresRows(t *testing.T) {
	store := &pushStore{}
	h := pushServer(t, store, Options{})
	w := do(h, "POST", "/push", frame("", ""))
	if w.Code != 200 || w.Body.Len() != 0 || len(store.rows) != 1 {
		t.Fatalf("%d %s, %d writes", w.Code, w.Body, len(store.rows))
	}
	r := store.rows[0]
	tick := start.Add(-time.Minute).UnixMilli()
	got := fmt.Sprintln(r.View.Ref(), r.Keys, r.Tick[0]-tick, r.Tick[1]-tick, r.Known[0]-start.UnixMilli(), r.Cols)
	if want := "outside@v1 [[a 7]] 0 500 0 [{[0.5 NaN] []} {[3 -4] []} {[1 NaN] []} {[] [x ]}]\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if w := do(h, "POST", "/write-to-online-store", frame("push_source_name", "feature_view_name")); w.Code != 200 || len(store.rows) != 2 {
		t.Errorf("as the SDK writes: %d %s", w.Code, w.Body)
	}
}

// Every fault names its field, and nothing of the request is stored.
func TestPushRefuses(t *testing.T) {
	for _, tt := range []struct {
		old, new string
		status   int
		want     string
	}{
		{`{"push`, `{push`, 400, "body: "},
		{`"outside"`, `""`, 400, "push_source_name: want"},
		{`"outside"`, `"inside"`, 404, `push_source_name: view "inside" is not defined`},
		{`"outside"`, `"box"`, 400, "push_source_name: box@v2 is computed here"},
		{`"online"`, `"offline"`, 400, `to: "offline"`},
		{`"df":{`, `"df":[],"x":{`, 400, "df: want an object"},
		{`"node":["a",7],`, ``, 400, "df: node is missing"},
		{`"node":["a",7]`, `"node":["a"]`, 400, "df: node has 1 values and event_timestamp has 2"},
		{`"score":[0.5,null]`, `"score":{"0":1}`, 400, "df: score: want an array"},
		{`"a",7`, `"a",7.5`, 400, "df: node: row 1: want a string"},
		{`"a",7`, `"a",""`, 400, "df: node: row 1: want 1 to 1024 bytes"},
		{`0.5`, `1.5`, 400, "df: score: row 0: 1.5 is out of range: want 0 to 1"},
		{`0.5`, `"x"`, 400, "df: score: row 0: want a float32 or null"},
		{`0.5`, `1e60`, 400, "df: score: row 0: want a float32 or null"},
		{`-4`, `-4.5`, 400, "df: rank: row 1: -4.5 is no int64"},
		{`[true`, `[1`, 400, "df: ok: row 0: want true, false or null"},
		{`"x"`, `5`, 400, "df: label: row 0: want a string"},
		{`2026-03-01T11:59:00Z`, `yesterday`, 400, `df: event_timestamp: row 0: "yesterday" is no time`},
		{`2026-03-01T11:59:00Z`, `2026-03-01T12:02:00Z`, 400, "df: event_timestamp: row 0: 2026-03-01T12:02:00Z is not within"},
		{`2026-03-01T11:59:00Z`, `2025-03-01T12:02:00Z`, 400, "df: event_timestamp: row 0: 2025-03-01T12:02:00Z is not within"},
		{`"a",7`, `"a","a"`, 200, ""}, // their times differ
		{`"created"`, `"scores":[1,2],"created"`, 400, "df: scores is no key or feature of outside@v1"},
	} {
		store := &pushStore{}
		w := do(pushServer(t, store, Options{}), "POST", "/push", frame(tt.old, tt.new))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), strings.ReplaceAll(tt.want, `"`, `\"`)) || (w.Code == 200) != (len(store.rows) == 1) {
			t.Errorf("%s: %d %s, %d writes, want %d %s", tt.new, w.Code, w.Body, len(store.rows), tt.status, tt.want)
		}
	}
	twice := strings.Replace(frame(`"a",7`, `"a","a"`), "11:59:00.5", "11:59:00", 1)
	if w := do(pushServer(t, &pushStore{}, Options{}), "POST", "/push", twice); w.Code != 400 || !strings.Contains(w.Body.String(), "rows 0 and 1 are of the same entity and time") {
		t.Errorf("twice: %d %s", w.Code, w.Body)
	}
	if w := do(pushServer(t, &pushStore{err: errors.New("away")}, Options{}), "POST", "/push", frame("", "")); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("store away: %d %s", w.Code, w.Body)
	}
	if w := do(serve(t, start, Options{}), "POST", "/push", frame("", "")); w.Code != 404 {
		t.Errorf("a server without a sink: %d", w.Code)
	}
}

func TestPushNeedsItsScope(t *testing.T) {
	file := func(scope string) string {
		return fmt.Sprintf("tokens:\n- {name: a, sha256: %x, scopes: [%q]}\n", sha256.Sum256([]byte("0123456789abcdef")), scope)
	}
	for scope, want := range map[string]int{"read": 403, "push": 200, "push:outside": 200, "push:other": 403, "admin": 200} {
		h := pushServer(t, &pushStore{}, Options{Access: gate(t, file(scope))})
		if w := do(h, "POST", "/push", frame("", ""), "Authorization", "Bearer 0123456789abcdef"); w.Code != want {
			t.Errorf("%s: %d %s, want %d", scope, w.Code, w.Body, want)
		}
	}
}
