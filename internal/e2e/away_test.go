package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const featureQuestion = `{"features": ["node_monitoring:memory_used_ratio"], "entities": {"node": ["n1"]}}`

// TestAwayAtStart starts the programs before the broker and the store. They say what they
// wait for, are alive and not ready, and go on by themselves.
func TestAwayAtStart(t *testing.T) {
	targets := []*target{startTarget(t)}
	l := newLine(t)
	l.startPrograms(targets)
	l.awaitGiven(targets, 2) // the agent needs nobody to scrape

	l.awaitLog("agent", "level=WARN")
	l.awaitLog("agent", "connection refused")
	l.awaitLog("pipeline", "clickhouse does not answer, trying again")
	l.awaitLog("api", "clickhouse does not answer, trying again")
	l.awaitCounter(l.agentWeb, "sextant_ship_retried_total", 1)
	l.wantStatus(l.agentWeb, "/-/healthy", http.StatusOK)
	l.wantStatus(l.pipeWeb, "/healthz", http.StatusOK)
	l.wantStatus(l.pipeWeb, "/readyz", http.StatusServiceUnavailable)
	l.wantStatus(l.api, "/readyz", http.StatusServiceUnavailable)

	l.startStore()
	l.awaitLog("store", "ready")
	if out, status := run(t, l.env, "sextant", "migrate"); status != 0 {
		t.Fatal(out)
	}
	l.awaitReady(l.pipeWeb)
	l.awaitLog("pipeline", "connection refused") // now it is the broker's turn
	l.startBroker()
	l.awaitFeature()
	l.awaitReady(l.api)
	l.finish(targets)
}

// TestAwayLater takes the store and the broker away while the line runs. The API goes on
// answering from memory, the agent goes on scraping, both are counted and told, and
// afterwards nothing is missing.
func TestAwayLater(t *testing.T) {
	targets := []*target{startTarget(t)}
	l := startLine(t, false, targets)
	l.awaitFeature()

	retries := l.count(l.pipeWeb, "sextant_clickhouse_retries_total")
	refreshes := l.count(l.api, "sextant_online_refresh_errors_total")
	l.store.Kill9()
	l.awaitCounter(l.pipeWeb, "sextant_clickhouse_retries_total", retries+1)
	l.awaitCounter(l.api, "sextant_online_refresh_errors_total", refreshes+1)
	l.awaitLog("pipeline", "level=WARN")
	l.awaitLog("api", "does not answer; serving what is known")
	if text, err := post("http://"+l.api+"/get-online-features", featureQuestion); err != nil || strings.Count(text, `"PRESENT"`) != 2 {
		t.Errorf("without the store the API answers %v %s", err, text)
	}
	l.store.Start()
	l.awaitGiven(targets, 2)

	fetches := l.count(l.pipeWeb, "sextant_kafka_fetch_failures_total")
	retried := l.count(l.agentWeb, "sextant_ship_retried_total")
	l.broker.Kill9()
	l.awaitCounter(l.agentWeb, "sextant_ship_retried_total", retried+1)
	l.awaitCounter(l.pipeWeb, "sextant_kafka_fetch_failures_total", fetches+1)
	if up := l.count(l.agentWeb, "sextant_ship_broker_up"); up != 0 {
		t.Errorf("sextant_ship_broker_up is %g", up)
	}
	l.wantStatus(l.agentWeb, "/-/healthy", http.StatusOK)
	l.broker.Start()
	l.awaitGiven(targets, 2)
	l.finish(targets)
}

// finish wants every answer of the targets in the store, once.
func (l *line) finish(targets []*target) {
	l.t.Helper()
	for _, x := range targets {
		x.Close()
	}
	l.settle(targets, 0)
}

func (l *line) wantStatus(addr, path string, want int) {
	l.t.Helper()
	got, text, err := status("http://" + addr + path)
	if err != nil || got != want {
		l.t.Errorf("%s: status %d, want %d: %v %s", path, got, want, err, text)
	}
}

func (l *line) awaitReady(addr string) {
	l.t.Helper()
	eventually(l.t, 60*time.Second, "readyz", func() error {
		got, text, err := status("http://" + addr + "/readyz")
		if err == nil && got != http.StatusOK {
			err = fmt.Errorf("%d: %s", got, text)
		}
		return err
	})
}

func status(url string) (int, string, error) {
	r, err := (&http.Client{Timeout: 5 * time.Second}).Get(url)
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, string(text), err
}
