package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/internal/clickhouse"
	"sextant/internal/ingest"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

// taskLine is the line of the tasks: broker, store, and the HTTP interface.
type taskLine struct {
	cfg      *Config
	db       *clickhouse.DB
	producer *kafka.Producer
	http     *httptest.Server
}

func startTasks(t *testing.T) *taskLine {
	t.Helper()
	ctx, quiet := t.Context(), slog.New(slog.DiscardHandler)
	parts, err := startEmbedded(ctx, embeddedConfig{dir: t.TempDir(), kafka: "127.0.0.1:0", clickhouse: "127.0.0.1:0", group: "p"}, os.Stderr, quiet, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	l := &taskLine{cfg: defaultConfig()}
	t.Cleanup(func() {
		if err := parts.Close(); err != nil {
			t.Error(err)
		}
	})
	l.cfg.Kafka.Brokers = []string{parts.broker.Addr()}
	l.cfg.ClickHouse.Addr, l.cfg.ClickHouse.Protocol = []string{parts.clickhouse.Addr()}, "http"
	l.cfg.Pipeline.Group = "p"
	if _, l.db, err = demoStore(ctx, l.cfg, quiet, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.db.Close() })
	if l.producer, err = taskProducer(l.cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.producer.Close() })
	h, err := ingest.New(l.producer, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.http = httptest.NewServer(h)
	t.Cleanup(l.http.Close)
	return l
}

// consume runs the pipeline's part until the function that it returns is called.
func (l *taskLine) consume(t *testing.T, group string) (stop func()) {
	t.Helper()
	cfg := *l.cfg
	cfg.Pipeline.Group = group
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- runTasks(ctx, &cfg, nil, l.db, l.producer, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	}()
	return func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// until waits for a query to answer want.
func (l *taskLine) until(t *testing.T, sql, want string) {
	t.Helper()
	var got string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		rows, err := l.db.Query(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		got = ""
		for rows.Next() {
			if err := rows.Scan(&got); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		if got == want {
			return
		}
	}
	t.Fatalf("%s: %q, want %q", sql, got, want)
}

func taskEvent(id, state, more string) string {
	return fmt.Sprintf(`{"event_id":%q,"task":"t1","cluster":"c","state":%q,"time":"2026-03-01T12:00:0%sZ","source":"test"%s}`, id, state, id, more)
}

// TestTasksFromEveryDoorToSQL sends events over HTTP, with the command and straight to
// Kafka, good ones and bad; reads them twice, as after a crash before any commit; and
// finds one row of each.
func TestTasksFromEveryDoorToSQL(t *testing.T) {
	l := startTasks(t)
	res, err := http.Post(l.http.URL+"/v1/tasks/events", "application/x-ndjson",
		strings.NewReader(taskEvent("3", "finished", "")+"\n"+taskEvent("1", "submitted", `,"queue":"gold","tenant":"acme"`)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != 202 || strings.TrimSpace(string(body)) != `{"accepted":2}` {
		t.Fatalf("%d %s %v", res.StatusCode, body, err)
	}
	var out, faults bytes.Buffer
	err = sendEvents(strings.NewReader(taskEvent("2", "started", "")+"\n\n{}\n"+taskEvent("1", "submitted", `,"queue":"gold","tenant":"acme"`)), &out, &faults, time.Now(),
		func(msgs []kafka.Message) error { return sendAll(t.Context(), l.producer, msgs) })
	if err == nil || err.Error() != "1 lines are wrong" || out.String() != "2 events are right\n" || !strings.HasPrefix(faults.String(), "line 3: task event: event_id: is missing") {
		t.Errorf("%v, %q, %q", err, out.String(), faults.String())
	}
	straight := []kafka.Message{{Key: []byte("c/t1"), Value: []byte(taskEvent("5", "resting", ""))}, {Key: []byte("c/t1"), Value: []byte("no JSON")},
		{Key: []byte("c/t1"), Value: []byte(taskEvent("4", "updated", `, "labels": {"a": "b"}`))}}
	if err := sendAll(t.Context(), l.producer, straight); err != nil {
		t.Fatal(err)
	}

	const task = "SELECT concat(state, ' ', queue, ' ', labels['a'], ' ', toString(events)) FROM {db}.tasks"
	const rows = "SELECT toString(count()) FROM {db}.task_events FINAL"
	stop := l.consume(t, "first")
	l.until(t, task, "finished gold b 4")
	l.deadReasons(t, "once", 2)
	stop()
	stop = l.consume(t, "second") // another group has committed nothing
	// The last record tells that all before it, in the one partition of the task, were read
	// again.
	if err := sendAll(t.Context(), l.producer, []kafka.Message{{Key: []byte("c/t1"), Value: []byte(taskEvent("6", "updated", ""))}}); err != nil {
		t.Fatal(err)
	}
	l.until(t, rows, "5")
	l.until(t, task, "finished gold b 5")
	reasons := l.deadReasons(t, "twice", 4) // two records, by both groups
	stop()
	slices.Sort(reasons)
	if len(reasons) != 4 || reasons[0] != reasons[1] || !strings.HasPrefix(reasons[0], "task event: invalid character 'o'") ||
		!strings.HasPrefix(reasons[2], `task event: state: "resting" is none of`) {
		t.Errorf("dead letters: %q", reasons)
	}
	list, err := l.db.Tasks(t.Context(), clickhouse.TaskFilter{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := printTasks(&out, list); err != nil || !strings.Contains(out.String(), "c        t1          finished  2026-03-01 12:00:03  acme    gold         1s      1s") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// deadReasons waits, as a consumer group of its own, for n dead letters and returns why
// each is one.
func (l *taskLine) deadReasons(t *testing.T, group string, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var reasons []string
	err := kafka.Consume(ctx, l.cfg.Kafka, kafka.ConsumerOptions{Group: group, Topic: topics.DeadLetter, Logger: slog.New(slog.DiscardHandler)},
		func(ctx context.Context, p *kafka.Partition) error {
			for len(reasons) < n {
				records, err := p.Fetch(ctx)
				if err != nil {
					return err
				}
				for _, r := range records {
					for _, h := range r.Headers {
						if h.Key == kafka.DeadReason {
							reasons = append(reasons, string(h.Value))
						}
					}
				}
			}
			cancel()
			return nil
		})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return reasons
}
