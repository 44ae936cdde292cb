package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestInventory follows the document of this host through Apache Kafka, whose topic is
// compacted, into SQL, and over a crash of the pipeline and a restart of the agent.
func TestInventory(t *testing.T) {
	l := startLine(t, true, nil)
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	node := func(since int) {
		t.Helper()
		want := fmt.Sprintf("n1 %s %d", strings.TrimSpace(string(kernel)), since)
		eventually(t, 60*time.Second, "the node in SQL", func() error {
			rows, err := l.sql("SELECT node, kernel, (SELECT count() FROM sextant.inventories FINAL) FROM sextant.nodes")
			if err == nil && (len(rows) != 1 || strings.Join(rows[0], " ") != want) {
				err = fmt.Errorf("%q, want %q", rows, want)
			}
			return err
		})
	}
	node(1)
	l.pipe.Kill9()
	l.agent.Kill9()
	l.agent.Start() // another run of the agent tells again what it finds
	l.pipe.Start()
	node(2)
	rows, err := l.sql("SELECT count() FROM sextant.inventory_changes")
	if err != nil || len(rows) != 1 || rows[0][0] != "0" {
		t.Errorf("a restart is a change: %q, %v", rows, err)
	}
}
