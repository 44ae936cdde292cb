package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"
)

// TestSpoolCap: a broker that is away for longer than the spool can hold costs the oldest
// scrapes. The agent says so: the ledger shows them as dropped, and nothing as lost.
func TestSpoolCap(t *testing.T) {
	t.Setenv("SEXTANT_SPOOL_MAX_BYTES", "4MiB")
	wide := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		for i := range 8000 { // values that do not compress: some 200 kB a scrape
			fmt.Fprintf(w, "wide{n=\"%d\"} %v\n", i, rand.Float64())
		}
	}))
	t.Cleanup(wide.Close)
	targets := []*target{startTarget(t)}
	l := startLine(t, false, targets, fmt.Sprintf("{job_name: wide, static_configs: [{targets: [%q]}]}", wide.Listener.Addr().String()))
	l.awaitGiven(targets, 3)
	l.broker.Kill9()
	l.awaitCounter(l.agentWeb, `sextant_spool_dropped_total{reason="cap"}`, 3)
	l.broker.Start()

	// Later records bring the count of the dropped.
	eventually(t, 60*time.Second, "a ledger that shows what was dropped", func() error {
		rows, err := l.sql("SELECT sum(lost), sum(dropped), sum(missing) FROM sextant.ledger")
		if err != nil {
			return err
		}
		lost, dropped, missing := rows[0][0], rows[0][1], rows[0][2]
		if lost != "0" {
			t.Fatalf("lost %s, dropped %s, missing %s", lost, dropped, missing)
		}
		if n, err := strconv.Atoi(dropped); err != nil || n < 3 || missing != dropped {
			return fmt.Errorf("dropped %s, missing %s", dropped, missing)
		}
		t.Logf("dropped %s, lost 0", dropped)
		return nil
	})
	l.agent.Stop(5 * time.Second)
	l.pipe.Stop(10 * time.Second)
	if out, status := run(t, l.env, "sextant", "ledger"); status != 0 {
		t.Errorf("ledger: exit status %d: %s", status, out)
	}
}
