package httpserve

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Mux is an http.ServeMux that knows what it serves, so that a description of an API can be
// compared with it, and that answers unknown paths and methods as its API answers errors.
type Mux struct {
	mux    *http.ServeMux
	refuse Refuse
	routes []string     // "GET /v1/views", sorted
	rest   http.Handler // answers every other path
}

// Refuse answers a request with an error.
type Refuse func(w http.ResponseWriter, r *http.Request, status int, why string)

// NewMux returns a mux without routes.
func NewMux(refuse Refuse) *Mux {
	m := &Mux{mux: http.NewServeMux(), refuse: refuse}
	m.rest = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { refuse(w, r, http.StatusNotFound, "no such path") })
	m.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { m.rest.ServeHTTP(w, r) })
	return m
}

// Route answers path, as http.ServeMux has it but without a method, with h where the method is
// one of these, and with 405 where not. HEAD is served where GET is.
func (m *Mux) Route(path string, h http.Handler, methods ...string) {
	for _, method := range methods {
		m.routes = append(m.routes, method+" "+path)
	}
	allow := strings.Join(methods, ", ")
	m.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(methods, r.Method) || r.Method == http.MethodHead && slices.Contains(methods, http.MethodGet) {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", allow)
		m.refuse(w, r, http.StatusMethodNotAllowed, fmt.Sprintf("method %.20s: want %s", r.Method, strings.Join(methods, " or ")))
	})
}

// Mount hands the paths below prefix, or with "/" all others, to another handler. The routes of a Mux count as its own.
func (m *Mux) Mount(prefix string, h http.Handler) {
	if other, ok := h.(*Mux); ok {
		m.routes = append(m.routes, other.routes...)
	}
	if prefix == "/" {
		m.rest = h
		return
	}
	m.mux.Handle(prefix, h)
}

// Routes are the methods and paths that are served, like "GET /v1/views/{view}", sorted.
// What a handler that is no Mux serves below its prefix is not among them.
func (m *Mux) Routes() []string {
	return slices.Sorted(slices.Values(m.routes))
}

// ServeHTTP implements http.Handler.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }
