package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"

	"sextant/internal/httpserve"
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
	candidates := make([]candidate, len(events))
	for i, raw := range events {
		candidates[i].raw = raw
	}
	result, refused, unsent := s.store(r.Context(), candidates)
	status = http.StatusAccepted
	switch {
	case unsent > 0:
		w.Header().Set("Retry-After", "1")
		status = http.StatusServiceUnavailable
	case refused > 0:
		status = http.StatusUnprocessableEntity
	}
	return answer(w, status, result)
}

// candidate is an event as it came: its JSON, or what is wrong with it already.
type candidate struct {
	raw    []byte
	faults tasks.Faults
}

// store hands what is right to Kafka, and says what was accepted and what is wrong with
// the rest.
func (s *server) store(ctx context.Context, events []candidate) (res Result, refused, unsent int) {
	var msgs []kafka.Message
	var index []int
	var faults []Fault
	now := s.now().UnixMilli()
	for i, c := range events {
		m, of := c.message(now)
		if of == nil {
			msgs, index = append(msgs, m), append(index, i)
			continue
		}
		refused++
		for _, f := range of {
			faults = append(faults, Fault{i, f})
		}
	}
	var last error
	for i, err := range s.producer.Send(ctx, msgs) {
		if err == nil {
			res.Accepted++
			continue
		}
		last = err
		faults = append(faults, Fault{index[i], tasks.Fault{Message: "Kafka did not acknowledge it: send it again"}})
	}
	unsent = len(msgs) - res.Accepted
	s.events.WithLabelValues("accepted").Add(float64(res.Accepted))
	s.events.WithLabelValues("refused").Add(float64(refused))
	s.events.WithLabelValues("unsent").Add(float64(unsent))
	if last != nil {
		s.log.Warn("task events not stored", "events", unsent, "err", last)
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return a.Index - b.Index })
	shown := min(len(faults), maxDetail)
	res.Detail, res.Omitted = faults[:shown], len(faults)-shown
	return res, refused, unsent
}

// message is the record of the event, or what is wrong with it.
func (c candidate) message(now int64) (kafka.Message, tasks.Faults) {
	if c.faults != nil {
		return kafka.Message{}, c.faults
	}
	m, err := message(c.raw, now)
	if err == nil {
		return m, nil
	}
	var of tasks.Faults
	if !errors.As(err, &of) {
		of = tasks.Faults{{Message: err.Error()}}
	}
	return kafka.Message{}, of
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
	httpserve.Answer(w, status, body)
	return status
}
