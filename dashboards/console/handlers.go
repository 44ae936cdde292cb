package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/util/httputil"

	"sextant/internal/httpserve"
	schema "sextant/schema/tasks"
)

// Limits of one answer.
const (
	maxNodes     = 200_000
	defaultTasks = 500
	maxTasks     = 5_000
	maxSpan      = 32 * 24 * time.Hour
)

// badRequest is what is wrong with a request, in the client's words.
type badRequest struct{ error }

func bad(format string, args ...any) error { return badRequest{fmt.Errorf(format, args...)} }

// answer runs one question within the deadline. What the store says of a failure stays in
// the log: it may hold what a caller must not see.
func (s *server) answer(ask func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), deadline)
		defer cancel()
		body, err := ask(r.WithContext(ctx))
		var wrong badRequest
		switch {
		case err == nil:
			httpserve.Answer(w, http.StatusOK, body)
		case errors.As(err, &wrong):
			httpserve.AnswerError(w, http.StatusBadRequest, wrong.Error())
		case errors.Is(err, ErrUnknown):
			httpserve.AnswerError(w, http.StatusNotFound, err.Error())
		case r.Context().Err() != nil: // who asked went away
		default:
			s.Log.Warn("console question failed", "path", r.URL.Path, "err", err)
			w.Header().Set("Retry-After", "5")
			httpserve.AnswerError(w, http.StatusServiceUnavailable, "the store does not answer: see the log of the server")
		}
	})
}

func (s *server) listNodes(r *http.Request) (any, error) {
	if err := only(r); err != nil {
		return nil, err
	}
	known, at, err := s.nodes.get(r.Context(), s.Now, func(ctx context.Context) ([]Node, error) { return s.store.ConsoleNodes(ctx, maxNodes) })
	switch {
	case err == nil:
	case at.IsZero():
		return nil, err
	default: // features are served without the store, so the map goes on, too
		s.Log.Warn("console question failed; the inventories of before are served", "at", at, "err", err)
	}
	return struct {
		Nodes []Node    `json:"nodes"`
		At    time.Time `json:"at"`    // of the inventories
		Stale bool      `json:"stale"` // the store does not answer
	}{withSeen(known, s.Seen()), at.UTC(), err != nil}, nil
}

// withSeen adds when each node was seen, and the nodes that send and have no inventory.
func withSeen(known []Node, seen map[string]int64) []Node {
	out := slices.Clone(known)
	if out == nil {
		out = []Node{}
	}
	told := make(map[string]bool, len(out))
	for i := range out {
		told[out[i].Node] = true
		out[i].Seen = seen[out[i].Node]
	}
	for name, at := range seen {
		if !told[name] {
			out = append(out, Node{Node: name, Seen: at})
		}
	}
	slices.SortFunc(out[len(known):], func(a, b Node) int { return strings.Compare(a.Node, b.Node) })
	return out
}

func (s *server) oneNode(r *http.Request) (any, error) {
	if err := only(r); err != nil {
		return nil, err
	}
	name := r.PathValue("node")
	if len(name) > schema.MaxName {
		return nil, bad("node: %d bytes, the limit is %d", len(name), schema.MaxName)
	}
	at, memory := s.Seen()[name]
	d, err := s.store.ConsoleNode(r.Context(), name)
	if errors.Is(err, ErrUnknown) && memory { // it sends, and has no inventory
		d, err = unlisted(name), nil
	}
	if err != nil {
		return nil, err
	}
	d.Seen = at
	return d, nil
}

// unlisted is a node that has no inventory.
func unlisted(name string) *NodeDetail {
	return &NodeDetail{Node: Node{Node: name}, Devices: []Device{}, Ports: []Port{}, Targets: []Target{}, Flags: []Flag{}, Faults: []Fault{}, Changes: []Change{}}
}

func (s *server) listTasks(r *http.Request) (any, error) {
	q, err := taskQuery(r, s.Now())
	if err != nil {
		return nil, err
	}
	limit := q.Limit
	q.Limit++
	list, err := s.store.ConsoleTasks(r.Context(), q)
	if err != nil {
		return nil, err
	}
	more := len(list) > limit
	if more {
		list = list[:limit]
	}
	if list == nil {
		list = []Task{}
	}
	return struct {
		From  time.Time `json:"from"`
		To    time.Time `json:"to"`
		Tasks []Task    `json:"tasks"`
		More  bool      `json:"more"` // the limit left some out
	}{q.From, q.To, list, more}, nil
}

// taskQuery reads from, to, state, tenant, queue, node and limit.
func taskQuery(r *http.Request, now time.Time) (TaskQuery, error) {
	if err := only(r, "from", "to", "state", "tenant", "queue", "node", "limit"); err != nil {
		return TaskQuery{}, err
	}
	get := r.URL.Query().Get
	q := TaskQuery{From: now.Add(-time.Hour), To: now, State: get("state"), Tenant: get("tenant"), Queue: get("queue"), Node: get("node"), Limit: defaultTasks}
	for _, p := range []struct {
		name string
		at   *time.Time
	}{{"from", &q.From}, {"to", &q.To}} {
		if text := get(p.name); text != "" {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return q, bad("%s: want a time of RFC 3339", p.name)
			}
			*p.at = at.UTC()
		}
	}
	if span := q.To.Sub(q.From); span <= 0 || span > maxSpan {
		return q, bad("from, to: %v, want more than 0 and at most %v", span, maxSpan)
	}
	if q.State != "" && schema.State(q.State).Rank() < 0 {
		return q, bad("state: want one of %v", schema.States)
	}
	for _, p := range []struct{ name, value string }{{"tenant", q.Tenant}, {"queue", q.Queue}, {"node", q.Node}} {
		if len(p.value) > schema.MaxName {
			return q, bad("%s: %d bytes, the limit is %d", p.name, len(p.value), schema.MaxName)
		}
	}
	if text := get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxTasks {
			return q, bad("limit: want 1 to %d", maxTasks)
		}
		q.Limit = n
	}
	return q, nil
}

func (s *server) theLine(r *http.Request) (any, error) {
	if err := only(r); err != nil {
		return nil, err
	}
	line, _, err := s.line.get(r.Context(), s.Now, s.store.ConsoleLine)
	return line, err
}

func (s *server) theLedger(r *http.Request) (any, error) {
	if err := only(r); err != nil {
		return nil, err
	}
	ledger, _, err := s.ledger.get(r.Context(), s.Now, s.store.ConsoleLedger)
	return ledger, err
}

// only refuses parameters that are none: one is misspelt more often than new.
func only(r *http.Request, names ...string) error {
	for name, values := range r.URL.Query() {
		if !slices.Contains(names, name) {
			return bad("%.40q is no parameter of this path", name)
		}
		if len(values) > 1 {
			return bad("%s: is there twice", name)
		}
	}
	return nil
}

func compressed(next http.Handler) http.Handler { return httputil.CompressionHandler{Handler: next} }
