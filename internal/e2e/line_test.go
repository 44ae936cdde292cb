package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sextant/internal/testkit/kafkatest"
)

// line is the whole line as separate programs, in front of either broker.
type line struct {
	t          *testing.T
	dir        string
	env        []string // of the server-side programs
	kafka      string
	clickhouse string
	api        string
	agentWeb   string
	pipeWeb    string

	broker                    breakable
	store, pipe, serve, agent *process
}

// breakable is a broker that can crash and come back.
type breakable interface {
	Kill9()
	Start()
}

// apache is a real Kafka as a breakable.
type apache struct {
	t *testing.T
	*kafkatest.Apache
}

func (a apache) Kill9() {
	a.t.Helper()
	if err := a.Apache.Kill9(); err != nil {
		a.t.Fatal(err)
	}
}

func (a apache) Start() {
	a.t.Helper()
	if err := a.Apache.Start(); err != nil {
		a.t.Fatal(err)
	}
}

// newLine picks addresses and starts nothing.
func newLine(t *testing.T) *line {
	l := &line{t: t, dir: t.TempDir(), clickhouse: freeAddr(t), api: freeAddr(t), agentWeb: freeAddr(t), pipeWeb: freeAddr(t)}
	l.setKafka(freeAddr(t))
	return l
}

// setKafka says where the broker is or will be.
func (l *line) setKafka(addr string) {
	l.kafka = addr
	l.env = []string{
		"SEXTANT_KAFKA_BROKERS=" + l.kafka, "SEXTANT_CLICKHOUSE_ADDR=" + l.clickhouse, "SEXTANT_CLICKHOUSE_PROTOCOL=http",
		"SEXTANT_SERVE_LISTEN=" + l.api, "SEXTANT_PIPELINE_LISTEN=" + l.pipeWeb,
	}
}

// startLine starts every program. The agent scrapes the targets every second, on node
// n1, and beside them the jobs, which are items of scrape_configs.
func startLine(t *testing.T, realKafka bool, targets []*target, jobs ...string) *line {
	l := newLine(t)
	if realKafka {
		a, err := kafkatest.StartApache(l.dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Stop() })
		l.setKafka(a.Addr())
		l.broker = apache{t, a}
	} else {
		l.startBroker()
	}
	l.startStore()
	setup := []string{"migrate"} // the embedded broker makes its topics itself
	if realKafka {
		setup = []string{"setup", "--replication", "1"}
	}
	if out, status := run(t, l.env, "sextant", setup...); status != 0 {
		t.Fatalf("%v: %s", setup, out)
	}
	l.startPrograms(targets, jobs...)
	return l
}

func (l *line) startBroker() {
	l.broker = start(l.t, l.dir, "broker", nil, "sextant", "embedded", "--dir", l.dir+"/broker", "--kafka", l.kafka, "--clickhouse", "none", "--group", "sextant-pipeline")
	l.awaitLog("broker", "ready")
}

func (l *line) startStore() {
	l.store = start(l.t, l.dir, "store", nil, "sextant", "embedded", "--dir", l.dir+"/store", "--kafka", "none", "--clickhouse", l.clickhouse)
}

func (l *line) startPrograms(targets []*target, jobs ...string) {
	l.pipe = start(l.t, l.dir, "pipeline", l.env, "sextant", "pipeline")
	l.serve = start(l.t, l.dir, "api", l.env, "sextant", "serve")
	l.agent = start(l.t, l.dir, "agent", nil, "sextant-agent", "--config", l.agentConfig(targets, jobs...))
}

func (l *line) agentConfig(targets []*target, jobs ...string) string {
	l.t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "node: n1\nself: false\nkafka: {brokers: [%q]}\nspool: {dir: %q}\nweb: {listen: %q}\n", l.kafka, l.dir+"/spool", l.agentWeb)
	text.WriteString("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n  - job_name: e2e\n    static_configs:\n      - targets: [")
	for i, x := range targets {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(x.Addr())
	}
	text.WriteString("]\n")
	for _, j := range jobs {
		fmt.Fprintf(&text, "  - %s\n", j)
	}
	path := filepath.Join(l.dir, "agent.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

func (l *line) awaitLog(name, want string) {
	l.t.Helper()
	eventually(l.t, 30*time.Second, name+" says "+want, func() error {
		text, err := os.ReadFile(filepath.Join(l.dir, name+".log"))
		if err == nil && !strings.Contains(string(text), want) {
			err = fmt.Errorf("its log is %q", text)
		}
		return err
	})
}

// sql returns the answer's lines, as tab separated fields.
func (l *line) sql(query string) ([][]string, error) {
	text, err := post("http://"+l.clickhouse+"/", query+" FORMAT TSV")
	if err != nil || text == "" {
		return nil, err
	}
	var rows [][]string
	for _, row := range strings.Split(text, "\n") {
		rows = append(rows, strings.Split(row, "\t"))
	}
	return rows, nil
}

// answers returns how often each numbered answer of each target stands in the store, as
// a reader sees it.
func (l *line) answers() (map[string]map[int]int, error) {
	rows, err := l.sql(`SELECT labels['instance'], toUInt32(value), count() FROM sextant.samples_labelled
		WHERE name = 'e2e_answer_total' AND NOT stale GROUP BY 1, 2`)
	if err != nil {
		return nil, err
	}
	out := map[string]map[int]int{}
	for _, r := range rows {
		value, err := strconv.Atoi(r[1])
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(r[2])
		if err != nil {
			return nil, err
		}
		if out[r[0]] == nil {
			out[r[0]] = map[int]int{}
		}
		out[r[0]][value] = n
	}
	return out, nil
}

// awaitGiven waits until every target has given n more answers than now.
func (l *line) awaitGiven(targets []*target, n int) {
	l.t.Helper()
	want := make([]int, len(targets))
	for i, x := range targets {
		want[i] = x.Given() + n
	}
	eventually(l.t, 60*time.Second, "scrapes", func() error {
		for i, x := range targets {
			if g := x.Given(); g < want[i] {
				return fmt.Errorf("target %d gave %d answers, want %d", i, g, want[i])
			}
		}
		return nil
	})
}

// logText is what a program has written so far.
func (l *line) logText(name string) string {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, name+".log"))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}
