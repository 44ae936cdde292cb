package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/features"
	"sextant/internal/clickhouse"
	"sextant/internal/openapi"
	"sextant/internal/testkit/apitest"
)

const forecastView = `
view: job_forecast
version: 1
entity: node
tier: business
interval: 10m
ttl: 1h
owner: capacity
description: What the forecaster expects of a node.
source: push
features:
  - {name: busy_in_1h, dtype: float32, unit: ratio, min: 0, max: 1, description: Expected busy share in an hour.}
`

// apiStore is an engine with all definitions of the program and a push view, and rows of two
// nodes as of now.
type apiStore struct {
	db  *clickhouse.DB
	set *features.Set
	cfg *Config
}

func newAPIStore(t *testing.T) *apiStore {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "job_forecast.yaml"), []byte(forecastView), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := definitionsIn([]string{builtinViews, dir})
	if err != nil {
		t.Fatal(err)
	}
	cfg := defaultConfig()
	s := &apiStore{set: set, cfg: cfg}
	s.db, cfg.ClickHouse = storeWith(t, set)
	now := time.Now().UTC().Truncate(10 * time.Second).UnixMilli()
	for _, v := range set.Views {
		if err := s.db.WritePushed(t.Context(), rowsOf(v, now, "n1", "n2")); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// rowsOf is a row for each of these entities, all their keys alike, with values in range.
func rowsOf(v *features.View, tick int64, entities ...string) *features.Rows {
	r := &features.Rows{View: v, Keys: make([][]string, len(v.Keys)), Cols: make([]features.Column, len(v.Features))}
	for i, e := range entities {
		r.Tick, r.Known = append(r.Tick, tick), append(r.Known, tick)
		for k := range v.Keys {
			r.Keys[k] = append(r.Keys[k], e)
		}
		for f := range v.Features {
			c, def := &r.Cols[f], &v.Features[f]
			value := float64(i)
			switch {
			case def.DType == features.String:
				c.Str = append(c.Str, "text")
				continue
			case f%7 == 6:
				value = math.NaN()
			case def.Min != nil:
				value = *def.Min
			case def.Max != nil:
				value = *def.Max
			}
			c.Num = append(c.Num, value)
		}
	}
	return r
}

// api serves the store, with the configuration changed.
func (s *apiStore) api(t *testing.T, change func(*Config)) *featureAPI {
	t.Helper()
	cfg := *s.cfg
	if change != nil {
		change(&cfg)
	}
	a, err := newAPI(&cfg, s.set, s.db, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.store.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAPIIsAsDescribed: what is served is described and what is described is served, and
// answers, errors among them, are of the described shapes.
func TestAPIIsAsDescribed(t *testing.T) {
	s := newAPIStore(t)
	a := s.api(t, nil)
	described, err := openapi.Routes()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("routes", func(t *testing.T) {
		served := a.Routes()
		if alone := without(served, described); len(alone) > 0 {
			t.Errorf("served and not described: %q", alone)
		}
		if alone := without(described, served); len(alone) > 0 {
			t.Errorf("described and not served: %q", alone)
		}
	})
	schemas, err := apitest.Load()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Format(time.RFC3339)
	answered := map[string]bool{"GET /v1/watch": true} // a stream has no end to wait for: package snapshot tests it
	for _, c := range []struct {
		operation, target, contentType, body string
		status                               int
	}{
		{"POST /get-online-features", "", "", `{"features":["node_monitoring:cpu_utilization_1m","node_static:cpu_count"],"entities":{"node":["n1","n9"]},"include_feature_view_version_metadata":true}`, 200},
		{"POST /get-online-features", "", "", `{"feature_service":"decision_state","entities":{"node":["n1"],"task":["n1"],"cluster":["n1"]}}`, 400},
		{"POST /get-online-features", "", "", `{"features":["nothing:x"],"entities":{"node":["n1"]}}`, 404},
		{"POST /get-online-features", "", "", strings.Repeat(" ", 5<<20), 413},
		{"POST /push", "", "", `{"push_source_name":"job_forecast","df":{"node":["n1"],"busy_in_1h":[0.8],"event_timestamp":["` + now + `"]}}`, 200},
		{"POST /push", "", "", `{"push_source_name":"job_forecast","df":{"node":["n1"],"busy_in_1h":[8],"event_timestamp":["` + now + `"]}}`, 400},
		{"POST /push", "", "", `{"push_source_name":"nothing","df":{}}`, 404},
		{"POST /write-to-online-store", "", "", `{"feature_view_name":"job_forecast","df":{"node":["n1"],"busy_in_1h":[0.8],"event_timestamp":["` + now + `"]}}`, 200},
		{"POST /write-to-online-store", "", "", `{`, 400},
		{"POST /v1/training-set", "?service=node_basics", "text/csv", "node,event_timestamp\nn1," + now + "\n", 200},
		{"POST /v1/training-set", "?service=node_basics", "text/csv", "node,event_timestamp\nn1,yesterday\n", 400},
		{"POST /v1/training-set", "?service=node_basics", "text/html", "node\n", 415},
		{"GET /v1/snapshot", "?service=node_basics&format=json&as_of=" + now, "", "", 200},
		{"GET /v1/snapshot", "?service=node_basics&as_of=" + now, "", "", 200},
		{"GET /v1/snapshot", "?service=node_basics&format=raw&as_of=" + now, "", "", 200},
		{"GET /v1/snapshot", "?service=node_basics", "", "", 503},
		{"GET /v1/snapshot", "?service=decision_state", "", "", 400},
		{"GET /v1/snapshot", "?service=nothing", "", "", 404},
		{"GET /v1/graph", "?format=json&as_of=" + now, "", "", 200},
		{"GET /v1/graph", "?as_of=" + now, "", "", 200},
		{"GET /v1/graph", "?service=x", "", "", 400},
		{"GET /v1/watch", "?service=node_basics", "", "", 503},
		{"GET /v1/watch", "?service=decision_state", "", "", 400},
		{"GET /v1/watch", "?service=nothing", "", "", 404},
		{"GET /v1/nodes", "", "", "", 200},
		{"GET /v1/nodes", "?x=1", "", "", 400},
		{"GET /v1/nodes/{node}", "/v1/nodes/n1", "", "", 200},
		{"GET /v1/nodes/{node}", "/v1/nodes/nobody", "", "", 404},
		{"GET /v1/tasks", "", "", "", 200},
		{"GET /v1/tasks", "?limit=0", "", "", 400},
		{"GET /v1/line", "", "", "", 200},
		{"GET /v1/line/ledger", "", "", "", 200},
		{"GET /v1/features", "", "", "", 200},
		{"GET /v1/features", "?view=nothing", "", "", 404},
		{"GET /v1/views", "", "", "", 200},
		{"GET /v1/views/{view}", "/v1/views/cluster_business", "", "", 200},
		{"GET /v1/views/{view}", "/v1/views/node_trend@v1", "", "", 200},
		{"GET /v1/views/{view}", "/v1/views/job_forecast", "", "", 200},
		{"GET /v1/views/{view}", "/v1/views/nothing", "", "", 404},
		{"GET /v1/services", "", "", "", 200},
		{"GET /v1/services/{service}", "/v1/services/decision_state", "", "", 200},
		{"GET /v1/services/{service}", "/v1/services/nothing", "", "", 404},
		{"GET /v1/entities", "", "", "", 200},
		{"GET /v1/lineage", "?feature=cluster_business:cpu_utilization_mean_1m", "", "", 200},
		{"GET /v1/lineage", "?metric=accel_power_watts", "", "", 200},
		{"GET /v1/lineage", "?service=decision_state", "", "", 200},
		{"GET /v1/lineage", "", "", "", 400},
		{"GET /v1/quality", "", "", "", 200},
		{"GET /v1/quality", "?view=node_monitoring&feature=cpu_utilization_1m", "", "", 200},
		{"GET /v1/quality", "?feature=x", "", "", 400},
		{"GET /v1/quality", "?view=nothing", "", "", 404},
		{"GET /v1/lineage", "?metric=nothing", "", "", 404},
		{"GET /api/v1/query", "?query=feature:node_monitoring:load_per_core_1m&stats=all", "", "", 200},
		{"GET /api/v1/query", "?query=1", "", "", 200},
		{"GET /api/v1/query", "?query=up{", "", "", 400},
		{"GET /api/v1/query", "?query=label_replace(feature:node_monitoring:load_per_core_1m,'a','','a','[')", "", "", 422},
		{"POST /api/v1/query", "", "application/x-www-form-urlencoded", "query=feature:node_static:cpu_count[5m]", 200},
		{"GET /api/v1/query_range", "?query=feature:node_monitoring:load_per_core_1m&start=" + now + "&end=" + now + "&step=10", "", "", 200},
		{"GET /api/v1/query_range", "?query=up&start=10&end=0&step=10", "", "", 400},
		{"POST /api/v1/query_range", "", "application/x-www-form-urlencoded", "query=up&start=0&end=10&step=10", 200},
		{"GET /api/v1/series", "?match[]=feature:node_static:cpu_count", "", "", 200},
		{"GET /api/v1/series", "", "", "", 400},
		{"POST /api/v1/series", "", "application/x-www-form-urlencoded", "match[]=up", 200},
		{"GET /api/v1/labels", "", "", "", 200},
		{"GET /api/v1/labels", "?match[]={", "", "", 400},
		{"POST /api/v1/labels", "", "application/x-www-form-urlencoded", "", 200},
		{"GET /api/v1/label/{name}/values", "/api/v1/label/node/values?match[]=feature:node_static:cpu_count", "", "", 200},
		{"GET /api/v1/label/{name}/values", "/api/v1/label/node/values?limit=x", "", "", 400},
		{"GET /api/v1/metadata", "", "", "", 200},
		{"GET /api/v1/metadata", "?limit=x", "", "", 400},
		{"GET /api/v1/format_query", "?query=sum(up)by(node)", "", "", 200},
		{"GET /api/v1/format_query", "", "", "", 400},
		{"POST /api/v1/format_query", "", "application/x-www-form-urlencoded", "query=up", 200},
		{"GET /api/v1/query_exemplars", "?query=up", "", "", 200},
		{"GET /api/v1/query_exemplars", "", "", "", 400},
		{"POST /api/v1/query_exemplars", "", "application/x-www-form-urlencoded", "query=up", 200},
		{"GET /api/v1/rules", "", "", "", 200},
		{"GET /api/v1/alerts", "", "", "", 200},
		{"GET /api/v1/status/buildinfo", "", "", "", 200},
		{"GET /health", "", "", "", 200},
		{"GET /healthz", "", "", "", 200},
		{"GET /readyz", "", "", "", 200},
		{"GET /metrics", "", "", "", 200},
		{"GET /openapi.yaml", "", "", "", 200},
		{"GET /openapi.json", "", "", "", 200},
	} {
		method, path, _ := strings.Cut(c.operation, " ")
		target := c.target
		if !strings.HasPrefix(target, "/") {
			target = path + target
		}
		w := apitest.Ask(a, method, target, c.contentType, c.body)
		if w.Code != c.status {
			t.Errorf("%s %s: %d %.300s, want %d", method, target, w.Code, w.Body, c.status)
			continue
		}
		if err := schemas.CheckAnswer(c.operation, w); err != nil {
			t.Errorf("%s: %.2000s", target, err)
		}
		if c.status == 200 {
			answered[c.operation] = true
		}
	}
	for _, route := range described {
		if !answered[route] {
			t.Errorf("no answer of %s was checked", route)
		}
	}
	t.Run("refusals", func(t *testing.T) { refusalsAreAsDescribed(t, s, schemas, described) })
	t.Run("before the store answers", func(t *testing.T) {
		front, err := newFront()
		if err != nil {
			t.Fatal(err)
		}
		for _, route := range described {
			method, path, _ := strings.Cut(route, " ")
			w := apitest.Ask(front, method, path, "", "")
			want := 503
			if path == "/health" || path == "/healthz" {
				want = 200
			}
			if err := schemas.CheckAnswer(route, w); err != nil || w.Code != want {
				t.Errorf("%s: %d, %v", route, w.Code, err)
			}
		}
	})
}

// refusalsAreAsDescribed asks everything without a token, with one that may nothing here, and
// with one whose rate is spent.
func refusalsAreAsDescribed(t *testing.T, s *apiStore, schemas *apitest.Schemas, described []string) {
	const nobody, hasty = "nobody-nobody-nobody", "hasty-hasty-hasty"
	tokens := filepath.Join(t.TempDir(), "tokens.yaml")
	text := fmt.Sprintf("tokens:\n  - {name: nobody, sha256: %s, scopes: [\"push:nothing\", \"read:nothing\"]}\n  - {name: hasty, sha256: %s, scopes: [admin], rate: 0.0001}\n",
		sha256Hex(nobody), sha256Hex(hasty))
	if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a := s.api(t, func(c *Config) { c.Serve.TokenFile = tokens })
	apitest.Ask(a, "GET", "/v1/views", "", "", "Authorization", "Bearer "+hasty)
	open := []string{"GET /health", "GET /healthz", "GET /readyz"}
	for _, route := range described {
		method, path, _ := strings.Cut(route, " ")
		for token, want := range map[string]int{"": 401, hasty: 429, nobody: 403} {
			var header []string
			if token != "" {
				header = []string{"Authorization", "Bearer " + token}
			}
			w := apitest.Ask(a, method, path, "", "", header...)
			if err := schemas.CheckAnswer(route, w); err != nil {
				t.Errorf("%s as %q: %v", route, token, err)
			}
			if token == nobody && (strings.HasPrefix(path, "/v1/") || path == "/get-online-features" || slices.Contains([]string{"/push", "/write-to-online-store"}, path) || strings.HasPrefix(path, "/openapi")) {
				continue // it may ask, for something else
			}
			if slices.Contains(open, route) {
				want = 200
			}
			if w.Code != want {
				t.Errorf("%s as %q: %d, want %d", route, token, w.Code, want)
			}
		}
	}
}

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
