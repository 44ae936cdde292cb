package receive

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// turns logs that requests are refused or sent back, the first of each minute: the
// counters say how many, and several senders take turns.
type turns struct {
	log *slog.Logger

	mu    sync.Mutex
	until time.Time // nothing is logged before; guarded by mu
}

// note looks at one answer. An encoding that a sender tries out is nothing to tell.
func (t *turns) note(a answer, now time.Time) {
	if a.err == nil || a.code == http.StatusUnsupportedMediaType {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Before(t.until) {
		return
	}
	t.until = now.Add(time.Minute)
	t.log.Warn("a remote-write request was not taken whole; further ones of this minute are only counted", "protocol", a.protocol, "status", a.code, "err", a.err)
}
