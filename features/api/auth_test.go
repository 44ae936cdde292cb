package api

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/internal/access"
)

// gate stands before a handler with a token file of this text.
func gate(t *testing.T, text string) *access.Gate {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := access.NewGate(access.Options{TokenFile: file, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestToken(t *testing.T) {
	const token = "0123456789abcdef"
	h := serve(t, start, Options{Access: gate(t, token+"\n"), Gatherer: prometheus.NewRegistry()})
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

// A caller that may read one service gets that one, in any version, and nothing else.
func TestScopeOfAService(t *testing.T) {
	h := serve(t, start, Options{Access: gate(t, fmt.Sprintf("tokens:\n- {name: mixer, sha256: %x, scopes: [\"read:mix\"]}\n",
		sha256.Sum256([]byte("0123456789abcdef")))), Gatherer: prometheus.NewRegistry()})
	for _, tt := range []struct {
		path, body string
		status     int
	}{
		{"/get-online-features", `{"feature_service":"mix","entities":{"node":["a"],"gpu":["0"]}}`, 200},
		{"/get-online-features", `{"feature_service":"mix@v1","entities":{"node":["a"],"gpu":["0"]}}`, 200},
		{"/get-online-features", `{"feature_service":"clash","full_feature_names":true,"entities":{"node":["a"],"gpu":["0"]}}`, 403},
		{"/get-online-features", `{"features":["gpu:load"],"entities":{"node":["a"],"gpu":["0"]}}`, 403},
		{"/metrics", "", 403},
		{"/v1/services", "", 200},
	} {
		method := "POST"
		if tt.body == "" {
			method = "GET"
		}
		if w := do(h, method, tt.path, tt.body, "Authorization", "Bearer 0123456789abcdef"); w.Code != tt.status {
			t.Errorf("%s %s: %d %s, want %d", tt.path, tt.body, w.Code, w.Body, tt.status)
		}
	}
}
