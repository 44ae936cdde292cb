package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"

	"sextant/pipeline/kafka"
	"sextant/schema/tasks"
	"sextant/schema/topics"
)

// Fault is what is wrong with one event of a request.
type Fault struct {
	Index int `json:"index"` // of the event, from 0
	tasks.Fault
}

// Result is the answer to a request whose events could be told apart.
type Result struct {
	Accepted int     `json:"accepted"`          // events that Kafka acknowledged
	Detail   []Fault `json:"detail,omitempty"`  // of the others
	Omitted  int     `json:"omitted,omitempty"` // faults beyond the first maxDetail
}

const maxDetail = 1000

// accept stores what is right of a request and says what is not. A request in which some
// events are wrong is answered 422, one that Kafka did not take whole 503; what was
// accepted is stored all the same, and harmless to send again.
func (s *server) accept(w http.ResponseWriter, r *http.Request) int {
	events, status, err := read(w, r)
	if err != nil {
		return refuse(w, status, err.Error())
	}
	var msgs []kafka.Message
	var index []int
	var faults []Fault
	refused := 0
	now := s.now().UnixMilli()
	for i, raw := range events {
		m, err := message(raw, now)
		if err == nil {
			msgs, index = append(msgs, m), append(index, i)
			continue
		}
		refused++
		var of tasks.Faults
		if !errors.As(err, &of) {
			of = tasks.Faults{{Message: err.Error()}}
		}
		for _, f := range of {
			faults = append(faults, Fault{i, f})
		}
	}
	var unsent error
	accepted := 0
	for i, err := range s.producer.Send(r.Context(), msgs) {
		if err == nil {
			accepted++
			continue
		}
		unsent = err
		faults = append(faults, Fault{index[i], tasks.Fault{Message: "Kafka did not acknowledge it: send it again"}})
	}
	s.events.WithLabelValues("accepted").Add(float64(accepted))
	s.events.WithLabelValues("refused").Add(float64(refused))
	s.events.WithLabelValues("unsent").Add(float64(len(msgs) - accepted))
	status = http.StatusAccepted
	switch {
	case unsent != nil:
		s.log.Warn("task events not stored", "events", len(msgs)-accepted, "err", unsent)
		w.Header().Set("Retry-After", "1")
		status = http.StatusServiceUnavailable
	case refused > 0:
		status = http.StatusUnprocessableEntity
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return a.Index - b.Index })
	shown := min(len(faults), maxDetail)
	return answer(w, status, Result{accepted, faults[:shown], len(faults) - shown})
}

// message is the record of one event, in its canonical form.
func message(raw []byte, now int64) (kafka.Message, error) {
	e, err := tasks.Decode(raw, now)
	if err != nil {
		return kafka.Message{}, err
	}
	value, err := e.Encode(now)
	if err != nil {
		return kafka.Message{}, err
	}
	return kafka.Message{Topic: topics.Tasks, Key: e.Key(), Value: value}, nil
}

// read returns the events of a request: a JSON array, one JSON object, or an object on each
// line. A line that is no JSON costs itself; an array that is none, all.
func read(w http.ResponseWriter, r *http.Request) ([][]byte, int, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	lines := kind == "application/x-ndjson" || kind == "application/jsonl"
	if err != nil || !lines && kind != "application/json" {
		return nil, http.StatusUnsupportedMediaType, fmt.Errorf("content type %.100q: want application/json or application/x-ndjson", r.Header.Get("Content-Type"))
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the body is larger than %d bytes", MaxBody)
	}
	if err != nil {
		return nil, http.StatusBadRequest, fmt.Errorf("read the body: %w", err)
	}
	events := [][]byte{body}
	switch body := bytes.TrimSpace(body); {
	case lines:
		events = nonBlank(body)
	case len(body) == 0:
		events = nil
	case body[0] == '[':
		var list []json.RawMessage
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, http.StatusBadRequest, fmt.Errorf("the body is no JSON: %w", err)
		}
		events = nil
		for _, raw := range list {
			events = append(events, raw)
		}
	}
	if len(events) == 0 {
		return nil, http.StatusBadRequest, errors.New("no event")
	}
	if len(events) > MaxEvents {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("%d events, the limit is %d", len(events), MaxEvents)
	}
	return events, 0, nil
}

// nonBlank returns the lines of b that hold something.
func nonBlank(b []byte) [][]byte {
	var out [][]byte
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			out = append(out, line)
		}
	}
	return out
}

// refuse answers that nothing of a request was looked at.
func refuse(w http.ResponseWriter, status int, detail string) int {
	return answer(w, status, map[string]string{"detail": detail})
}

func answer(w http.ResponseWriter, status int, body any) int {
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
	return status
}
