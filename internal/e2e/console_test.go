package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// consoleWeb is where the console's sources and its tests for a browser are.
const consoleWeb = "../../dashboards/console/web"

// consoleCluster is small, and has the devices of three vendors.
const consoleCluster = `name: console
seed: 7
groups:
  - {name: h100, nodes: 4, host: {cpus: 16, memory: 1TiB}, devices: [{vendor: nvidia, model: H100, count: 4}]}
  - {name: mi300x, nodes: 3, host: {cpus: 16, memory: 1TiB}, devices: [{vendor: amd, model: MI300X, count: 2}]}
  - {name: ascend, nodes: 3, host: {cpus: 16, memory: 1TiB}, devices: [{vendor: ascend, model: 910B3, count: 2}]}
  - {name: cpu, nodes: 2, host: {cpus: 16, memory: 256GiB}}
workload: {source: synthetic, load: 0.7}
faults: [{kind: xid, at: 20s, probability: 1, code: 31, nodes: "sim-h100-*"}]
`

// TestConsole opens every page of the console in Chromium, over a running line with simulated
// nodes: what each shows, keyboard, phone, themes, links, accessibility, and that no request
// leaves the origin; then with a token; then while ClickHouse goes away. The pictures are in
// dashboards/console/web/shots.
func TestConsole(t *testing.T) {
	chromium := chromiumPath(t)
	l := startConsoleLine(t)
	browse(t, chromium, "pages.mjs", "http://"+l.api)
	browse(t, chromium, "login.mjs", "http://"+guardedAPI(t, l), "TOKEN="+consoleToken)
	kill := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { l.store.Kill9() }))
	defer kill.Close()
	browse(t, chromium, "away.mjs", "http://"+l.api, "KILL="+kill.URL)
}

// startConsoleLine starts the line and waits until there is something on each page.
func startConsoleLine(t *testing.T) *line {
	l := newLine(t)
	l.startBroker()
	l.startStore()
	if out, status := run(t, l.env, "sextant", "migrate"); status != 0 {
		t.Fatal(out)
	}
	l.pipe = start(t, l.dir, "pipeline", l.env, "sextant", "pipeline")
	l.serve = start(t, l.dir, "api", l.env, "sextant", "serve")
	cluster := filepath.Join(l.dir, "cluster.yaml")
	l.write(cluster, consoleCluster)
	start(t, l.dir, "simulation", l.env, "sextant", "simulate", "agents", "--cluster", cluster, "--dir", l.dir+"/sim")
	l.sendConsoleTasks()
	for _, until := range []string{
		"SELECT uniqExact(node) = 12 FROM sextant.node_accelerators WHERE busy_mean_5m IS NOT NULL OR startsWith(node, 'sim-cpu')",
		"SELECT uniqExact(node) = 12 FROM sextant.nodes",
		"SELECT count() >= 12 FROM sextant.device_monitoring WHERE power_watts IS NOT NULL",
		"SELECT count() > 0 FROM sextant.sla_events",
		"SELECT max(tick) - min(tick) >= 30 FROM sextant.node_monitoring",
	} {
		eventually(t, 2*time.Minute, until, func() error {
			rows, err := l.sql(until)
			if err == nil && rows[0][0] != "1" && rows[0][0] != "true" {
				err = fmt.Errorf("not yet")
			}
			return err
		})
	}
	return l
}

// sendConsoleTasks sends a task in each state; two broke a promise.
func (l *line) sendConsoleTasks() {
	l.t.Helper()
	now, text := time.Now().UTC(), ""
	event := func(task, state string, ago time.Duration, more string) {
		text += fmt.Sprintf(`{"event_id":"%s/%s","task":%[1]q,"name":"%[1]s-worker-0","cluster":"c","state":%[2]q,"time":%q,"source":"e2e"%s}`+"\n",
			task, state, now.Add(-ago).Format(time.RFC3339), more)
	}
	life := func(task, tenant, promise, node, end string) {
		event(task, "submitted", 40*time.Minute, `,"kind":"job","tenant":"`+tenant+`","queue":"gold","type":"training","requests":{"cpu":4,"nvidia.com/gpu":2}`+promise)
		if node == "" {
			return
		}
		event(task, "started", 30*time.Minute, `,"node":"`+node+`"`)
		if end != "" {
			event(task, end, 10*time.Minute, `,"reason":"e2e"`)
		}
	}
	life("waits", "acme", `,"slo":{"max_queue_seconds":60}`, "", "")
	life("runs", "acme", "", "sim-h100-00", "")
	life("done", "zeta", "", "sim-h100-01", "finished")
	life("broke", "zeta", `,"slo":{"deadline":"`+now.Add(-20*time.Minute).Format(time.RFC3339)+`"}`, "sim-mi300x-00", "failed")
	life("moved", "acme", "", "sim-ascend-00", "evicted")
	path := filepath.Join(l.dir, "events.ndjson")
	l.write(path, text)
	if out, status := run(l.t, l.env, "sextant", "tasks", "send", path); status != 0 {
		l.t.Fatal(out)
	}
}

const consoleToken = "console-test-0123456789"

// guardedAPI is a second API over the same store, which asks for a token.
func guardedAPI(t *testing.T, l *line) string {
	addr, file := freeAddr(t), filepath.Join(l.dir, "token")
	l.write(file, consoleToken)
	start(t, l.dir, "guarded", append(l.env, "SEXTANT_SERVE_LISTEN="+addr, "SEXTANT_SERVE_TOKEN_FILE="+file), "sextant", "serve")
	eventually(t, time.Minute, "the API with a token", func() error {
		_, err := get("http://" + addr + "/readyz")
		return err
	})
	return addr
}

// chromiumPath is the browser, with the packages that drive it.
func chromiumPath(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("../../scripts/chromium.sh", "path").Output()
	if err != nil {
		t.Fatalf("no Chromium: run make chromium: %v", err)
	}
	if _, err := os.Stat(filepath.Join(consoleWeb, "node_modules", "playwright-core")); err != nil {
		t.Fatalf("the console's packages are not installed: run make console-test: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// browse runs one of the scripts of dashboards/console/web/browser against base.
func browse(t *testing.T, chromium, script, base string, env ...string) {
	t.Helper()
	cmd := exec.Command("node", "browser/"+script, base, "shots")
	cmd.Dir = consoleWeb
	cmd.Env = append(append(os.Environ(), "CHROMIUM="+chromium), env...)
	// Chromium is of the script's group, and goes with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatalf("node: %v", err)
	}
	over := time.AfterFunc(5*time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer over.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		t.Log(lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s: %v", script, err)
	}
}
