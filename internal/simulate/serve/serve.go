// Package serve answers HTTP as the exporters of a simulated cluster, and tells a scraper
// through http_sd which there are.
//
//	GET /NODE/EXPORTER/metrics      what that exporter prints
//	GET /sd?node=GLOB&exporter=NAME targets, with labels simulated, sim_node and sim_group
//	GET /                           a list for people
//
// A node that is lost closes the connection without an answer. The model moves to the
// clock's time at each request.
package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/internal/simulate"
	"sextant/internal/simulate/expose"
	"sextant/internal/simulate/parts"
	"sextant/schema/inventory"
)

// Options of a Server. Only Cluster is needed.
type Options struct {
	Cluster    *simulate.Cluster
	Clock      func() time.Time      // time.Now
	Log        *slog.Logger          // none
	Registerer prometheus.Registerer // none
}

// Server is the exporters of a cluster. It is safe for concurrent use.
type Server struct {
	clock func() time.Time
	log   *slog.Logger
	mux   *http.ServeMux
	pages *prometheus.CounterVec // by exporter
	pool  sync.Pool              // of *[]byte

	mu       sync.Mutex
	cluster  *simulate.Cluster    // guarded by mu
	follow   bool                 // guarded by mu: somebody asks for happenings
	happened []simulate.Happening // guarded by mu: since they were last asked for
}

// New returns the exporters of a cluster, which nobody else may use from then on.
func New(o Options) *Server {
	s := &Server{clock: o.Clock, log: o.Log, cluster: o.Cluster, mux: http.NewServeMux()}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.pages = prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sextant", Subsystem: "simulate", Name: "pages_total",
		Help: "Expositions of simulated exporters that were served."}, []string{"exporter"})
	if o.Registerer != nil {
		o.Registerer.MustRegister(s.pages)
	}
	s.pool.New = func() any { return new([]byte) }
	s.mux.HandleFunc("GET /{node}/{exporter}/metrics", s.metrics)
	s.mux.HandleFunc("GET /sd", s.discover)
	s.mux.HandleFunc("GET /{$}", s.index)
	return s
}

// ServeHTTP answers a scrape or a question of discovery.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Lost says whether a node is lost now, agent and all.
func (s *Server) Lost(node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster.AdvanceTo(s.clock())
	n := s.cluster.Node(node)
	return n == nil || n.Lost
}

// Happenings are the steps of jobs since the last call, the oldest first. The first call tells
// how the jobs that there are came where they are.
func (s *Server) Happenings() []simulate.Happening {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.follow {
		s.follow = true
		s.cluster.Follow(func(h simulate.Happening) { s.happened = append(s.happened, h) })
	}
	s.cluster.AdvanceTo(s.clock())
	out := s.happened
	s.happened = nil
	return out
}

// Nodes lists the names of all nodes.
func (s *Server) Nodes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, len(s.cluster.Nodes))
	for i, n := range s.cluster.Nodes {
		names[i] = n.Name
	}
	return names
}

// Document is what a node is made of now. A lost node tells nobody.
func (s *Server) Document(node string) (*inventory.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster.AdvanceTo(s.clock())
	n := s.cluster.Node(node)
	if n == nil || n.Lost {
		return nil, fmt.Errorf("simulated node %s is lost", node)
	}
	return parts.Document(n, s.clock())
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	buf := s.pool.Get().(*[]byte)
	defer s.pool.Put(buf)
	exporter := r.PathValue("exporter")
	body, state, err := s.page((*buf)[:0], r.PathValue("node"), exporter)
	*buf = body
	switch {
	case err != nil:
		s.log.Error("simulated exporter", "exporter", exporter, "err", err)
		http.Error(w, "cannot write the page", http.StatusInternalServerError)
	case state == absent:
		http.NotFound(w, r)
	case state == lost:
		panic(http.ErrAbortHandler) // closes the connection and says nothing
	default:
		s.pages.WithLabelValues(exporter).Inc()
		w.Header().Set("Content-Type", expose.ContentType)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // the scraper may be gone; that is its own affair
	}
}

type state int

const (
	found  state = iota
	absent       // no such node, or no such exporter on it
	lost
)

func (s *Server) page(dst []byte, node, exporter string) ([]byte, state, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster.AdvanceTo(s.clock())
	n := s.cluster.Node(node)
	switch {
	case n == nil || !slices.Contains(n.Exporters(), exporter):
		return dst, absent, nil
	case n.Lost:
		return dst, lost, nil
	}
	body, err := expose.Page(dst, exporter, n.View(exporter))
	return body, found, err
}

// targetGroup is what http_sd wants.
type targetGroup struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// ports are where the exporters listen in real life. They are in the instance label.
var ports = map[string]string{simulate.NodeExporter: "9100", simulate.CAdvisor: "10250", simulate.DCGM: "9400", simulate.NPU: "8082",
	simulate.AMDExporter: "5000", simulate.XPUMD: "29100", simulate.XPUM: "29999", simulate.GaudiMetrics: "41611", simulate.DTS: "9100"}

// host is what an exporter's instance label has before the port. DOCA telemetry runs on
// the DPU, whose name is its own.
func host(node, exporter string) string {
	if exporter == simulate.DTS {
		return node + "-dpu"
	}
	return node
}

// discover tells the targets of the nodes that match, all of them by default.
func (s *Server) discover(w http.ResponseWriter, r *http.Request) {
	glob, only := r.URL.Query().Get("node"), r.URL.Query().Get("exporter")
	if _, err := path.Match(glob, ""); err != nil {
		http.Error(w, fmt.Sprintf("node=%s is not a pattern", glob), http.StatusBadRequest)
		return
	}
	out := []targetGroup{}
	s.mu.Lock()
	for _, n := range s.cluster.Nodes {
		if ok, _ := path.Match(glob, n.Name); glob != "" && !ok {
			continue
		}
		for _, e := range n.Exporters() {
			if only == "" || only == e {
				out = append(out, targetGroup{Targets: []string{r.Host}, Labels: map[string]string{
					"__metrics_path__": "/" + n.Name + "/" + e + "/metrics",
					"instance":         host(n.Name, e) + ":" + ports[e],
					"job":              e,
					"simulated":        "true",
					"sim_node":         n.Name,
					"sim_group":        n.Group.Name,
				}})
			}
		}
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(out); err != nil {
		s.log.Debug("simulated discovery", "err", err)
	}
}

func (s *Server) index(w http.ResponseWriter, _ *http.Request) {
	var b strings.Builder
	s.mu.Lock()
	fmt.Fprintf(&b, "Simulated cluster %q: %d nodes. Nothing here is real.\n\n/sd\n", s.cluster.Config.Name, len(s.cluster.Nodes))
	for _, n := range s.cluster.Nodes {
		for _, e := range n.Exporters() {
			fmt.Fprintf(&b, "/%s/%s/metrics\n", n.Name, e)
		}
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(b.String()))
}
