package httpserve

import (
	"encoding/json"
	"net/http"
)

// Answer writes a body as JSON that no cache keeps.
func Answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that went away needs no answer
}

// AnswerError answers {"detail": "…"}, as the whole API does.
func AnswerError(w http.ResponseWriter, status int, why string) {
	Answer(w, status, struct {
		Detail string `json:"detail"`
	}{why})
}
