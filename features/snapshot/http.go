package snapshot

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sextant/internal/access"
	"sextant/internal/httpserve"
)

// VersionHeader is the version of an answer, unix ms.
const VersionHeader = "Sextant-Version"

// Handler answers GET /v1/snapshot, /v1/graph and /v1/watch.
func (s *Server) Handler() *httpserve.Mux {
	deny := func(w http.ResponseWriter, _ *http.Request, status int, why string) { refuse(w, status, why) }
	guard, whole := s.opts.Access.Guard(access.Read, deny), s.opts.Access.Whole(access.Read, deny)
	mux := httpserve.NewMux(deny)
	mux.Route("/v1/snapshot", guard(s.metrics.watch("/v1/snapshot", s.answer(s.snapshot))), http.MethodGet)
	mux.Route("/v1/graph", whole(s.metrics.watch("/v1/graph", s.answer(s.wholeGraph))), http.MethodGet)
	untimed := s.opts.Access.Untimed(access.Read, deny)
	mux.Route("/v1/watch", untimed(s.metrics.count("/v1/watch", s.answer(s.watch))), http.MethodGet)
	return mux
}

// answer turns an error into a status. Handlers return one before they write.
func (s *Server) answer(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		status, why := statusOf(err)
		if status >= 500 && r.Context().Err() == nil {
			s.opts.Log.Warn("request failed", "path", r.URL.Path, "status", status, "err", err)
		}
		refuse(w, status, why)
	}
}

// query is the parameters of a request, each at most once and none unknown: one that is
// misspelt would be left out silently.
func query(r *http.Request, names ...string) (map[string]string, error) {
	out := map[string]string{}
	for name, values := range r.URL.Query() {
		if !slices.Contains(names, name) {
			return nil, badRequest("%s: no such parameter: want %s", clip(name), strings.Join(names, ", "))
		}
		if len(values) > 1 {
			return nil, badRequest("%s: given %d times", name, len(values))
		}
		out[name] = values[0]
	}
	return out, nil
}

// planFor is the plan of the service that a request names, if its caller may read it.
func (s *Server) planFor(r *http.Request, service string) (*plan, error) {
	if service == "" {
		return nil, badRequest("service: want one of %s", s.plans.list())
	}
	name, _, _ := strings.Cut(service, "@")
	if err := s.permit(r, access.Scope{Action: access.Read, On: name}); err != nil {
		return nil, err
	}
	return s.plans.find(service)
}

func (s *Server) permit(r *http.Request, need access.Scope) error {
	if access.CallerOf(r.Context()).May(need) {
		return nil
	}
	return &refusal{http.StatusForbidden, s.opts.Access.Deny(r.Context(), need, r.RemoteAddr, r.URL.Path)}
}

// snapshot answers with a service's matrix.
func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "service", "as_of", "format")
	if err != nil {
		return err
	}
	p, err := s.planFor(r, q["service"])
	if err != nil {
		return err
	}
	format, err := formatOf(q["format"])
	if err != nil {
		return err
	}
	return s.serve(w, r, q["as_of"], reply{
		name: p.ref, what: p, format: format,
		past: func(ctx context.Context, m Moment) ([]byte, error) {
			x, err := s.pastMatrix(ctx, p, m)
			if err != nil {
				return nil, err
			}
			return x.encode(format)
		},
	})
}

// wholeGraph answers with the graph.
func (s *Server) wholeGraph(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "as_of", "format")
	if err != nil {
		return err
	}
	format, err := formatOf(q["format"])
	if err != nil {
		return err
	}
	if s.plans.graph == nil {
		return s.plans.noGraph
	}
	return s.serve(w, r, q["as_of"], reply{
		name: "graph", what: s.plans.graph, format: format,
		past: func(ctx context.Context, m Moment) ([]byte, error) {
			g, err := s.pastGraph(ctx, m)
			if err != nil {
				return nil, err
			}
			return g.encode(format)
		},
	})
}

// reply is how a request is answered: live, as bodyKey names it, or from the past.
type reply struct {
	name   string
	what   any
	format string
	past   func(ctx context.Context, m Moment) ([]byte, error)
}

// serve writes an answer: of the current version where as_of says nothing else.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, asOf string, a reply) error {
	at, past, err := s.asOfOf(asOf)
	if err != nil {
		return err
	}
	e := s.current.Load()
	if m := momentAt(at, s.opts.Settle); past && (e == nil || m.Tick != e.Tick) {
		body, err := s.pastBody(r.Context(), m, func(ctx context.Context) ([]byte, error) { return a.past(ctx, m) })
		if err != nil {
			return err
		}
		w.Header().Set("Cache-Control", "no-store")
		return write(w, m, a.format, identity, body)
	}
	if e == nil {
		return later("no version is there yet: the first comes within %v after clickhouse has answered", Step+s.opts.Settle)
	}
	coding := codingOf(r)
	etag := fmt.Sprintf(`"%d-%s-%s-%s"`, e.Tick, a.name, a.format, coding)
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "private, no-cache") // may be kept, if it is asked about
	if matches(r.Header.Get("If-None-Match"), etag) {
		h.Set(VersionHeader, strconv.FormatInt(e.Tick, 10))
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	k := bodyKey{a.what, a.format, coding}
	e.note(k)
	body, err := s.body(e, k)
	if err != nil {
		h.Del("ETag")
		return err
	}
	return write(w, e.Moment, a.format, coding, body)
}

// write sends a body whole. A client that went away costs nothing but its answer.
func write(w http.ResponseWriter, m Moment, format, coding string, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", media[format])
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set(VersionHeader, strconv.FormatInt(m.Tick, 10))
	if coding != identity {
		h.Set("Content-Encoding", coding)
	}
	_, _ = w.Write(body)
	return nil
}

// matches says whether an If-None-Match names etag.
func matches(header, etag string) bool {
	for _, part := range strings.Split(header, ",") {
		if part = strings.TrimSpace(part); part == "*" || strings.TrimPrefix(part, "W/") == etag {
			return true
		}
	}
	return false
}
