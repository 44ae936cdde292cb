package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sextant/internal/access"
)

// shelf is a store in memory. err, where it is set, is all that it says.
type shelf struct {
	nodes []Node
	tasks []Task
	err   error
	asked atomic.Int64
	query TaskQuery
}

func (s *shelf) ConsoleNodes(context.Context, int) ([]Node, error) {
	s.asked.Add(1)
	return s.nodes, s.err
}

func (s *shelf) ConsoleNode(_ context.Context, name string) (*NodeDetail, error) {
	for _, n := range s.nodes {
		if n.Node == name {
			return &NodeDetail{Node: n}, s.err
		}
	}
	return nil, errors.Join(ErrUnknown, s.err)
}

func (s *shelf) ConsoleTasks(_ context.Context, q TaskQuery) ([]Task, error) {
	s.query = q
	return s.tasks[:min(q.Limit, len(s.tasks))], s.err
}

func (s *shelf) ConsoleLine(context.Context) (*Line, error)     { return &Line{}, s.err }
func (s *shelf) ConsoleLedger(context.Context) (*Ledger, error) { return &Ledger{}, s.err }

func ask(t *testing.T, s *shelf, o Options, path string) (int, string) {
	t.Helper()
	return askOf(New(s, o), path, "")
}

func askOf(h http.Handler, path, token string) (int, string) {
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestNodes: what the inventory tells, and what only sends.
func TestNodes(t *testing.T) {
	s := &shelf{nodes: []Node{{Node: "a", Simulated: true}, {Node: "b"}}}
	seen := func() map[string]int64 { return map[string]int64{"b": 10, "d": 30, "c": 20} }
	code, body := ask(t, s, Options{Seen: seen}, "/v1/nodes")
	var got struct {
		Nodes []Node
		Stale bool
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 || got.Stale {
		t.Fatalf("%d %s: %v", code, body, err)
	}
	var names []string
	for _, n := range got.Nodes {
		names = append(names, n.Node)
	}
	if strings.Join(names, " ") != "a b c d" || got.Nodes[0].Seen != 0 || got.Nodes[1].Seen != 10 || got.Nodes[2].Seen != 20 || !got.Nodes[0].Simulated {
		t.Errorf("%+v", got.Nodes)
	}
	if code, body := ask(t, s, Options{Seen: seen}, "/v1/nodes/d"); code != 200 || !strings.Contains(body, `"seen":30`) || !strings.Contains(body, `"devices":[]`) || !strings.Contains(body, `"targets":[]`) {
		t.Errorf("a node that only sends: %d %s", code, body)
	}
	if code, _ := ask(t, s, Options{Seen: seen}, "/v1/nodes/nobody"); code != 404 {
		t.Errorf("a node that nobody knows: %d", code)
	}
	if _, body := ask(t, &shelf{}, Options{}, "/v1/nodes"); !strings.Contains(body, `"nodes":[]`) {
		t.Errorf("no node: %s", body)
	}
}

// TestStoreAway: nodes that were read before are served on, and said to be old; what was
// never read is 503. The words of the store stay in the log.
func TestStoreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{nodes: []Node{{Node: "a"}}}
		h := New(s, Options{})
		if code, body := askOf(h, "/v1/nodes", ""); code != 200 || !strings.Contains(body, `"stale":false`) {
			t.Fatalf("%d %s", code, body)
		}
		s.err = errors.New("secret of the store")
		if code, body := askOf(h, "/v1/nodes", ""); code != 200 || !strings.Contains(body, `"stale":false`) || s.asked.Load() != 1 {
			t.Errorf("within the age of an answer: %d %s, asked %d times", code, body, s.asked.Load())
		}
		time.Sleep(nodesAge)
		if code, body := askOf(h, "/v1/nodes", ""); code != 200 || !strings.Contains(body, `"stale":true`) || !strings.Contains(body, `"node":"a"`) {
			t.Errorf("later: %d %s", code, body)
		}
		for _, path := range []string{"/v1/nodes/a", "/v1/tasks", "/v1/line", "/v1/line/ledger"} {
			if code, body := askOf(h, path, ""); code != 503 || strings.Contains(body, "secret") || !strings.Contains(body, "does not answer") {
				t.Errorf("%s: %d %s", path, code, body)
			}
		}
	})
}

// TestManyAskOnce: of those who ask at once, one asks the store.
func TestManyAskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls := newMemo[int](time.Second), 0
		slow := func(context.Context) (int, error) {
			calls++
			time.Sleep(100 * time.Millisecond)
			return calls, nil
		}
		done := make(chan int)
		for range 10 {
			go func() {
				v, _, _ := m.get(context.Background(), time.Now, slow)
				done <- v
			}()
		}
		for range 10 {
			if v := <-done; v != 1 {
				t.Errorf("answer %d", v)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		time.Sleep(time.Second)
		go m.get(context.Background(), time.Now, slow)
		synctest.Wait()
		if _, _, err := m.get(ctx, time.Now, slow); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who waits beyond its deadline: %v", err)
		}
		time.Sleep(time.Second)
	})
}

func TestTaskQuery(t *testing.T) {
	s := &shelf{tasks: make([]Task, 3)}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := Options{Now: func() time.Time { return at }}
	code, body := ask(t, s, o, "/v1/tasks?state=queued&tenant=acme&queue=gold&node=n1&limit=2&from=2026-03-01T10:00:00Z&to=2026-03-01T13:00:00%2B02:00")
	want := TaskQuery{From: at.Add(-2 * time.Hour), To: at.Add(-time.Hour), State: "queued", Tenant: "acme", Queue: "gold", Node: "n1", Limit: 3}
	if code != 200 || s.query != want || !strings.Contains(body, `"more":true`) || strings.Count(body, `"task":`) != 2 {
		t.Errorf("%d %+v\n%s", code, s.query, body)
	}
	if code, body := ask(t, s, o, "/v1/tasks"); code != 200 || s.query.To != at || s.query.From != at.Add(-time.Hour) || !strings.Contains(body, `"more":false`) {
		t.Errorf("%d %+v", code, s.query)
	}
	for path, why := range map[string]string{
		"/v1/tasks?state=sleeping":                                        "state: want one of",
		"/v1/tasks?limit=0":                                               "limit: want 1 to 5000",
		"/v1/tasks?limit=x":                                               "limit: want",
		"/v1/tasks?from=yesterday":                                        "from: want a time",
		"/v1/tasks?from=2026-03-01T13:00:00Z":                             "from, to:",
		"/v1/tasks?from=2020-03-01T13:00:00Z":                             "from, to:",
		"/v1/tasks?tenant=" + strings.Repeat("x", 254):                    "tenant: 254 bytes",
		"/v1/tasks?tennant=x":                                             `"tennant" is no parameter`,
		"/v1/tasks?queue=a&queue=b":                                       "queue: is there twice",
		"/v1/nodes?limit=1":                                               `"limit" is no parameter`,
		"/v1/line?x=1":                                                    `"x" is no parameter`,
		"/v1/nodes/" + strings.Repeat("n", 254):                           "node: 254 bytes",
		"/v1/tasks?from=2026-03-01T10:00:00Z&to=2026-03-01T09:00:00Z":     "from, to:",
		"/v1/tasks?state=queued&from=2026-03-01T10:00:00Z&to=2026-03-01T": "to: want a time",
	} {
		if code, body := ask(t, s, o, path); code != 400 || !strings.Contains(strings.ReplaceAll(body, `\"`, `"`), why) {
			t.Errorf("%s: %d %s, want %s", path, code, body, why)
		}
	}
}

// TestGate: without a token nothing is told, and one that may read some services only is not
// enough.
func TestGate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gate, err := access.NewGate(access.Options{TokenFile: file})
	if err != nil {
		t.Fatal(err)
	}
	h := New(&shelf{}, Options{Access: gate})
	for _, path := range []string{"/v1/nodes", "/v1/nodes/a", "/v1/tasks", "/v1/line", "/v1/line/ledger"} {
		if code, _ := askOf(h, path, ""); code != 401 {
			t.Errorf("%s without a token: %d", path, code)
		}
	}
	if code, _ := askOf(h, "/v1/nodes", "0123456789abcdef"); code != 200 {
		t.Errorf("with the token: %d", code)
	}
}

func TestOnlyGet(t *testing.T) {
	w := httptest.NewRecorder()
	New(&shelf{}, Options{}).ServeHTTP(w, httptest.NewRequest("POST", "/v1/nodes", nil))
	if w.Code != 405 || w.Header().Get("Allow") != "GET" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
