package api

import (
	"fmt"
	"net/http"

	"sextant/internal/httpserve"
)

// requestError is what is wrong with a request, in the client's words, with the status to
// answer.
type requestError struct {
	status int
	detail string
}

func (e *requestError) Error() string { return e.detail }

func badRequest(format string, args ...any) error {
	return &requestError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &requestError{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// clip shortens what a client sent, for an error that repeats it.
func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}

// writeError answers as Feast's server does: {"detail": "…"}.
func writeError(w http.ResponseWriter, err *requestError) {
	httpserve.AnswerError(w, err.status, err.detail)
}
