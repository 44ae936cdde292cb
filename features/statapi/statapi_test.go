package statapi

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sextant/features"
	"sextant/features/statistics"
	"sextant/internal/access"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// asked answers with the question: a feature of which half is NULL.
type asked struct {
	last statistics.Question
	err  error
}

func (a *asked) Quality(_ context.Context, q statistics.Question) ([]statistics.Feature, error) {
	a.last = q
	if q.View == "" {
		return nil, a.err
	}
	return []statistics.Feature{{View: q.View, Feature: "x", Rows: 8, NullRatio: 0.5, PSI: []statistics.Drift{{Baseline: "train", PSI: 0.3}}}}, a.err
}

func (a *asked) QualityHours(context.Context, statistics.Question) ([]statistics.Hour, error) {
	return []statistics.Hour{{Hour: noon, Rows: 8}}, nil
}

func set() *features.Set {
	return &features.Set{Views: []*features.View{{Name: "v", Version: 1, Features: []features.Feature{{Name: "x"}}}, {Name: "v", Version: 2, Features: []features.Feature{{Name: "x"}}}}}
}

func TestQuestions(t *testing.T) {
	for _, c := range []struct {
		query  string
		status int
		want   string
	}{
		{"", 200, `{"from":"2026-02-28T12:00:00Z","to":"2026-03-01T12:00:00Z","features":[]}`},
		{"?view=v", 200, `"view":"v@v2","feature":"x","hours":0,"rows":8,"null_ratio":0.5`},
		{"?view=v@v1&from=2026-03-01T00:00:00%2B01:00", 200, `"from":"2026-02-28T23:00:00Z"`},
		{"?view=v", 200, `"psi":[{"baseline":"train","psi":0.3}],"served":0,"skew_ratio":0,"crossed":["psi"]`},
		{"?view=v&feature=x", 200, `"hours":[{"hour":"2026-03-01T12:00:00Z","rows":8`},
		{"?view=nope", 404, `view: \"nope\" is not in force`},
		{"?view=v&feature=y", 404, `feature: \"y\" is none of v@v2`},
		{"?feature=x", 400, "say of which view"},
		{"?view=v&view=v", 400, `parameter \"view\"`},
		{"?node=a", 400, `parameter \"node\"`},
		{"?from=yesterday", 400, "from: \\\"yesterday\\\" is not RFC 3339"},
		{"?from=2026-03-02T00:00:00Z", 400, "from before to"},
		{"?from=2025-03-02T00:00:00Z", 400, "up to 32 days"},
	} {
		h := New(&asked{}, Options{Set: set(), Thresholds: statistics.Thresholds{NullRatio: 1, PSI: 0.25}, Now: func() time.Time { return noon }})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/v1/quality"+c.query, nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s\nwant %d %s", c.query, w.Code, w.Body, c.status, c.want)
		}
	}
}

func TestWhoMayAsk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("a-token-that-is-long-enough-for-anybody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gate, err := access.NewGate(access.Options{TokenFile: file})
	if err != nil {
		t.Fatal(err)
	}
	src := &asked{}
	h := New(src, Options{Set: set(), Access: gate})
	for token, status := range map[string]int{"": 401, "Bearer wrong": 401, "Bearer a-token-that-is-long-enough-for-anybody": 200} {
		r := httptest.NewRequest("GET", "/v1/quality", nil)
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != status {
			t.Errorf("%q: %d %s, want %d", token, w.Code, w.Body, status)
		}
	}
	w := httptest.NewRecorder()
	New(src, Options{Set: set()}).ServeHTTP(w, httptest.NewRequest("POST", "/v1/quality", nil))
	if w.Code != 405 || w.Header().Get("Allow") != "GET" {
		t.Errorf("POST: %d", w.Code)
	}
	src.err = errors.New("away")
	w = httptest.NewRecorder()
	New(src, Options{Set: set()}).ServeHTTP(w, httptest.NewRequest("GET", "/v1/quality", nil))
	if w.Code != 503 || strings.Contains(w.Body.String(), "away") {
		t.Errorf("without a store: %d %s", w.Code, w.Body)
	}
}
