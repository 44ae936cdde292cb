package access

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sextant/internal/config"
)

const (
	reader = "reader-0123456789"
	pusher = "pusher-0123456789"
	admin  = "admin-00123456789"
)

func hashOf(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }

func several() string {
	return `
tokens:
  - {name: scheduler, sha256: ` + hashOf(reader) + `, scopes: ["read:node_state", "push:outside"], rate: 2}
  - {name: trainer, sha256: ` + hashOf(pusher) + `, scopes: [push]}
  - {name: operator, sha256: ` + hashOf(admin) + `, scopes: [admin]}
clients:
  - {name: grafana, common_name: grafana.example, scopes: [read]}
`
}

func save(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func gate(t *testing.T, o Options) *Gate {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g, err := NewGate(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func refuse(w http.ResponseWriter, _ *http.Request, status int, why string) {
	http.Error(w, why, status)
}

// ask sends a request through a guard, and says who the handler saw.
func ask(guard func(http.Handler) http.Handler, token string, certified ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/path", nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if certified != nil {
		r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{Subject: pkix.Name{CommonName: certified[0]}}}}}
	}
	w := httptest.NewRecorder()
	guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := CallerOf(r.Context()); c != nil {
			fmt.Fprint(w, c.Name)
		}
	})).ServeHTTP(w, r)
	return w
}

func TestWhoMayDoWhat(t *testing.T) {
	g := gate(t, Options{TokenFile: save(t, several())})
	for _, tt := range []struct {
		name   string
		guard  func(http.Handler) http.Handler
		token  string
		common string
		status int
		body   string
	}{
		{"some reading is reading", g.Guard(Read, refuse), reader, "", 200, "scheduler"},
		{"but not all of it", g.Whole(Read, refuse), reader, "", 403, "the caller has no scope read"},
		{"pushing is not reading", g.Guard(Read, refuse), pusher, "", 403, "the caller has no scope read"},
		{"all pushing", g.Whole(Push, refuse), pusher, "", 200, "trainer"},
		{"admin reads", g.Whole(Read, refuse), admin, "", 200, "operator"},
		{"admin is not given by others", g.Whole(Admin, refuse), pusher, "", 403, "the caller has no scope admin"},
		{"a certificate", g.Whole(Read, refuse), "", "grafana.example", 200, "grafana"},
		{"a certificate of nobody", g.Guard(Read, refuse), "", "other.example", 401, "want the header"},
		{"nothing", g.Guard(Read, refuse), "", "", 401, "want the header"},
		{"an unknown token", g.Guard(Read, refuse), reader + "x", "", 401, "the token is not known"},
		{"a wrong token beside a right certificate", g.Guard(Read, refuse), "wrong", "grafana.example", 401, "the token is not known"},
		{"a hash is no token", g.Guard(Read, refuse), hashOf(admin), "", 401, "the token is not known"},
	} {
		var cert []string
		if tt.common != "" {
			cert = []string{tt.common}
		}
		w := ask(tt.guard, tt.token, cert...)
		if w.Code != tt.status || !strings.HasPrefix(w.Body.String(), tt.body) {
			t.Errorf("%s: %d %s, want %d %s", tt.name, w.Code, w.Body, tt.status, tt.body)
		}
		if (w.Code == 401) != (w.Header().Get("WWW-Authenticate") != "") {
			t.Errorf("%s: %v", tt.name, w.Header())
		}
	}
}

func TestScopesOfNames(t *testing.T) {
	some := &Caller{scopes: []Scope{{Read, "node_state"}}}
	for need, may := range map[Scope]bool{{Read, "node_state"}: true, {Read, "node_state@v3"}: true, {Read, "node_state_x"}: false,
		{Read, ""}: false, {Push, "node_state"}: false, {Admin, ""}: false} {
		if some.May(need) != may {
			t.Errorf("%s: %v, want %v", need, !may, may)
		}
	}
	if all := (&Caller{scopes: []Scope{{Read, ""}}}); !all.May(Scope{Read, "any"}) {
		t.Error("read does not cover read:any")
	}
	if nobody := (*Caller)(nil); !nobody.May(Scope{Admin, ""}) {
		t.Error("an open listener refuses")
	}
}

func TestOneWordMayDoEverything(t *testing.T) {
	g := gate(t, Options{TokenFile: save(t, admin+"\n")})
	if w := ask(g.Whole(Admin, refuse), admin); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask((*Gate)(nil).Whole(Admin, refuse), ""); w.Code != 200 {
		t.Errorf("no gate: %d", w.Code)
	}
}

func TestBadTokenFiles(t *testing.T) {
	entry := func(s string) string { return "tokens:\n- {" + s + "}\n" }
	h := hashOf(reader)
	for name, tt := range map[string]struct{ text, want string }{
		"empty":         {"", "want 16 to 4096 bytes"},
		"short":         {"0123456789abcde\n", "want 16 to 4096 bytes"},
		"long":          {strings.Repeat("x", MaxToken+1), "want 16 to 4096 bytes"},
		"two words":     {"0123456789 abcdef", "want one word"},
		"unknown key":   {entry("name: a, token: 0123456789abcdef, scopes: [read]"), "want one token, or YAML"},
		"no scope":      {entry("name: a, sha256: " + h), "tokens[0].scopes: a has none"},
		"unknown scope": {entry("name: a, sha256: " + h + ", scopes: [write]"), `tokens[0].scopes: "write": want read,`},
		"admin of one":  {entry("name: a, sha256: " + h + `, scopes: ["admin:x"]`), `tokens[0].scopes: "admin:x"`},
		"plain token":   {entry("name: a, sha256: 0123456789abcdef, scopes: [read]"), "tokens[0].sha256: want the 64 hex digits"},
		"bad name":      {entry("name: a b, sha256: " + h + ", scopes: [read]"), `tokens[0].name: "a b"`},
		"bad rate":      {entry("name: a, sha256: " + h + ", scopes: [read], rate: -1"), "tokens[0].rate: -1"},
		"nobody":        {"tokens: []\n", "tokens: want at least one caller"},
		"twice": {"tokens:\n- {name: a, sha256: " + h + ", scopes: [read]}\n- {name: a, sha256: " + hashOf(admin) + ", scopes: [read]}\n- {name: b, sha256: " + h + ", scopes: [read]}\n",
			"tokens[1].name: a is there twice\ntokens[2].sha256: that of a too"},
		"no common name": {"clients:\n- {name: a, scopes: [read]}\n", "clients[0].common_name: want that"},
	} {
		_, err := NewGate(Options{TokenFile: save(t, tt.text)})
		if err == nil || !strings.HasPrefix(err.Error(), "read token: ") || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "0123") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := NewGate(Options{TokenFile: "/nowhere/token"}); err == nil {
		t.Error("a file that is not there: no error")
	}
}

// A token that is taken out of the file is refused a second later, without a restart; a file
// that cannot be read changes nothing.
func TestFileIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := save(t, several())
		var log bytes.Buffer
		g := gate(t, Options{TokenFile: file, Log: slog.New(slog.NewTextHandler(&log, nil))})
		guard := g.Whole(Push, refuse)
		step := func(text string, want int) {
			t.Helper()
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(rereadEvery)
			if w := ask(guard, pusher); w.Code != want {
				t.Errorf("%d %s, want %d", w.Code, w.Body, want)
			}
		}
		step(several(), 200)
		step("tokens: 1", 200)
		if !strings.Contains(log.String(), "its callers stay as they were") {
			t.Errorf("nothing said:\n%s", log.String())
		}
		step("another-0123456789", 401)
		step(several(), 200)
	})
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate(t, Options{TokenFile: save(t, several()), Limits: Limits{Rate: 1}})
		guard := g.Guard(Push, refuse)
		codes := func(token string, n int) (codes []int) {
			for range n {
				codes = append(codes, ask(guard, token).Code)
			}
			return codes
		}
		for _, tt := range []struct{ got, want []int }{
			{codes(reader, 3), []int{200, 200, 429}}, // its own rate is 2
			{codes(pusher, 2), []int{200, 429}},      // the listener's
		} {
			if fmt.Sprint(tt.got) != fmt.Sprint(tt.want) {
				t.Errorf("%v, want %v", tt.got, tt.want)
			}
		}
		if after := ask(guard, reader).Header().Get("Retry-After"); after != "1" {
			t.Errorf("Retry-After %q", after)
		}
		time.Sleep(500 * time.Millisecond)
		if got := codes(reader, 2); got[0] != 200 || got[1] != 429 {
			t.Errorf("half a second later: %v", got)
		}
	})
}

func TestConcurrency(t *testing.T) {
	g := gate(t, Options{Limits: Limits{Concurrency: 1}})
	var second *httptest.ResponseRecorder
	guard := g.Guard(Read, refuse)
	guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { second = ask(guard, "") })).
		ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if second.Code != 503 || second.Header().Get("Retry-After") == "" {
		t.Errorf("a second request at once: %d %v", second.Code, second.Header())
	}
	if w := ask(guard, ""); w.Code != 200 {
		t.Errorf("after the first: %d", w.Code)
	}
}

// A client that does not read its answer loses the connection at the deadline.
func TestDeadline(t *testing.T) {
	g := gate(t, Options{Limits: Limits{Timeout: config.Duration(50 * time.Millisecond)}})
	failed := make(chan error, 1)
	server := httptest.NewServer(g.Guard(Read, refuse)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Context().Deadline(); !ok {
			t.Error("no deadline")
		}
		page := make([]byte, 1<<20)
		for {
			if _, err := w.Write(page); err != nil {
				failed <- err
				return
			}
		}
	})))
	defer server.Close()
	res, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := <-failed; !strings.Contains(err.Error(), "timeout") {
		t.Errorf("the write ended with %v", err)
	}
}

func TestDenialsAreLoggedAndCounted(t *testing.T) {
	var log bytes.Buffer
	reg := prometheus.NewRegistry()
	g := gate(t, Options{TokenFile: save(t, several()), Registerer: reg, Log: slog.New(slog.NewTextHandler(&log, nil))})
	ask(g.Whole(Read, refuse), reader)
	ask(g.Whole(Read, refuse), "secret-0123456789")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "caller=scheduler") || !strings.Contains(lines[0], "status=403") || !strings.Contains(lines[0], "path=/path") || !strings.Contains(lines[1], "status=401") {
		t.Errorf("audit:\n%s", log.String())
	}
	if strings.Contains(log.String(), "0123456789") {
		t.Errorf("a token is in the log:\n%s", log.String())
	}
	if n := testutil.CollectAndCount(g.denied); n != 2 {
		t.Errorf("%d statuses counted", n)
	}
}

func TestLimitsCheck(t *testing.T) {
	err := Limits{Rate: -1, Concurrency: -1, Timeout: config.Duration(2 * time.Hour)}.Check()
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("%v", err)
	}
	if err := (Limits{}).Check(); err != nil {
		t.Error(err)
	}
}

// What has no deadline asks for the same scope as what has one.
func TestUntimed(t *testing.T) {
	g := gate(t, Options{TokenFile: save(t, several()), Limits: Limits{Timeout: config.Duration(time.Minute)}})
	deny := func(w http.ResponseWriter, _ *http.Request, status int, _ string) { w.WriteHeader(status) }
	timed := false
	h := g.Untimed(Read, deny)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, timed = r.Context().Deadline() }))
	for token, want := range map[string]int{reader: 200, admin: 200, pusher: 403, "nobody-0123456789": 401} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want || timed {
			t.Errorf("%s: %d, want %d; with a deadline: %v", token, w.Code, want, timed)
		}
	}
}
