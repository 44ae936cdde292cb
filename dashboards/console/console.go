// Package console answers the questions that only the web console asks: what the cluster is
// made of, what a node has and does, which tasks ran, and how the line stands. All else the
// console asks of the feature API and of PromQL, as any client would. The page itself is in
// console/web.
package console

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"sextant/internal/access"
	"sextant/internal/httpserve"
)

// Reader is the store. An empty list is no error; a node that nobody told of is ErrUnknown.
type Reader interface {
	// ConsoleNodes returns the newest inventory of up to limit nodes, by name.
	ConsoleNodes(ctx context.Context, limit int) ([]Node, error)
	// ConsoleNode returns all that is known of one node, without its tasks.
	ConsoleNode(ctx context.Context, name string) (*NodeDetail, error)
	// ConsoleTasks returns tasks that lived within the query's time, the newest first.
	ConsoleTasks(ctx context.Context, q TaskQuery) ([]Task, error)
	// ConsoleLine returns how records flowed over the last Window.
	ConsoleLine(ctx context.Context) (*Line, error)
	// ConsoleLedger balances what agents numbered with what is stored. It reads a key of
	// every sample, so it is asked seldom.
	ConsoleLedger(ctx context.Context) (*Ledger, error)
}

// Options of the handler. The zero value serves everybody.
type Options struct {
	Access *access.Gate // who may ask; nil lets everybody
	// Seen returns the newest tick of each node that is in memory, unix ms; nil: unknown.
	Seen func() map[string]int64
	Now  func() time.Time // time.Now
	Log  *slog.Logger     // slog.Default
}

// How long an answer is used again, so that many open consoles cost what one does.
const (
	nodesAge  = 15 * time.Second
	lineAge   = 4 * time.Second
	ledgerAge = time.Minute
)

// deadline bounds one question to the store.
const deadline = 20 * time.Second

type server struct {
	Options
	store  Reader
	nodes  memo[[]Node]
	line   memo[*Line]
	ledger memo[*Ledger]
}

// New is the handler of /v1/nodes, /v1/nodes/{node}, /v1/tasks, /v1/line and /v1/line/ledger.
func New(store Reader, o Options) *httpserve.Mux {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Seen == nil {
		o.Seen = func() map[string]int64 { return nil }
	}
	s := &server{Options: o, store: store, nodes: newMemo[[]Node](nodesAge), line: newMemo[*Line](lineAge), ledger: newMemo[*Ledger](ledgerAge)}
	deny := func(w http.ResponseWriter, _ *http.Request, status int, why string) {
		httpserve.AnswerError(w, status, why)
	}
	mux, guard := httpserve.NewMux(deny), o.Access.Whole(access.Read, deny)
	for path, ask := range map[string]func(*http.Request) (any, error){
		"/v1/nodes": s.listNodes, "/v1/nodes/{node}": s.oneNode, "/v1/tasks": s.listTasks, "/v1/line": s.theLine, "/v1/line/ledger": s.theLedger,
	} {
		mux.Route(path, guard(compressed(s.answer(ask))), http.MethodGet)
	}
	return mux
}
