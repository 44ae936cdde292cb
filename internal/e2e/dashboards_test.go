package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sextant/dashboards"
	"sextant/internal/testkit/grafanakit"
)

// dashCluster is a small cluster of five vendors on which something goes wrong all the time.
const dashCluster = `name: dash
seed: 7
groups:
  - name: h100
    nodes: 2
    host: {cpus: 16, sockets: 2, memory: 1TiB, network: 12500MB, model: "Simulated Xeon"}
    devices: [{vendor: nvidia, model: H100, count: 4}, {vendor: bluefield, model: BlueField-3, count: 1}]
  - name: ascend
    nodes: 1
    devices: [{vendor: ascend, model: 910B3, count: 4}]
  - name: mi300x
    nodes: 1
    devices: [{vendor: amd, model: MI300X, count: 4}]
  - name: gaudi2
    nodes: 1
    devices: [{vendor: gaudi, model: Gaudi2, count: 2}]
  - name: max1550
    nodes: 1
    devices: [{vendor: intel, model: Max1550, count: 2}]
  - name: mig
    nodes: 1
    devices: [{vendor: nvidia, model: A100, count: 1, layout: [3g.40gb, 3g.40gb]}]
faults:
  - {kind: xid, every: 20s, nodes: "sim-h100-*", code: 31}
  - {kind: error_code, every: 30s, for: 20s}
  - {kind: ecc, every: 20s, class: single, count: 1}
  - {kind: blank, every: 30s, for: 20s, metric: DCGM_FI_DEV_MEMORY_TEMP}
  - {kind: layout, at: 20s, nodes: "sim-h100-*", device: 3, layout: [3g.40gb, 4g.40gb]}
`

// TestDashboards runs the whole line on this host and a simulated cluster, with tasks of which
// promises are broken, and then asks every query of the dashboards and of the alert rules as
// Grafana does, as their files have them.
func TestDashboards(t *testing.T) {
	l := startDashLine(t)
	files, err := filepath.Glob("../../deploy/grafana/dashboards/*.json")
	if err != nil || len(files) < 9 {
		t.Fatalf("dashboards %v: %v", files, err)
	}
	now := time.Now()
	view := grafanakit.View{From: now.Add(-10 * time.Minute), To: now, Interval: 10 * time.Second}
	for _, f := range files {
		b, err := grafanakit.Load(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(f), ".json"), func(t *testing.T) { l.askBoard(t, b, view) })
	}
	t.Run("alerts", func(t *testing.T) { l.askAlerts(t, view) })
	t.Run("balance", func(t *testing.T) { l.compareBalance(t, view) })
	t.Run("community", func(t *testing.T) { l.askCommunity(t) })
}

// startDashLine starts the line and waits until there is something in each panel.
func startDashLine(t *testing.T) *line {
	l := newLine(t)
	l.startBroker()
	l.startStore()
	if out, status := run(t, l.env, "sextant", "migrate"); status != 0 {
		t.Fatal(out)
	}
	l.pipe = start(t, l.dir, "pipeline", l.env, "sextant", "pipeline")
	l.serve = start(t, l.dir, "api", l.env, "sextant", "serve")
	cluster, agent := filepath.Join(l.dir, "cluster.yaml"), filepath.Join(l.dir, "agent.yaml")
	l.write(cluster, dashCluster)
	l.write(agent, fmt.Sprintf(`node: n1
kafka: {brokers: [%q]}
spool: {dir: %q}
web: {listen: %q}
inventory: {rack: r1, zone: z1}
scrape_configs:
  - job_name: sextant
    static_configs: [{targets: [%q, %q]}]
`, l.kafka, l.dir+"/spool", l.agentWeb, l.pipeWeb, l.api))
	start(t, l.dir, "simulation", l.env, "sextant", "simulate", "agents", "--cluster", cluster, "--dir", l.dir+"/sim")
	l.agent = start(t, l.dir, "agent", nil, "sextant-agent", "--config", agent)
	l.sendTasks(t)
	for _, until := range []string{
		"SELECT count() >= 60 FROM sextant.node_monitoring WHERE cpu_utilization_5m IS NOT NULL",
		"SELECT count() > 0 FROM sextant.sla_events",
		"SELECT count() > 0 FROM sextant.inventory_changes WHERE node = 'sim-h100-00'",
		"SELECT count() > 0 FROM sextant.samples_labelled WHERE name = 'accel_fault_events'",
		"SELECT count() > 0 FROM sextant.samples_labelled WHERE name = 'sample_flag'",
		"SELECT max(tick) - min(tick) >= 60 FROM sextant.cluster_business",
		"SELECT max(ts) - min(ts) >= 60 FROM sextant.samples_labelled WHERE name = 'sextant_api_requests_total'",
	} {
		eventually(t, 4*time.Minute, until, func() error {
			// Somebody asks for features, so that the API has something to count.
			_, _ = post("http://"+l.api+"/get-online-features", `{"features": ["node_monitoring:cpu_utilization_1m"], "entities": {"node": ["n1", "nobody"]}}`)
			rows, err := l.sql(until)
			if err == nil && rows[0][0] != "1" {
				err = fmt.Errorf("not yet")
			}
			return err
		})
	}
	if out, status := run(t, l.env, "sextant", "report", "roll", "--from", "-1h"); status != 0 {
		t.Fatal(out)
	}
	return l
}

func (l *line) write(path, text string) {
	l.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// sendTasks sends the events of tasks of three tenants: some wait, some run, some were evicted
// or failed, and the promises of most were broken.
func (l *line) sendTasks(t *testing.T) {
	var devices [][]string
	eventually(t, time.Minute, "devices of the inventory", func() (err error) {
		devices, err = l.sql("SELECT node, uid FROM sextant.devices ORDER BY node, uid")
		if err == nil && len(devices) < 17 {
			err = fmt.Errorf("%d devices", len(devices))
		}
		return err
	})
	now := time.Now().UTC()
	ago := func(s int) string { return now.Add(-time.Duration(s) * time.Second).Format(time.RFC3339Nano) }
	var text strings.Builder
	for i := range 60 {
		d, submitted := devices[i%len(devices)], 200-2*i
		id := fmt.Sprintf(`"task":"task-%02d","cluster":%q,"source":"e2e","simulated":true`, i, []string{"c1", "c2"}[i%2])
		fmt.Fprintf(&text, `{"event_id":"%d-1",%s,"state":"submitted","time":%q,"kind":"pod","tenant":%q,"queue":%q,"type":%q,`+
			`"requests":{"cpu":2,"memory":"8Gi","nvidia.com/gpu":1},"slo":{"max_queue_seconds":20,"deadline":%q}}`+"\n",
			i, id, ago(submitted), []string{"acme", "beta", "zeta"}[i%3], []string{"gold", "silver"}[i%2], []string{"training", "inference", "batch"}[i%3], ago(submitted-100))
		if i%5 == 0 {
			continue // it waits
		}
		placed := submitted - 2 - i%50
		fmt.Fprintf(&text, `{"event_id":"%d-2",%s,"state":"scheduled","time":%q,"node":%q,"devices":[%q]}`+"\n", i, id, ago(placed), d[0], d[1])
		fmt.Fprintf(&text, `{"event_id":"%d-3",%s,"state":"started","time":%q,"node":%q}`+"\n", i, id, ago(placed-1), d[0])
		if end, ok := map[int]string{1: "evicted", 2: "finished", 3: "failed"}[i%12]; ok {
			fmt.Fprintf(&text, `{"event_id":"%d-4",%s,"state":%q,"time":%q}`+"\n", i, id, end, ago(placed-10))
		}
	}
	events := filepath.Join(l.dir, "events.ndjson")
	l.write(events, text.String())
	if out, status := run(t, l.env, "sextant", "tasks", "send", events); status != 0 {
		t.Fatal(out)
	}
}

// askBoard asks all that a dashboard asks: with everything chosen, with each value chosen by
// name, and with values that nobody has.
func (l *line) askBoard(t *testing.T, b *grafanakit.Board, view grafanakit.View) {
	everything, named, nothing := map[string][]string{}, map[string][]string{}, map[string][]string{}
	for _, chosen := range []map[string][]string{everything, named, nothing} {
		chosen["simulated"], chosen["node"] = []string{"all"}, []string{"sim-h100-00"}
	}
	for name, multi := range b.Variables {
		if !multi {
			continue
		}
		everything[name], nothing[name] = []string{grafanakit.All}, []string{"nobody's"}
		named[name] = l.choices(t, b, name, view)
	}
	for _, q := range b.Questions {
		if q.PromQL != "" {
			l.askProm(t, q, view)
			continue
		}
		all, ok := l.ask(t, q, view, everything)
		if !ok {
			continue
		}
		if err := q.Check(all); err != nil {
			t.Errorf("%s: %v", q.Name, err)
		}
		l.checkBound(t, q, view, everything)
		if !strings.Contains(q.SQL, "$__conditionalAll") {
			continue
		}
		if some, ok := l.ask(t, q, view, named); ok {
			if err := q.Check(some); err != nil {
				t.Errorf("%s, chosen by name: %v", q.Name, err)
			}
		}
		if none, ok := l.ask(t, q, view, nothing); ok && !empty(none) {
			t.Errorf("%s, with values that nobody has: %v", q.Name, none.Data)
		}
	}
}

// empty says whether an answer has no rows, or none but zeros and nothing.
func empty(a *grafanakit.Answer) bool {
	for _, row := range a.Data {
		for i, v := range row {
			if a.Meta[i].IsNumber() && v != nil && v != 0. {
				return false
			}
		}
	}
	return true
}

// choices are the values that a variable's query gives.
func (l *line) choices(t *testing.T, b *grafanakit.Board, name string, view grafanakit.View) []string {
	t.Helper()
	for _, q := range b.Questions {
		if q.Kind != "variable" || !strings.HasSuffix(q.Name, " "+name) {
			continue
		}
		a, ok := l.ask(t, q, view, nil)
		if !ok || len(a.Data) == 0 {
			t.Fatalf("%s has no values", q.Name)
		}
		var out []string
		for _, row := range a.Data {
			out = append(out, fmt.Sprint(row[0]))
		}
		return out
	}
	t.Fatalf("nothing gives the values of %s", name)
	return nil
}

// ask sends a query of SQL with what is chosen.
func (l *line) ask(t *testing.T, q grafanakit.Question, view grafanakit.View, chosen map[string][]string) (*grafanakit.Answer, bool) {
	t.Helper()
	view.Variables = chosen
	sql, err := view.SQL(q.SQL)
	if err != nil {
		t.Errorf("%s: %v", q.Name, err)
		return nil, false
	}
	a, err := grafanakit.Ask(t.Context(), l.clickhouse, "sextant", sql)
	if err != nil {
		t.Errorf("%s: %v", q.Name, err)
	}
	return a, err == nil
}

func (l *line) checkBound(t *testing.T, q grafanakit.Question, view grafanakit.View, chosen map[string][]string) {
	t.Helper()
	view.Variables = chosen
	sql, err := view.SQL(q.SQL)
	if err == nil {
		err = grafanakit.Bounded(t.Context(), l.clickhouse, "sextant", sql)
	}
	if err != nil {
		t.Errorf("%s: %v", q.Name, err)
	}
}

// quiet are the metrics that have no series while nothing went wrong.
var quiet = []string{"sextant_pipeline_feature_faults_total", "sextant_kafka_lost_records_total", "sextant_tasks_events_total", "sextant_inventory_documents_total",
	"sextant_clickhouse_retries_total", "sextant_derive_failures_total"}

func isQuiet(expr string) bool {
	return slices.ContainsFunc(quiet, func(m string) bool { return strings.Contains(expr, m) })
}

// askProm asks a range of PromQL through the feature API, as Grafana's data source does.
func (l *line) askProm(t *testing.T, q grafanakit.Question, view grafanakit.View) {
	t.Helper()
	expr, err := view.PromQL(q.PromQL)
	if err != nil {
		t.Errorf("%s: %v", q.Name, err)
		return
	}
	series, err := grafanakit.AskPromRange(t.Context(), l.api, expr, view)
	if err != nil {
		t.Errorf("%s: %s: %v", q.Name, expr, err)
	}
	if series == 0 && !isQuiet(expr) {
		t.Errorf("%s: %s gives no series", q.Name, expr)
	}
}

// askAlerts asks what the alert rules ask.
func (l *line) askAlerts(t *testing.T, view grafanakit.View) {
	rules, err := grafanakit.LoadAlerts("../../deploy/grafana/provisioning/alerting/sextant.yaml")
	if err != nil || len(rules) != len(dashboards.Alerts) {
		t.Fatalf("%d rules: %v", len(rules), err)
	}
	for _, q := range rules {
		if q.PromQL != "" {
			if n, err := grafanakit.AskProm(t.Context(), l.api, q.PromQL); err != nil || n == 0 && !isQuiet(q.PromQL) && !strings.Contains(q.PromQL, " offset ") && !strings.Contains(q.PromQL, "[6h]") {
				t.Errorf("%s: %s gives %d series: %v", q.Name, q.PromQL, n, err)
			}
			continue
		}
		a, ok := l.ask(t, q, view, nil)
		if !ok {
			continue
		}
		if err := q.Check(a); err != nil {
			t.Errorf("%s: %v", q.Name, err)
		}
		l.checkBound(t, q, view, nil)
	}
}

// compareBalance holds the dashboard's balance of a time range, in which everything lies,
// against the view ledger: once as it is, and once with rows of the ledger taken out.
func (l *line) compareBalance(t *testing.T, view grafanakit.View) {
	l.agent.Stop(10 * time.Second)
	b, err := grafanakit.Load("../../deploy/grafana/dashboards/pipeline.json")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(b.Questions, func(q grafanakit.Question) bool { return strings.HasSuffix(q.Name, ": Agents") })
	check := func(lost int) {
		t.Helper()
		view.To = time.Now().Add(time.Minute)
		eventually(t, 30*time.Second, "the balance of n1", func() error {
			a, ok := l.ask(t, b.Questions[at], view, map[string][]string{"simulated": {"no"}})
			if !ok || len(a.Data) != 1 {
				return fmt.Errorf("%v", a)
			}
			want, err := l.sql("SELECT node, received, pending, dropped, lost, resent FROM sextant.ledger WHERE node = 'n1'")
			if err != nil || len(want) != 1 {
				return fmt.Errorf("%v, %w", want, err)
			}
			row := append([]any{a.Data[0][0]}, a.Data[0][2:7]...) // without the agent's id and the newest time
			if got := strings.Fields(strings.Trim(fmt.Sprint(row), "[]")); !slices.Equal(got, want[0]) || want[0][4] != fmt.Sprint(lost) {
				return fmt.Errorf("%v, the ledger says %v, want %d lost", got, want[0], lost)
			}
			return nil
		})
	}
	check(0)
	if _, err := l.sql("SELECT 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := post("http://"+l.clickhouse+"/", "DELETE FROM sextant.ingest_ledger WHERE node = 'n1' AND seq IN (5, 6, 9)"); err != nil {
		t.Fatal(err)
	}
	check(3)
}
