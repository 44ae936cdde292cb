package web

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func get(t *testing.T, path string, header ...string) *http.Response {
	t.Helper()
	h, err := Handler()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDistIsOfTheSources fails when src changed and nobody built: run make console.
func TestDistIsOfTheSources(t *testing.T) {
	files := []string{"build.mjs", "package-lock.json", "tsconfig.json"}
	err := filepath.WalkDir("src", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	all := sha256.New()
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(all, "%s\n%x\n", f, sha256.Sum256(content))
	}
	built, err := os.ReadFile("dist.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(all.Sum(nil)); got != strings.TrimSpace(string(built)) {
		t.Errorf("dist is not of these sources: run make console and commit what it writes")
	}
}

// TestPage: every path that is no file is the page, with headers that let nothing in from
// elsewhere.
func TestPage(t *testing.T) {
	for _, path := range []string{"/console/", "/console/nodes/n1", "/console/nodes/a.b/devices/x", "/console/index.html"} {
		res := get(t, path)
		body := text(t, res.Body)
		if res.StatusCode != 200 || !strings.HasPrefix(body, "<!doctype html>") || res.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %s %.40s", path, res.StatusCode, res.Header.Get("Content-Type"), body)
		}
		for name, want := range map[string]string{"Content-Security-Policy": Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"X-Frame-Options": "DENY", "Cache-Control": "no-cache", "Cross-Origin-Opener-Policy": "same-origin"} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
	if strings.Contains(Policy, "unsafe") || strings.Contains(Policy, "*") || !strings.Contains(Policy, "frame-ancestors 'none'") {
		t.Errorf("the policy is open: %s", Policy)
	}
}

// TestAssets: what the page names is there, is kept for a year and is small.
func TestAssets(t *testing.T) {
	page := text(t, get(t, "/console/").Body)
	names := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(names) < 5 {
		t.Fatalf("the page names %v", names)
	}
	script := 0
	for _, m := range names {
		if !strings.HasPrefix(m[1], "/console/assets/") {
			t.Errorf("the page asks for %s", m[1])
		}
		res := get(t, m[1], "Accept-Encoding", "gzip")
		if res.StatusCode != 200 || res.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || res.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %d %v", m[1], res.StatusCode, res.Header)
		}
		body := text(t, res.Body)
		if strings.HasSuffix(m[1], ".js") {
			script += len(body)
		}
		if res.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if plain := text(t, get(t, m[1]).Body); plain != text(t, z) {
				t.Errorf("%s differs when it is compressed", m[1])
			}
		}
	}
	if script == 0 || script > 200_000 {
		t.Errorf("scripts are %d bytes compressed, the limit is 200 kB", script)
	}
	t.Logf("scripts are %d bytes compressed", script)
	if inline := regexp.MustCompile(`<script>|<style|style="|\son[a-z]+="|<script[^>]*>[^<]`).FindString(page); inline != "" {
		t.Errorf("inline: %s", inline)
	}
}

func TestOtherPaths(t *testing.T) {
	for path, want := range map[string]string{"/": Prefix, "/console": Prefix} {
		if res := get(t, path); res.StatusCode != http.StatusFound || res.Header.Get("Location") != want {
			t.Errorf("%s: %d to %q", path, res.StatusCode, res.Header.Get("Location"))
		}
	}
	// An asset of another version is not the page: a browser would run HTML as a script.
	for _, path := range []string{"/console/assets/app-OLD.js", "/console/assets/"} {
		if res := get(t, path); res.StatusCode != 404 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	h, err := Handler()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/console/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}
