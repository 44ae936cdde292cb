package snapshot

import (
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sextant/internal/access"
)

func someWorld() *world {
	w := newWorld()
	w.at(start.Add(8 * time.Second))
	w.randomRows(rand.New(rand.NewPCG(3, 3)), start.UnixMilli())
	return w
}

func TestRefusals(t *testing.T) {
	w := someWorld()
	s := published(t, w, func(o *Options) { o.Reach = 48 * time.Hour })
	for query, want := range map[string]string{
		"":                                    "400 service: want one of boxes@v1, links@v1",
		"service=pairs":                       "400 service: pairs@v1 joins entities (fast by node; task by task): a matrix is of one. Matrices are boxes@v1, links@v1",
		"service=no":                          `404 service: "no" is not defined`,
		"service=boxes&format=csv":            `400 format: "csv" is none of arrow, raw, json`,
		"service=boxes&fromat=raw":            "400 fromat: no such parameter: want service, as_of, format",
		"service=boxes&service=links":         "400 service: given 2 times",
		"service=boxes&as_of=yesterday":       `400 as_of: "yesterday" is neither RFC 3339 with a zone nor seconds since 1970`,
		"service=boxes&as_of=NaN":             `400 as_of: "NaN" is neither RFC 3339 with a zone nor seconds since 1970`,
		"service=boxes&as_of=1e12":            `400 as_of: "1e12" is neither RFC 3339 with a zone nor seconds since 1970`,
		"service=boxes&as_of=1772366409":      "400 as_of: 2026-03-01T12:00:09Z is in the future",
		"service=boxes&as_of=1772000000":      "400 as_of: 2026-02-25T06:13:20Z is longer ago than rows are kept: 48h0m0s",
		"service=boxes&as_of=-5":              "400 as_of: 1969-12-31T23:59:55Z is longer ago than rows are kept: 48h0m0s",
		"service=" + strings.Repeat("x", 200): `404 service: "` + strings.Repeat("x", 100) + `…" is not defined`,
	} {
		got := get(s.Handler(), "/v1/snapshot?"+query)
		if text := fmt.Sprintf("%d %s", got.Code, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(got.Body.String()), `{"detail":"`), `"}`)); strings.ReplaceAll(text, `\"`, `"`) != want {
			t.Errorf("%.60s: %s, want %s", query, text, want)
		}
	}
	r := httptest.NewRecorder()
	s.Handler().ServeHTTP(r, httptest.NewRequest("POST", "/v1/snapshot", nil))
	if r.Code != 405 || r.Header().Get("Allow") != "GET" {
		t.Errorf("POST: %d", r.Code)
	}
	small := published(t, w, func(o *Options) { o.MaxValues = 3 })
	if got := get(small.Handler(), "/v1/snapshot?service=boxes"); got.Code != 507 || got.Header().Get("ETag") != "" {
		t.Errorf("too large: %d %s", got.Code, got.Body)
	}
	if got := get(serverOf(t, w).Handler(), "/v1/snapshot?service=boxes"); got.Code != 503 {
		t.Errorf("before the first version: %d %s", got.Code, got.Body)
	}
}

func TestAnswersAreSharedAndKept(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	s := published(t, someWorld(), func(o *Options) { o.Registerer = reg })
	first := get(s.Handler(), "/v1/snapshot?service=boxes&format=raw")
	etag := first.Header().Get("ETag")
	if etag != `"1772366400000-boxes@v1-raw-identity"` || first.Header().Get(VersionHeader) != "1772366400000" || first.Header().Get("Content-Length") != fmt.Sprint(first.Body.Len()) {
		t.Errorf("headers %v", first.Header())
	}
	for _, header := range []string{etag, `"x", ` + etag, "*", "W/" + etag} {
		if got := get(s.Handler(), "/v1/snapshot?service=boxes&format=raw", "If-None-Match", header); got.Code != 304 || got.Body.Len() != 0 {
			t.Errorf("%s: %d with %d bytes", header, got.Code, got.Body.Len())
		}
	}
	if got := get(s.Handler(), "/v1/snapshot?service=boxes&format=arrow", "If-None-Match", etag); got.Code != 200 {
		t.Errorf("the tag of another format: %d", got.Code)
	}
	for range 5 {
		get(s.Handler(), "/v1/snapshot?service=boxes&format=arrow")
	}
	if n := testutil.CollectAndCount(s.metrics.build); n != 3 { // matrix, raw, arrow
		t.Errorf("%d things were built", n)
	}
	want := `
		# HELP sextant_snapshot_requests_total Requests for the whole cluster that were answered, by path, format and HTTP status.
		# TYPE sextant_snapshot_requests_total counter
		sextant_snapshot_requests_total{code="200",format="arrow",path="/v1/snapshot"} 6
		sextant_snapshot_requests_total{code="200",format="raw",path="/v1/snapshot"} 1
		sextant_snapshot_requests_total{code="304",format="raw",path="/v1/snapshot"} 4
		# HELP sextant_snapshot_version_seconds Version that is served, as unix time; 0 before the first.
		# TYPE sextant_snapshot_version_seconds gauge
		sextant_snapshot_version_seconds 1.7723664e+09
	`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "sextant_snapshot_requests_total", "sextant_snapshot_version_seconds"); err != nil {
		t.Error(err)
	}
	// The next version is built before anybody asks for it.
	before := s.current.Load()
	s.publish(Moment{Tick: 1772366410000, At: 1772366418000})
	next := s.current.Load()
	s.buildLike(next, before)
	if n := len(next.bodies); n != 2 {
		t.Errorf("%d bodies were built ahead, want raw and arrow", n)
	}
	if n := len(next.asked()); n != 0 {
		t.Errorf("%d are built for ever, and nobody asks for them", n)
	}
}

func TestCodings(t *testing.T) {
	s := published(t, someWorld())
	plain := get(s.Handler(), "/v1/snapshot?service=boxes&format=raw").Body.Bytes()
	for _, tt := range []struct{ accept, coding string }{
		{"", ""}, {"identity", ""}, {"br, deflate", ""}, {"gzip", "gzip"}, {"gzip, deflate, br, zstd", "zstd"}, {"zstd;q=0, gzip;q=0.5", "gzip"}, {"gzip;q=0", ""}, {"GZIP", "gzip"},
	} {
		got := get(s.Handler(), "/v1/snapshot?service=boxes&format=raw", "Accept-Encoding", tt.accept)
		if c := got.Header().Get("Content-Encoding"); c != tt.coding || got.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: coding %q, want %q", tt.accept, c, tt.coding)
			continue
		}
		var r io.Reader = got.Body
		switch tt.coding {
		case "gzip":
			z, err := gzip.NewReader(got.Body)
			if err != nil {
				t.Fatal(err)
			}
			r = z
		case "zstd":
			z, err := zstd.NewReader(got.Body)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			r = z
		}
		if body, err := io.ReadAll(r); err != nil || string(body) != string(plain) {
			t.Errorf("%q: another body, %v", tt.accept, err)
		}
	}
}

func TestThePastHasPlacesAndTheStoreMayBeAway(t *testing.T) {
	w := someWorld()
	s := published(t, w)
	url := "/v1/snapshot?service=boxes&as_of=1772366390"
	if got := get(s.Handler(), url); got.Code != 200 || got.Header().Get(VersionHeader) != "1772366380000" || got.Header().Get("ETag") != "" {
		t.Errorf("%d %v", got.Code, got.Header())
	}
	// What is served now needs no place, and no store.
	w.fail(errAway)
	if got := get(s.Handler(), "/v1/snapshot?service=boxes&as_of=1772366408.0"); got.Code != 200 || got.Header().Get("ETag") == "" {
		t.Errorf("the version that is served: %d", got.Code)
	}
	if got := get(s.Handler(), url); got.Code != 503 || strings.Contains(got.Body.String(), "10.0.0.4") {
		t.Errorf("the store is away: %d %s", got.Code, got.Body)
	}
	for range 2 {
		leave, err := s.enter()
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
	if got := get(s.Handler(), url); got.Code != 503 || !strings.Contains(got.Body.String(), "as_of: 2 questions about the past") {
		t.Errorf("no place: %d %s", got.Code, got.Body)
	}
}

func TestScopes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	text := "tokens:\n  - {name: a, sha256: " + "3a97ad46b9177145e6d03cdecbb4cad9902508f870ee3b0321970fd196c0b5bb" + ", scopes: [\"read:boxes\"]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	gate, err := access.NewGate(access.Options{TokenFile: file, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := published(t, someWorld(), func(o *Options) { o.Access = gate })
	for _, tt := range []struct {
		query, token string
		code         int
	}{
		{"service=boxes", "", 401}, {"service=boxes", "wrong-token-wrong-token", 401}, {"service=boxes", "token-token-token-token", 200}, {"service=boxes@v1", "token-token-token-token", 200},
		{"service=links", "token-token-token-token", 403}, {"service=nothing", "token-token-token-token", 403},
	} {
		header := []string{"Authorization", "Bearer " + tt.token}
		if tt.token == "" {
			header = nil
		}
		if got := get(s.Handler(), "/v1/snapshot?"+tt.query, header...); got.Code != tt.code {
			t.Errorf("%s with %q: %d %s, want %d", tt.query, tt.token, got.Code, got.Body, tt.code)
		}
	}
}
