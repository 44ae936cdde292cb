package snapshot

import (
	"encoding/json"
	"fmt"
	"net/http"
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

// refuse answers {"detail": "…"}, as all of the API does.
func refuse(w http.ResponseWriter, status int, why string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable && h.Get("Retry-After") == "" {
		h.Set("Retry-After", "5")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"detail": why}) // a client that went away needs no answer
}

// clip shortens what a client sent, for an error that repeats it.
func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}
