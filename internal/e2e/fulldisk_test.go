package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// startOnSmallDisk starts a program whose folder is a file system of so many MiB, in a
// mount namespace of its own.
func startOnSmallDisk(l *line, name, folder string, mib int, program string, args ...string) *process {
	l.t.Helper()
	script := fmt.Sprintf(`mount -t tmpfs -o size=%dm tmpfs "$0" && exec "$@"`, mib)
	p := &process{t: l.t, name: name, log: l.dir + "/" + name + ".log", args: append([]string{"unshare", "--map-root-user", "--mount", "sh", "-c", script, folder, bin + "/" + program}, args...)}
	p.Start()
	l.t.Cleanup(p.Kill9)
	return p
}

// TestFullDiskOfAgent lets the disk of the spool fill up while no broker takes anything.
// The agent goes on scraping, says so and counts; what the disk took arrives later.
func TestFullDiskOfAgent(t *testing.T) {
	targets := []*target{startTarget(t)}
	l := newLine(t)
	if out, err := exec.Command("mkdir", l.dir+"/spool").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cfg := l.agentConfig(targets, job(badExporter(t), "bulk", ", scrape_interval: 200ms, scrape_timeout: 200ms"))
	l.agent = startOnSmallDisk(l, "agent", l.dir+"/spool", 1, "sextant-agent", "--config", cfg)
	l.awaitCounter(l.agentWeb, "sextant_spool_append_failed_total", 1)
	l.awaitLog("agent", "no space left on device")
	l.awaitGiven(targets, 2)
	l.wantStatus(l.agentWeb, "/-/healthy", 200)

	l.startBroker()
	l.startStore()
	l.awaitLog("store", "ready")
	if out, status := run(t, l.env, "sextant", "migrate"); status != 0 {
		t.Fatal(out)
	}
	l.pipe = start(t, l.dir, "pipeline", l.env, "sextant", "pipeline")
	l.awaitCounter(l.pipeWeb, `sextant_pipeline_items_total{item="record"}`, 1)
	last := targets[0].Close()
	eventually(t, 60*time.Second, "the last answer", func() error {
		stored, err := l.answers()
		if err == nil && stored[targets[0].Addr()][last] != 1 {
			err = fmt.Errorf("answers in the store: %v", stored)
		}
		return err
	})
	l.agent.Stop(5 * time.Second)
}

// TestFullDiskOfStore fills the disk of the embedded ClickHouse: the writer gets an error
// that names it, and readers go on.
func TestFullDiskOfStore(t *testing.T) {
	l := newLine(t)
	if out, err := exec.Command("mkdir", l.dir+"/store").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l.store = startOnSmallDisk(l, "store", l.dir+"/store", 24, "sextant", "embedded", "--dir", l.dir+"/store", "--kafka", "none", "--clickhouse", l.clickhouse)
	l.awaitLog("store", "ready")
	query := func(q string) (string, error) { return post("http://"+l.clickhouse+"/", q) }
	if _, err := query("CREATE TABLE t (x String CODEC(NONE)) ENGINE = MergeTree ORDER BY tuple()"); err != nil {
		t.Fatal(err)
	}
	var err error
	for range 20 {
		if _, err = query("INSERT INTO t SELECT randomString(1000) FROM numbers(4000)"); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "space") {
		t.Fatalf("80 MB fit 24 MiB: %v", err)
	}
	if n, err := query("SELECT count() > 0 FROM t"); err != nil || n != "1" {
		t.Errorf("reading from a full disk: %s %v", n, err)
	}
}
