package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/internal/bearer"
)

func tokenFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestToken(t *testing.T) {
	const token = "0123456789abcdef"
	h := serve(t, start, Options{TokenFile: tokenFile(t, token+"\n"), Gatherer: prometheus.NewRegistry()})
	tests := []struct {
		name, header string
		pass         bool
	}{
		{"none", "", false},
		{"right", "Bearer " + token, true},
		{"lower case scheme", "bearer " + token, true},
		{"wrong", "Bearer 0123456789abcdeF", false},
		{"prefix", "Bearer 0123456789abcde", false},
		{"longer", "Bearer " + token + "0", false},
		{"other scheme", "Basic " + token, false},
		{"bare", token, false},
		{"empty", "Bearer ", false},
	}
	for _, tt := range tests {
		for _, path := range []string{"/v1/features", "/metrics"} {
			w := do(h, "GET", path, "", "Authorization", tt.header)
			if pass := w.Code == 200; pass != tt.pass {
				t.Errorf("%s %s: %d", tt.name, path, w.Code)
			}
			if !tt.pass && (w.Code != 401 || w.Header().Get("WWW-Authenticate") == "" || strings.Contains(w.Body.String(), "0123")) {
				t.Errorf("%s %s: %d %s %v", tt.name, path, w.Code, w.Body, w.Header())
			}
		}
		w := do(h, "POST", "/get-online-features", `{"features":["box:load"],"entities":{"node":["a"]}}`, "Authorization", tt.header)
		if pass := w.Code == 200; pass != tt.pass {
			t.Errorf("%s: %d %s", tt.name, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if w := do(h, "GET", path, ""); w.Code != 200 {
			t.Errorf("%s without a token: %d", path, w.Code)
		}
	}
}

func TestBadTokenFiles(t *testing.T) {
	views, src := world()
	store := storeOf(t, views, src)
	for name, text := range map[string]string{
		"empty": "", "short": "0123456789abcde\n", "long": strings.Repeat("x", bearer.MaxToken+1), "two words": "0123456789 abcdef",
	} {
		_, err := New(store, setOf(views), Options{TokenFile: tokenFile(t, text)})
		if err == nil || !strings.HasPrefix(err.Error(), "read token: ") || text != "" && strings.Contains(err.Error(), "0123") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(store, setOf(views), Options{TokenFile: "/nowhere/token"}); err == nil {
		t.Error("a file that is not there: no error")
	}
}
