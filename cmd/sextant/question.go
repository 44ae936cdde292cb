package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"sextant/features"
)

// question asks the feature API about this host, over HTTP as any client would.
type question struct {
	base, url, node string
	features        []string
	since           time.Time // rows of an earlier run do not count
	client          *http.Client
	served          atomic.Bool
}

// shown are the features that the demo asks for.
var shown = []string{
	"node_static:cpu_count", "node_static:memory_bytes",
	"node_monitoring:cpu_utilization_1m", "node_monitoring:load_per_core_1m", "node_monitoring:memory_used_ratio",
}

// newQuestion asks about node. Features that views lack are left out.
func newQuestion(url, node string, views []*features.View) *question {
	defined := map[string]bool{}
	for _, v := range views {
		for _, f := range v.Features {
			defined[v.Name+":"+f.Name] = true
		}
	}
	var names []string
	for _, name := range shown {
		if defined[name] {
			names = append(names, name)
		}
	}
	return &question{base: url, url: url + "/get-online-features", node: node, features: names, since: time.Now(), client: &http.Client{Timeout: 2 * time.Second}}
}

func (q *question) body(names []string) string {
	body, err := json.Marshal(map[string]any{"features": names, "entities": map[string][]string{"node": {q.node}}})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(body)
}

// Curl is the question about the named features as a command to copy.
func (q *question) Curl(names []string) string {
	return fmt.Sprintf("curl -s %s -d '%s'", q.url, q.body(names))
}

// Served says whether an answer ever had a feature of this run.
func (q *question) Served() bool { return q.served.Load() }

// reply is an answer of the API.
type reply struct {
	text    string   // as it came
	fresh   bool     // at least one feature has a value that is newer than the question
	present []string // the features that have a value, as they were asked for
	summary string   // names and values, or the status of what has none
}

// Complete says that every feature has a value, and one of them is of this run.
func (r reply) Complete(asked int) bool { return r.fresh && len(r.present) == asked }

// Ask asks once about the named features.
func (q *question) Ask(ctx context.Context, names []string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url, bytes.NewBufferString(q.body(names)))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := q.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return reply{}, fmt.Errorf("read answer of %s: %w", q.url, err)
	}
	if resp.StatusCode != http.StatusOK {
		return reply{}, fmt.Errorf("%s answers %s: %s", q.url, resp.Status, text)
	}
	r, err := parseReply(text, names, q.since)
	if err != nil {
		return reply{}, fmt.Errorf("answer of %s: %w", q.url, err)
	}
	if r.fresh {
		q.served.Store(true)
	}
	return r, nil
}

// parseReply reads an answer about the features of one entity with one join key.
func parseReply(text []byte, asked []string, since time.Time) (reply, error) {
	var answer struct {
		Metadata struct {
			Names []string `json:"feature_names"`
		}
		Results []struct {
			Values   []json.RawMessage
			Statuses []string
			Times    []time.Time `json:"event_timestamps"`
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return reply{}, err
	}
	r := reply{text: string(bytes.TrimSpace(text))}
	var parts []string
	for i, column := range answer.Results {
		// The first column is the join key, which is present in any answer.
		if i == 0 || i > len(asked) || i >= len(answer.Metadata.Names) || len(column.Statuses) != 1 || len(column.Values) != 1 || len(column.Times) != 1 {
			continue
		}
		value := column.Statuses[0]
		if value == features.Present.String() {
			r.present = append(r.present, asked[i-1])
			r.fresh = r.fresh || column.Times[0].After(since)
			value = string(column.Values[0])
		}
		parts = append(parts, answer.Metadata.Names[i]+" "+value)
	}
	r.summary = strings.Join(parts, ", ")
	return r, nil
}
