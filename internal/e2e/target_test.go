package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// target is an exporter that numbers its answers, so that each can be looked for in the
// store: the value of e2e_answer_total is how many it has given.
type target struct {
	server *httptest.Server

	mu     sync.Mutex
	given  int  // answers given
	closed bool // gives no more numbers
}

func startTarget(t *testing.T) *target {
	x := &target{}
	x.server = httptest.NewServer(http.HandlerFunc(x.serve))
	t.Cleanup(x.server.Close)
	return x
}

func (x *target) serve(w http.ResponseWriter, _ *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	if !x.closed {
		x.given++
		fmt.Fprintf(w, "# TYPE e2e_answer_total counter\ne2e_answer_total %d\n", x.given)
	}
	for i := range 50 {
		fmt.Fprintf(w, "e2e_gauge{n=\"%d\"} %d\n", i, x.given*i)
	}
}

// Close makes the target give no more numbers, and returns how many it gave.
func (x *target) Close() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	return x.given
}

// Given is how many numbers were given so far.
func (x *target) Given() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.given
}

func (x *target) Addr() string { return x.server.Listener.Addr().String() }
