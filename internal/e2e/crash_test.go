package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestKilledInMidStream kills each program while the others go on, restarts it, and then
// looks for every numbered answer that the targets gave.
func TestKilledInMidStream(t *testing.T) {
	for _, tc := range []struct {
		name  string
		kafka bool
	}{{"apache kafka", true}, {"embedded broker", false}} {
		t.Run(tc.name, func(t *testing.T) { killEach(t, tc.kafka) })
	}
}

func killEach(t *testing.T, realKafka bool) {
	targets := []*target{startTarget(t), startTarget(t), startTarget(t)}
	l := startLine(t, realKafka, targets)
	l.awaitGiven(targets, 4)
	l.awaitFeature()

	l.broker.Kill9()
	l.awaitGiven(targets, 3) // the spool takes them
	l.broker.Start()
	l.awaitGiven(targets, 3)

	l.pipe.Kill9()
	l.awaitGiven(targets, 2)
	l.pipe.Start()
	l.awaitGiven(targets, 2)

	l.store.Kill9()
	l.awaitGiven(targets, 2)
	l.store.Start()
	l.awaitGiven(targets, 2)

	// What the agent had asked for and not yet put on disk when it was killed is not
	// acknowledged: one answer a target at most.
	inFlight := 1
	l.agent.Kill9()
	l.agent.Start()
	l.awaitGiven(targets, 3)

	// Two at once, the agent among them.
	inFlight++
	l.broker.Kill9()
	l.agent.Kill9()
	l.agent.Start()
	l.awaitGiven(targets, 2)
	l.broker.Start()
	l.awaitGiven(targets, 2)

	for i, x := range targets {
		x.Close()
		t.Logf("target %d gave %d answers", i, x.Given())
	}
	l.settle(targets, inFlight)
	l.agent.Stop(5 * time.Second)
	l.balance()
	l.serve.Stop(5 * time.Second)
	l.pipe.Stop(10 * time.Second)
}

// settle waits until every answer is in the store, save at most inFlight of each target,
// and fails at once when one is there twice.
func (l *line) settle(targets []*target, inFlight int) {
	l.t.Helper()
	eventually(l.t, 90*time.Second, "every answer in the store", func() error {
		stored, err := l.answers()
		if err != nil {
			return err
		}
		for i, x := range targets {
			var missing []int
			for n := 1; n <= x.Given(); n++ {
				switch count := stored[x.Addr()][n]; {
				case count == 0:
					missing = append(missing, n)
				case count > 1:
					l.t.Fatalf("answer %d of target %d stands %d times in the store", n, i, count)
				}
			}
			last := stored[x.Addr()][x.Given()] > 0
			if len(missing) > inFlight || len(missing) > 0 && !last {
				return fmt.Errorf("target %d: of %d answers, these are missing: %v", i, x.Given(), missing)
			}
		}
		return nil
	})
}

// balance asks the ledger until nothing is pending, and wants it to show no loss and no
// duplicate.
func (l *line) balance() {
	l.t.Helper()
	eventually(l.t, 60*time.Second, "a ledger without pending records", func() error {
		rows, err := l.sql("SELECT sum(received), sum(lost), sum(pending), sum(dropped), sum(resent) FROM sextant.ledger")
		if err != nil {
			return err
		}
		if r := rows[0]; r[1] != "0" || r[2] != "0" || r[3] != "0" {
			return fmt.Errorf("received %s, lost %s, pending %s, dropped %s", r[0], r[1], r[2], r[3])
		}
		l.t.Logf("ledger: received %s records, resent %s, lost 0", rows[0][0], rows[0][4])
		return nil
	})
	var out string
	eventually(l.t, 60*time.Second, "a balanced ledger", func() error {
		var status int
		if out, status = run(l.t, l.env, "sextant", "ledger"); status != 0 {
			return fmt.Errorf("exit status %d: %s", status, out)
		}
		return nil
	})
	if !strings.Contains(out, "nothing lost, nothing double") {
		l.t.Errorf("the ledger says: %s", out)
	}
	l.t.Log(out)
}

// awaitFeature waits until the API serves a feature of this host.
func (l *line) awaitFeature() {
	l.t.Helper()
	eventually(l.t, 60*time.Second, "a feature", func() error {
		text, err := post("http://"+l.api+"/get-online-features", featureQuestion)
		if err == nil && strings.Count(text, `"PRESENT"`) != 2 {
			err = fmt.Errorf("the answer is %s", text)
		}
		return err
	})
}
