package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// badExporter answers each path in another wrong way.
func badExporter(t *testing.T) *httptest.Server {
	page := func(text func() string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			fmt.Fprint(w, text())
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/lines", page(func() string {
		return "bad_lines_before 1\nbad_lines{owner=\"team \"9\"\"} 2\nnot a line\nbad_lines_after 3\nbad_lines_cut{gpu=\"1\"} 70"
	}))
	mux.HandleFunc("/times", page(func() string {
		future := time.Now().Add(time.Hour).UnixMilli()
		return fmt.Sprintf("time_past 1 1000\ntime_future 2 %d\ntime_none 3\nnode_memory_MemTotal_bytes 1 %d\n", future, future)
	}))
	mux.HandleFunc("/wide", page(func() string { return "wide_neighbour 1\nwide{" + thousandLabels() + "} 1\n" }))
	mux.HandleFunc("/bulk", page(func() string {
		var text strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&text, "bulk{n=\"%d\"} %d\n", i, time.Now().UnixNano())
		}
		return text.String()
	}))
	mux.HandleFunc("/html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>please log in</html>")
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/huge", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		line := []byte("huge{n=\"" + strings.Repeat("x", 1<<20) + "\"} 1\n")
		for range 100 {
			if _, err := w.Write(line); err != nil {
				return // the agent has read as much as it will
			}
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func thousandLabels() string {
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("l%d=\"%d\"", i, i)
	}
	return strings.Join(names, ",")
}

// job is one item of scrape_configs for a path of the exporter.
func job(s *httptest.Server, path, more string) string {
	return fmt.Sprintf("{job_name: %s, metrics_path: /%s, static_configs: [{targets: [%q]}]%s}", path, path, s.Listener.Addr(), more)
}
