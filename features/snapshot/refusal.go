package snapshot

import (
	"fmt"
	"net/http"

	"sextant/internal/httpserve"
)

// refusal is what is wrong with a request, in the client's words, with the status to answer.
type refusal struct {
	status int
	detail string
}

func (r *refusal) Error() string { return r.detail }

func badRequest(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &refusal{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// later says that the same request will be answered after a while.
func later(format string, args ...any) error {
	return &refusal{http.StatusServiceUnavailable, fmt.Sprintf(format, args...)}
}

// refuse says what is wrong, and when to come again.
func refuse(w http.ResponseWriter, status int, why string) {
	if status == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "5")
	}
	httpserve.AnswerError(w, status, why)
}

// clip shortens what a client sent, for an error that repeats it.
func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}
