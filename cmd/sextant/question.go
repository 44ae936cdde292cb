package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"sextant/features"
)

// question asks the feature API about this host, over HTTP as any client would.
type question struct {
	url, body string
	client    *http.Client
	served    atomic.Bool
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
	body, err := json.Marshal(map[string]any{"features": names, "entities": map[string][]string{"node": {node}}})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return &question{url: url + "/get-online-features", body: string(body), client: &http.Client{Timeout: 2 * time.Second}}
}

// Curl is the question as a command to copy.
func (q *question) Curl() string { return fmt.Sprintf("curl -s %s -d '%s'", q.url, q.body) }

// Served says whether a feature was ever PRESENT in an answer.
func (q *question) Served() bool { return q.served.Load() }

// Ask returns the answer, indented, and whether any feature in it is present.
func (q *question) Ask(ctx context.Context) (string, bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url, bytes.NewBufferString(q.body))
	if err != nil {
		return "", false, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := q.client.Do(req)
	if err != nil {
		return "", false, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || resp.StatusCode != http.StatusOK {
		return "", false, fmt.Errorf("%s answers %s: %s %w", q.url, resp.Status, text, err)
	}
	var answer struct {
		Results []struct{ Statuses []string }
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return "", false, fmt.Errorf("answer of %s: %w", q.url, err)
	}
	// The first columns are the join keys, which are present in any answer.
	present := false
	for _, column := range answer.Results[min(1, len(answer.Results)):] {
		for _, s := range column.Statuses {
			present = present || s == features.Present.String()
		}
	}
	if present {
		q.served.Store(true)
	}
	return string(bytes.TrimSpace(text)), present, nil
}
