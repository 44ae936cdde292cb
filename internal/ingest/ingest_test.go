package ingest

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"sextant/internal/access"
	"sextant/internal/embedded/broker"
	"sextant/pipeline/kafka"
	"sextant/schema/tasks"
	"sextant/schema/topics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// startBroker runs a broker with the topic, until the test ends or stop is called.
func startBroker(t *testing.T) (addr string, stop func()) {
	t.Helper()
	all := topics.All()
	for i := range all {
		all[i] = all[i].Single()
	}
	b, err := broker.Start(t.Context(), broker.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Topics: all, Group: "unused"})
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return b.Addr(), stop
}

func handler(t *testing.T, addr string, opts Options) http.Handler {
	t.Helper()
	p, err := kafka.NewProducer(kafka.Config{Brokers: []string{addr}, ClientID: "test"}, kafka.ProducerOptions{Topic: topics.Tasks, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	opts.Now = func() time.Time { return now }
	h, err := New(p, opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func do(h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func event(id, more string) string {
	return fmt.Sprintf(`{"event_id":%q,"task":"t","state":"queued","time":"2026-03-01T12:00:00Z","source":"test"%s}`, id, more)
}

const (
	path   = "/v1/tasks/events"
	ndjson = "application/x-ndjson"
	array  = "application/json; charset=utf-8"
)

func TestTaskEvents(t *testing.T) {
	addr, stop := startBroker(t)
	reg := prometheus.NewRegistry()
	h := handler(t, addr, Options{Registerer: reg, Gatherer: reg})
	good, bad := event("a", ""), event("b", `,"slo":{"deadline":"soon"}`)
	const fault = `,"field":"slo.deadline","message":"\"soon\" is no time such as 2026-03-01T12:00:00Z"}`
	statuses := map[int]bool{}
	check := func(name, method, body, kind string, status int, want string) {
		t.Helper()
		w := do(h, method, path, body, "Content-Type", kind)
		statuses[w.Code] = true
		if got := strings.TrimSpace(w.Body.String()); w.Code != status || got != want {
			t.Errorf("%s: %d %.300s\nwant %d %s", name, w.Code, got, status, want)
		}
		if status == 503 && w.Header().Get("Retry-After") == "" || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", name, w.Header())
		}
	}
	for _, c := range []struct {
		name, body, kind string
		status           int
		want             string
	}{
		{"one", good, array, 202, `{"accepted":1}`},
		{"one over lines", strings.ReplaceAll(good, ",", ",\n"), array, 202, `{"accepted":1}`},
		{"array", "[" + good + "," + good + "]", array, 202, `{"accepted":2}`},
		{"lines", good + "\r\n\n" + good + "\n", ndjson, 202, `{"accepted":2}`},
		{"jsonl", good, "application/jsonl", 202, `{"accepted":1}`},
		{"the right ones are stored", "[" + good + "," + bad + "," + good + "]", array, 422, `{"accepted":2,"detail":[{"index":1` + fault + `]}`},
		{"a broken line costs itself", good + "\n{\n" + good, ndjson, 422, `{"accepted":2,"detail":[{"index":1,"field":"","message":"unexpected end of JSON input"}]}`},
		{"none right", bad, array, 422, `{"accepted":0,"detail":[{"index":0` + fault + `]}`},
		{"two faults of one", "[" + event("", `,"kind":"vm"`) + "]", array, 422, `{"accepted":0,"detail":[{"index":0,"field":"event_id","message":"is missing"},` +
			`{"index":0,"field":"kind","message":"\"vm\" is none of pod, job, podgroup, workload, slurm, custom"}]}`},
		{"future", strings.Replace(good, "12:00:00Z", "12:06:00Z", 1), array, 422, `{"accepted":0,"detail":[{"index":0,"field":"time","message":"is 6m0s ahead of the clock here, the limit is 5m0s"}]}`},
		{"broken array", "[" + good + ",", array, 400, `{"detail":"the body is no JSON: unexpected end of JSON input"}`},
		{"nothing", " \n", ndjson, 400, `{"detail":"no event"}`},
		{"empty array", "[]", array, 400, `{"detail":"no event"}`},
		{"empty", "", array, 400, `{"detail":"no event"}`},
		{"form", good, "application/x-www-form-urlencoded", 415, `{"detail":"content type \"application/x-www-form-urlencoded\": want application/json or application/x-ndjson"}`},
		{"many", strings.Repeat("1\n", MaxEvents+1), ndjson, 413, `{"detail":"10001 events, the limit is 10000"}`},
		{"large", strings.Repeat(" ", MaxBody+1), ndjson, 413, `{"detail":"the body is larger than 8388608 bytes"}`},
	} {
		check(c.name, "POST", c.body, c.kind, c.status, c.want)
	}
	check("method", "GET", "", array, 405, `{"detail":"method GET: want POST"}`)

	w := do(h, "POST", path, strings.Repeat(event("x", `,"a":1,"b":1`)+"\n", 600), "Content-Type", ndjson)
	var many Result
	if err := json.Unmarshal(w.Body.Bytes(), &many); err != nil || len(many.Detail) != maxDetail || many.Omitted != 200 || many.Detail[999].Index != 499 {
		t.Errorf("%d faults, %d omitted, %v", len(many.Detail), many.Omitted, err)
	}

	stop()
	check("no broker", "POST", "["+good+","+bad+"]", array, 503,
		`{"accepted":0,"detail":[{"index":0,"field":"","message":"Kafka did not acknowledge it: send it again"},{"index":1`+fault+`]}`)
	body := do(h, "GET", "/metrics", "").Body.String()
	for _, want := range []string{`sextant_ingest_events_total{result="accepted"} 11`, `sextant_ingest_events_total{result="refused"} 606`,
		`sextant_ingest_events_total{result="unsent"} 1`, `sextant_ingest_requests_total{code="202"} 5`} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("missing %s", want)
		}
	}
	statuses[401] = true // TestToken
	documented := map[int]bool{}
	for code := range document(t).Paths[path]["post"].Responses {
		var n int
		fmt.Sscan(code, &n)
		documented[n] = true
	}
	if !maps.Equal(documented, statuses) {
		t.Errorf("documented %v, seen %v", documented, statuses)
	}
}

func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	const token = "0123456789abcdef"
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gate, err := access.NewGate(access.Options{TokenFile: file, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h := handler(t, "127.0.0.1:1", Options{Access: gate, Gatherer: prometheus.NewRegistry()})
	for header, pass := range map[string]bool{"": false, "Bearer " + token: true, "bearer " + token: true, "Bearer x" + token: false, "Basic " + token: false, "Bearer ": false} {
		for _, p := range []string{path, "/metrics"} {
			w := do(h, "GET", p, "", "Authorization", header)
			if (w.Code != 401) != pass || !pass && w.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%q %s: %d", header, p, w.Code)
			}
		}
	}
	for p, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/openapi.json": 200, "/nothing": 404} {
		if w := do(h, "GET", p, ""); w.Code != status {
			t.Errorf("%s: %d", p, w.Code)
		}
	}
}

// openAPI is what the tests look at of the description.
type openAPI struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		Responses map[string]any
	}
	Components struct {
		Schemas map[string]struct {
			Required   []string
			Properties map[string]struct {
				Enum                               []string
				MaxLength, MaxItems, MaxProperties int
			}
			Examples []map[string]any
		}
	}
}

func document(t *testing.T) *openAPI {
	t.Helper()
	d := &openAPI{}
	if err := json.Unmarshal(OpenAPI, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// The description knows the fields, names and limits that the code has.
func TestOpenAPIIsTrue(t *testing.T) {
	d := document(t)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("openapi %q", d.OpenAPI)
	}
	for _, p := range []string{path, "/openapi.json", "/healthz", "/readyz"} {
		if len(d.Paths[p]) != 1 {
			t.Errorf("%s is not described", p)
		}
	}
	var references func(v any)
	references = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				if _, ok := d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]; !ok {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, c := range v {
				references(c)
			}
		case []any:
			for _, c := range v {
				references(c)
			}
		}
	}
	var whole any
	if err := json.Unmarshal(OpenAPI, &whole); err != nil {
		t.Fatal(err)
	}
	references(whole)

	schema := d.Components.Schemas["TaskEvent"]
	example, err := json.Marshal(schema.Examples[0])
	if err != nil {
		t.Fatal(err)
	}
	e, err := tasks.Decode(example, now.UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := 0, reflect.ValueOf(*e); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the example leaves out %s", v.Type().Field(i).Name)
		}
	}
	if shown, described := slices.Sorted(maps.Keys(schema.Examples[0])), slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(shown, described) {
		t.Errorf("the example has\n%q\ndescribed are\n%q", shown, described)
	}
	_, err = tasks.Decode([]byte("{}"), now.UnixMilli())
	for _, name := range schema.Required {
		if !strings.Contains(err.Error(), name+": is missing") {
			t.Errorf("%s is required and not asked for: %v", name, err)
		}
	}
	if n := strings.Count(err.Error(), "is missing"); n != len(schema.Required) {
		t.Errorf("%d fields are asked for, %d required", n, len(schema.Required))
	}
	var states []string
	for _, s := range tasks.States {
		states = append(states, string(s))
	}
	p := schema.Properties
	if !slices.Equal(p["state"].Enum, states) || !slices.Equal(p["kind"].Enum, tasks.Kinds) {
		t.Errorf("states %q, kinds %q", p["state"].Enum, p["kind"].Enum)
	}
	got := []int{p["task"].MaxLength, p["reason"].MaxLength, p["owners"].MaxItems, p["dependencies"].MaxItems, p["devices"].MaxItems, p["requests"].MaxProperties, p["labels"].MaxProperties}
	want := []int{tasks.MaxName, tasks.MaxReason, tasks.MaxOwners, tasks.MaxDependencies, tasks.MaxDevices, tasks.MaxResources, tasks.MaxLabels}
	if !slices.Equal(got, want) {
		t.Errorf("limits %v, want %v", got, want)
	}
}
