// Package web is the console's page: TypeScript in src, what esbuild made of it in dist, and
// the handler that serves it. dist is committed, so that a clone builds without Node.js; a
// test says when it is older than src.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed dist
var dist embed.FS

// Prefix is where the console lives.
const Prefix = "/console/"

// Policy is the content-security policy of the page: everything comes from its own origin,
// nothing is inline, and nobody frames it.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is a file as it is sent.
type asset struct {
	kind         string // media type
	plain, small []byte // small: gzip, nil where it saves nothing
	hashed       bool   // its name changes with its content
}

// Handler serves the console below Prefix and leads / to it. A path that is no file is the
// page itself: the page knows its own paths.
func Handler() (http.Handler, error) {
	files, err := load()
	if err != nil {
		return nil, fmt.Errorf("console assets: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, Prefix, http.StatusFound) })
	mux.HandleFunc("/console", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, Prefix, http.StatusFound) })
	mux.HandleFunc(Prefix, func(w http.ResponseWriter, r *http.Request) {
		header(w)
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "want GET", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, Prefix)
		a, ok := files[name]
		switch {
		case ok:
		case strings.HasPrefix(name, "assets/"): // of another version of the program
			http.NotFound(w, r)
			return
		default:
			a = files["index.html"]
		}
		send(w, r, a)
	})
	return mux, nil
}

func header(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("X-Frame-Options", "DENY") // for browsers older than frame-ancestors
}

func send(w http.ResponseWriter, r *http.Request, a *asset) {
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if a.hashed {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := a.plain
	if a.small != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.small
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // a client that went away needs no answer
	}
}

// load reads all files of dist, by their path below it.
func load() (map[string]*asset, error) {
	files := map[string]*asset{}
	err := fs.WalkDir(dist, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		short := strings.TrimPrefix(name, "dist/")
		a := &asset{kind: kindOf(name), plain: body, hashed: strings.HasPrefix(short, "assets/")}
		if a.small, err = squeeze(body); err != nil {
			return err
		}
		files[short] = a
		return nil
	})
	if err == nil && files["index.html"] == nil {
		err = fmt.Errorf("dist has no index.html")
	}
	return files, err
}

// kinds are those that a minimal system may not know.
var kinds = map[string]string{".woff2": "font/woff2", ".svg": "image/svg+xml", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8"}

func kindOf(name string) string {
	if k, ok := kinds[path.Ext(name)]; ok {
		return k
	}
	if k := mime.TypeByExtension(path.Ext(name)); k != "" {
		return k
	}
	return "application/octet-stream"
}

func squeeze(body []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if b.Len() >= len(body)*9/10 {
		return nil, nil
	}
	return b.Bytes(), nil
}
