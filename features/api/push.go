package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"sextant/features"
	"sextant/internal/access"
)

// How far the event times of pushed rows may lie from the time at which they come. What is
// older than the longest TTL would never be served.
const (
	pushFuture = time.Minute
	pushPast   = 30 * 24 * time.Hour
)

// PushSink stores rows of push views. A row that is pushed twice is one: its key is its
// entity and event time, and the one that was known later stays.
type PushSink interface {
	WritePushed(ctx context.Context, rows *features.Rows) error
}

// pushBody is the body of /push, and of /write-to-online-store, which is what Feast's SDK
// sends when its online store is this server. Caches of a registry and transformations
// are Feast's own, and what says how to treat them is ignored.
type pushBody struct {
	Source string                     `json:"push_source_name"`
	View   string                     `json:"feature_view_name"`
	Frame  map[string]json.RawMessage `json:"df"`
	To     *string                    `json:"to"`
}

// push stores rows that somebody else computed. All of a request are stored, or none.
func (s *server) push(w http.ResponseWriter, r *http.Request) {
	if err := s.pushed(w, r); err != nil {
		if err.status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		writeError(w, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

func (s *server) pushed(w http.ResponseWriter, r *http.Request) *requestError {
	sc := s.scratch.Get().(*scratch)
	defer s.putBack(sc)
	if err := sc.readBody(w, r, s.limits.Body); err != nil {
		return asRequestError(err)
	}
	v, body, err := s.pushView(sc.body)
	if err != nil {
		return asRequestError(err)
	}
	need := access.Scope{Action: access.Push, On: v.Name}
	if !access.CallerOf(r.Context()).May(need) {
		return &requestError{http.StatusForbidden, s.access.Deny(r.Context(), need, r.RemoteAddr, r.URL.Path)}
	}
	rows, err := pushedRows(v, body.Frame, s.now(), s.limits.Entities)
	if err != nil {
		return asRequestError(err)
	}
	if len(rows.Tick) == 0 {
		return nil
	}
	if err := s.sink.WritePushed(r.Context(), rows); err != nil {
		s.log.Warn("pushed rows not stored", "view", v.Ref(), "rows", len(rows.Tick), "err", err)
		return &requestError{http.StatusServiceUnavailable, "the rows are not known to be stored: push them again"}
	}
	s.metrics.pushed.WithLabelValues(v.Ref()).Add(float64(len(rows.Tick)))
	return nil
}

// asRequestError takes an error that is one.
func asRequestError(err error) *requestError {
	var bad *requestError
	if !errors.As(err, &bad) {
		panic("BUG: " + err.Error())
	}
	return bad
}

// pushView reads a body, and finds the push view that it names.
func (s *server) pushView(text []byte) (*features.View, *pushBody, error) {
	var body pushBody
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, nil, jsonError(err)
	}
	field, name := "push_source_name", body.Source
	if body.Source == "" && body.View != "" {
		field, name = "feature_view_name", body.View
	}
	v, ok := s.catalog.byRef[name]
	switch {
	case name == "":
		return nil, nil, badRequest("push_source_name: want the name of a push view")
	case !ok:
		return nil, nil, notFound("%s: view %q is not defined", field, clip(name))
	case !v.Push:
		return nil, nil, badRequest("%s: %s is computed here: only a view with source: push takes rows", field, v.Ref())
	case body.Frame == nil:
		return nil, nil, badRequest("df: want the columns %v and event_timestamp", v.Keys)
	case body.To != nil && *body.To != "online" && *body.To != "online_and_offline":
		return nil, nil, badRequest("to: %q: want online or online_and_offline, which are the same here", clip(*body.To))
	}
	return v, &body, nil
}

// The columns of a frame beside keys and features, by Feast's names.
const (
	eventTime = "event_timestamp"
	created   = "created"
)

// pushedRows checks a frame by column: every key and feature of the view is there and as
// long as the others, every value of its type and in its range.
func pushedRows(v *features.View, frame map[string]json.RawMessage, now time.Time, limit int) (*features.Rows, error) {
	want := append(slices.Clone(v.Keys), eventTime)
	for i := range v.Features {
		want = append(want, v.Features[i].Name)
	}
	columns := make(map[string][]any, len(want))
	n := -1
	for _, name := range want {
		raw, ok := frame[name]
		if !ok {
			return nil, badRequest("df: %s is missing", name)
		}
		column, err := decodeColumn(raw)
		switch {
		case err != nil:
			return nil, badRequest("df: %s: %v", name, err)
		case len(column) > limit:
			return nil, badRequest("df: %s: %d rows, at most %d", name, len(column), limit)
		case n >= 0 && len(column) != n:
			return nil, badRequest("df: %s has %d values and %s has %d", want[0], n, name, len(column))
		}
		columns[name], n = column, len(column)
	}
	for _, name := range sortedKeys(frame) {
		if !slices.Contains(want, name) && name != created {
			return nil, badRequest("df: %s is no key or feature of %s", clip(name), v.Ref())
		}
	}
	return frameRows(v, columns, n, now)
}

// decodeColumn reads an array of values, numbers as their text.
func decodeColumn(raw json.RawMessage) ([]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var list []any
	if err := d.Decode(&list); err != nil || list == nil {
		return nil, fmt.Errorf("want an array")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("want one array")
	}
	return list, nil
}

func frameRows(v *features.View, columns map[string][]any, n int, now time.Time) (*features.Rows, error) {
	rows := &features.Rows{View: v, Tick: make([]int64, n), Known: make([]int64, n), Keys: make([][]string, len(v.Keys)), Cols: make([]features.Column, len(v.Features))}
	for i := range n {
		t, err := pushTime(columns[eventTime][i], now)
		if err != nil {
			return nil, badRequest("df: %s: row %d: %v", eventTime, i, err)
		}
		rows.Tick[i], rows.Known[i] = t, now.UnixMilli()
	}
	for k, key := range v.Keys {
		rows.Keys[k] = make([]string, n)
		for i, x := range columns[key] {
			var err error
			if rows.Keys[k][i], err = pushKey(x); err != nil {
				return nil, badRequest("df: %s: row %d: %v", key, i, err)
			}
		}
	}
	for f := range v.Features {
		def := &v.Features[f]
		for i, x := range columns[def.Name] {
			if err := pushValue(&rows.Cols[f], def, x); err != nil {
				return nil, badRequest("df: %s: row %d: %v", def.Name, i, err)
			}
		}
	}
	return rows, unique(rows)
}

// unique refuses two rows of one entity and time: which one stays would be chance.
func unique(r *features.Rows) error {
	first := make(map[string]int, len(r.Tick))
	for i := range r.Tick {
		id := fmt.Sprint(r.Tick[i])
		for k := range r.Keys {
			id += "\xff" + r.Keys[k][i]
		}
		if j, twice := first[id]; twice {
			return badRequest("df: rows %d and %d are of the same entity and time", j, i)
		}
		first[id] = i
	}
	return nil
}
