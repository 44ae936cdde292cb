package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTaskFeatures sends task events to Kafka and asks the feature API about the tasks:
// between them the pipeline stores the events and has the store evaluate the views of SQL. A
// promise that was broken is in sla_events once, although the pipeline is killed.
func TestTaskFeatures(t *testing.T) {
	l := startLine(t, false, nil)
	now := time.Now().UTC()
	events := filepath.Join(l.dir, "events.ndjson")
	text := fmt.Sprintf(`{"event_id":"1","task":"waits","cluster":"c","state":"submitted","time":%q,"source":"e2e","tenant":"acme","queue":"gold","type":"training","requests":{"cpu":2,"nvidia.com/gpu":4},"slo":{"max_queue_seconds":5}}
{"event_id":"2","task":"runs","cluster":"c","state":"submitted","time":%[1]q,"source":"e2e","tenant":"zeta","queue":"gold","type":"training","requests":{"cpu":3,"nvidia.com/gpu":1}}
{"event_id":"3","task":"runs","cluster":"c","state":"started","time":%q,"source":"e2e","node":"n1"}
`, now.Add(-time.Minute).Format(time.RFC3339), now.Add(-30*time.Second).Format(time.RFC3339))
	if err := os.WriteFile(events, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, status := run(t, l.env, "sextant", "tasks", "send", events); status != 0 {
		t.Fatal(out)
	}
	served := func(question string, want ...string) {
		t.Helper()
		eventually(t, 3*time.Minute, "features", func() error {
			answer, err := post("http://"+l.api+"/get-online-features", question)
			if err != nil {
				return err
			}
			answer = strings.Join(strings.Fields(answer), "")
			for _, w := range want {
				if !strings.Contains(answer, w) {
					return fmt.Errorf("%s is not in %s", w, answer)
				}
			}
			return nil
		})
	}
	served(`{"features": ["task_business:waiting", "task_business:accelerator_request", "task_business:queue_length", "task_business:tenant_accelerator_share"], "entities": {"task": ["waits", "runs"]}}`,
		`"values":[true,false]`, `"values":[4,1]`, `"values":[1,1]`, `"values":[0,1]`)
	served(`{"features": ["queue_business:waiting_tasks", "queue_business:accelerators_allocated"], "entities": {"queue": ["gold"]}}`, `"values":[1]`)
	served(`{"features": ["node_business:placed_tasks", "node_business:cpu_allocated_cores"], "entities": {"node": ["n1"]}}`, `"values":[1]`, `"values":[3]`)
	l.pipe.Kill9()
	l.pipe.Start()
	ticks := func() string {
		rows, err := l.sql("SELECT count() FROM sextant.derived_ticks FINAL WHERE view = 'task_business@v1'")
		if err != nil || len(rows) != 1 {
			t.Fatalf("%q, %v", rows, err)
		}
		return rows[0][0]
	}
	before := ticks()
	eventually(t, 3*time.Minute, "a tick after the crash", func() error {
		if n := ticks(); n == before {
			return fmt.Errorf("still %s ticks", n)
		}
		return nil
	})
	eventually(t, time.Minute, "the broken promise, once", func() error {
		rows, err := l.sql("SELECT task, kind, tenant, queue_length, toString(count()) FROM sextant.sla_events FINAL GROUP BY ALL")
		if err != nil || len(rows) != 1 || strings.Join(rows[0], " ") != "waits queue_time acme 1 1" {
			return errors.Join(fmt.Errorf("%q", rows), err)
		}
		return nil
	})
}
