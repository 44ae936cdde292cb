package health

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAsk(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\nand more\n") })
	mux.HandleFunc("/away", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "clickhouse does not answer yet", http.StatusServiceUnavailable)
	})
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", 1<<20)) })
	mux.Handle("/moved", http.RedirectHandler("/readyz", http.StatusFound))
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		o          Options
		line, fail string
	}{
		{"no path", Options{URL: srv.URL}, srv.URL + "/readyz: 200 OK: ok", ""},
		{"a slash", Options{URL: srv.URL + "/"}, srv.URL + "/readyz: 200 OK: ok", ""},
		{"not ready", Options{URL: srv.URL + "/away"}, "", "503 Service Unavailable: clickhouse does not answer yet"},
		{"long", Options{URL: srv.URL + "/long"}, srv.URL + "/long: 200 OK: " + strings.Repeat("x", maxLine), ""},
		{"redirect", Options{URL: srv.URL + "/moved"}, "", "302 Found"},
		{"slow", Options{URL: srv.URL + "/slow", Timeout: 20 * time.Millisecond}, "", "deadline exceeded"},
		{"nobody", Options{URL: "http://127.0.0.1:1"}, "", "refused"},
		{"no scheme", Options{URL: "127.0.0.1:9466"}, "", "127.0.0.1:9466"},
		{"another scheme", Options{URL: "ftp://127.0.0.1"}, "", "want http"},
		{"no such CA", Options{URL: srv.URL, CAFile: "/no/such.pem"}, "", "/no/such.pem"},
		{"no certificate", Options{URL: srv.URL, CAFile: empty}, "", "holds no certificate"},
		{"key alone", Options{URL: srv.URL, KeyFile: empty}, "", "client certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.o.Timeout == 0 {
				c.o.Timeout = 10 * time.Second
			}
			line, err := Ask(t.Context(), c.o)
			if line != c.line || (err != nil) != (c.fail != "") || err != nil && !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%q, %v", line, err)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %v", err)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	for path, want := range map[string]string{"": "ready: " + srv.URL + "/readyz: 200 OK\n", "/nope": ""} {
		var out bytes.Buffer
		cmd := Command("sextant", srv.URL+path)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(&out)
		cmd.SetArgs([]string{})
		if err := cmd.ExecuteContext(t.Context()); (err != nil) != (want == "") || out.String() != want {
			t.Errorf("%q: %q, %v", path, out.String(), err)
		}
	}
}
