package collectors

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// handler serves the agent's own pages.
func (a *agent) handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/-/healthy", "/healthz"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "healthy") })
	}
	for _, path := range []string{"/-/ready", "/readyz"} {
		mux.HandleFunc("GET "+path, a.ready)
	}
	mux.HandleFunc("POST /-/reload", a.handleReload)
	mux.HandleFunc("PUT /-/reload", a.handleReload)
	mux.HandleFunc("GET /targets", a.targets)
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.deps.Registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /{$}", index)
	return mux
}

func index(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, "sextant-agent\n\n/targets\n/metrics\n/-/healthy\n/-/ready\n/-/reload (POST)\n")
}

// ready says whether what is scraped can be kept. A broker that is away does not matter:
// that is what the spool is for.
func (a *agent) ready(w http.ResponseWriter, _ *http.Request) {
	if err := a.spool.Fault(); err != nil {
		http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

func (a *agent) handleReload(w http.ResponseWriter, _ *http.Request) {
	restart, err := a.reload()
	switch {
	case err != nil:
		http.Error(w, "configuration not reloaded, the old one stays:\n"+err.Error(), http.StatusInternalServerError)
	case len(restart) > 0:
		fmt.Fprintf(w, "configuration reloaded; restart the agent for what changed in: %s\n", strings.Join(restart, ", "))
	default:
		fmt.Fprintln(w, "configuration reloaded")
	}
}

func (a *agent) targets(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(map[string]any{"targets": a.scraper.Targets()}); err != nil {
		a.deps.Log.Debug("targets page", "err", err)
	}
}
