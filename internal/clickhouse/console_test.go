package clickhouse

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sextant/dashboards/console"
	schema "sextant/schema/tasks"
)

// runAll runs statements with {db} for the database.
func runAll(t *testing.T, db *DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := db.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// ago is a time so many seconds before now, in SQL.
func ago(seconds int) string { return fmt.Sprintf("(now64(3) - INTERVAL %d SECOND)", seconds) }

func TestConsoleNodes(t *testing.T) {
	db := openDB(t)
	named := inventoryOf("pool-a-17", "6.1", t0+2000)
	named.Labels = map[string]string{"node_group": "train"}
	bare := inventoryOf("cpu", "6.1", t0+3000)
	bare.Devices, bare.Links, bare.Kubernetes = nil, nil, nil
	writeInventory(t, db, rowOf(t, inventoryOf("sim", "6.1", t0+1000), 0, t0+1000), rowOf(t, inventoryOf("sim-h100-03", "6.1", t0+1500), 1, t0+1500), rowOf(t, named, 2, t0+2000), rowOf(t, bare, 3, t0+3000))
	list, err := db.ConsoleNodes(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range list {
		got = append(got, fmt.Sprintf("%s simulated=%v cordoned=%v %s/%s group=%s %s %s ×%d %d", n.Node, n.Simulated, n.Cordoned, n.Zone, n.Rack, n.Group, n.Vendor, n.Model, n.Accelerators, *n.Threads))
	}
	want := []string{
		"cpu simulated=false cordoned=false z1/r7 group=cpu   ×0 128",
		"pool-a-17 simulated=false cordoned=true z1/r7 group=train nvidia H100 ×2 128",
		"sim simulated=true cordoned=true z1/r7 group=sim nvidia H100 ×2 128",
		"sim-h100-03 simulated=false cordoned=true z1/r7 group=sim-h100 nvidia H100 ×2 128",
	}
	if !slices.Equal(got, want) {
		t.Errorf("nodes\n%q, want\n%q", got, want)
	}
	if two, err := db.ConsoleNodes(t.Context(), 2); err != nil || len(two) != 2 {
		t.Errorf("limit 2: %d, %v", len(two), err)
	}
}

// TestConsoleNode: what is known of one node, and of no other.
func TestConsoleNode(t *testing.T) {
	db := openDB(t)
	writeInventory(t, db, rowOf(t, inventoryOf("n1", "6.1", t0+1000), 0, t0+1000), rowOf(t, inventoryOf("n1", "6.2", t0+2000), 1, t0+2000))
	series := func(id int, node, name, labels string) string {
		return fmt.Sprintf("INSERT INTO {db}.series (id, node, name, labels, first_seen) VALUES (%d, '%s', '%s', %s, now64(3))", id, node, name, labels)
	}
	runAll(t, db,
		"INSERT INTO {db}.ingest_ledger (agent, seq, partition, offset, node, target, oldest, scrape, ingest, rows, late, state) VALUES "+
			"('a', 1, 0, 1, 'n1', 'node/n1', 1, "+ago(30)+", "+ago(29)+", 100, 0, 0), ('a', 2, 0, 2, 'n1', 'node/n1', 1, "+ago(20)+", "+ago(19)+", 7, 3, 2),"+
			"('a', 3, 0, 3, 'n1', 'gpu/n1', 1, "+ago(700)+", "+ago(700)+", 7, 0, 0), ('b', 1, 0, 4, 'n2', 'node/n2', 1, "+ago(20)+", "+ago(19)+", 7, 0, 0)",
		series(1, "n1", "sample_flag", "map('flag', 'late', 'target', 'node/n1')"), series(2, "n2", "sample_flag", "map('flag', 'blank')"),
		series(3, "n1", "accel_fault_events", "map('device', 'GPU-1', 'code', '31')"), series(4, "n2", "accel_fault_events", "map('device', 'GPU-1', 'code', '79')"),
		series(5, "n1", "accel_clock_events", "map('device', 'GPU-1', 'event', 'thermal')"),
		"INSERT INTO {db}.samples (series, ts, value) VALUES (1, "+ago(50)+", 1), (1, "+ago(40)+", 1), (1, "+ago(5)+", nan), (2, "+ago(5)+", 1), (3, "+ago(50)+", 2), (4, "+ago(50)+", 1), (5, "+ago(40)+", 1), (5, "+ago(30)+", 0)")
	d, err := db.ConsoleNode(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	if d.Node.Node != "n1" || d.Kernel != "6.2" || d.CPUModel != "Xeon" || d.Facts["host/kernel"] != "6.2" || d.Labels["pool"] != "train" || d.Labels["a"] != "b" || len(d.Taints) != 1 {
		t.Errorf("facts %+v", d)
	}
	if len(d.Devices) != 2 || d.Devices[0].UID != "GPU-1" || d.Devices[0].Slices[0] != "1g.10gb" || d.Devices[1].UID != "pci:0000:02:00.0" || *d.Devices[0].LinkWidth != 16 {
		t.Errorf("devices %+v", d.Devices)
	}
	if len(d.Ports) != 1 || d.Ports[0].Name != "eth0" || *d.Ports[0].Speed != 5e10 {
		t.Errorf("ports %+v", d.Ports)
	}
	if len(d.Targets) != 1 || d.Targets[0].Target != "node/n1" || d.Targets[0].State != "failed" || d.Targets[0].Records != 2 || d.Targets[0].Failed != 1 || d.Targets[0].Late != 3 || d.Targets[0].Samples != 7 {
		t.Errorf("targets %+v", d.Targets)
	}
	if len(d.Flags) != 1 || d.Flags[0].Flag != "late" || d.Flags[0].Scrapes != 2 || d.Flags[0].InForce {
		t.Errorf("flags %+v", d.Flags)
	}
	if len(d.Faults) != 2 || d.Faults[0].Kind != "clock" || d.Faults[0].Code != "thermal" || d.Faults[1].Kind != "fault" || d.Faults[1].Code != "31" || d.Faults[1].Count != 2 {
		t.Errorf("faults %+v", d.Faults)
	}
	if len(d.Changes) != 1 || d.Changes[0].Before != "6.1" || d.Changes[0].After != "6.2" {
		t.Errorf("changes %+v", d.Changes)
	}
	// A node that sends and has no inventory is known; one that does neither is not.
	if d, err := db.ConsoleNode(t.Context(), "n2"); err != nil || len(d.Targets) != 1 || d.Devices == nil || d.Collected != nil {
		t.Errorf("n2: %+v, %v", d, err)
	}
	if _, err := db.ConsoleNode(t.Context(), "n3' OR '1'='1"); !errors.Is(err, console.ErrUnknown) {
		t.Errorf("nobody: %v", err)
	}
}

func TestConsoleTasks(t *testing.T) {
	db := openDB(t)
	slo := func(seconds float64) func(*schema.Event) {
		return func(e *schema.Event) { e.SLO.MaxQueue = seconds }
	}
	events := []*schema.Event{
		happened("done", schema.Submitted, 0, of("acme", "gold"), asked(4, 2), slo(5)), happened("done", schema.Started, 10, on("n1", "GPU-1")), happened("done", schema.Finished, 60),
		happened("waits", schema.Submitted, 50, of("acme", "silver")),
		happened("old", schema.Submitted, -7200, of("bert", "gold")), happened("old", schema.Failed, -3600),
		happened("runs", schema.Submitted, -7200, of("bert", "gold")), happened("runs", schema.Started, -7100, on("n2")),
	}
	writeTasks(t, db, events...)
	// The log of the day of their arrival is what a live pipeline would have by the day they lived.
	runAll(t, db, "INSERT INTO {db}.task_log SELECT toDate(time) AS day, * EXCEPT (day) FROM {db}.task_log",
		"INSERT INTO {db}.sla_events (cluster, task, kind, breached, tick, known, promised, measured) VALUES ('c', 'done', 'queue_time', "+
			fmt.Sprintf("fromUnixTimestamp64Milli(toInt64(%d)), now64(3), now64(3), 5, 10)", t0+5000))
	ask := func(q console.TaskQuery) []console.Task {
		t.Helper()
		q.From, q.To = time.UnixMilli(t0-600_000), time.UnixMilli(t0+120_000)
		if q.Limit == 0 {
			q.Limit = 100
		}
		list, err := db.ConsoleTasks(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	names := func(list []console.Task) (out []string) {
		for _, x := range list {
			out = append(out, x.Task)
		}
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		q    console.TaskQuery
		want []string
	}{
		{console.TaskQuery{}, []string{"done", "runs", "waits"}},
		{console.TaskQuery{Tenant: "acme"}, []string{"done", "waits"}},
		{console.TaskQuery{Queue: "gold", State: "started"}, []string{"runs"}},
		{console.TaskQuery{Node: "n1"}, []string{"done"}},
		{console.TaskQuery{Tenant: "acme' OR 1=1 --"}, nil},
	} {
		if got := names(ask(c.q)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.q, got, c.want)
		}
	}
	if got := len(ask(console.TaskQuery{Limit: 1})); got != 1 {
		t.Errorf("limit 1: %d", got)
	}
	done := ask(console.TaskQuery{Node: "n1"})[0]
	if done.Begun.UnixMilli() != t0 || done.WaitingFrom.UnixMilli() != t0 || done.Started.UnixMilli() != t0+10_000 || done.Changed.UnixMilli() != t0+60_000 || !done.Ended || done.Accelerators != 2 || done.CPUCores != 4 ||
		!slices.Equal(done.Devices, []string{"GPU-1"}) || *done.MaxQueue != 5 {
		t.Errorf("%+v", done)
	}
	if len(done.Breaks) != 1 || done.Breaks[0] != (console.Break{Kind: "queue_time", Time: time.UnixMilli(t0 + 5000).UTC(), Promised: 5, Measured: 10}) {
		t.Errorf("breaks %+v", done.Breaks)
	}
}

func TestConsoleLine(t *testing.T) {
	db := openDB(t)
	if l, err := db.ConsoleLine(t.Context()); err != nil || len(l.Flow) != 0 || l.Flow == nil || l.Collectors.Newest != nil {
		t.Fatalf("an empty store: %+v, %v", l, err)
	}
	at := time.Now().Add(-30 * time.Second).Truncate(10 * time.Second).UTC()
	text := func(ms int) string {
		return "'" + at.Add(time.Duration(ms)*time.Millisecond).Format("2006-01-02 15:04:05.000") + "'"
	}
	runAll(t, db,
		"INSERT INTO {db}.ingest_ledger (agent, seq, partition, offset, node, target, oldest, scrape, ingest, rows, late, duplicates, state, written) VALUES "+
			"('a', 1, 0, 10, 'n1', 'x', 1, "+text(0)+", "+text(100)+", 100, 5, 1, 0, "+text(1100)+"), ('a', 2, 0, 11, 'n1', 'y', 1, "+text(1000)+", "+text(1100)+", 50, 0, 0, 1, "+text(2100)+"),"+
			"('b', 1, 3, 7, 'n2', 'x', 1, "+text(2000)+", "+text(2100)+", 0, 0, 0, 2, "+text(3100)+"), ('b', 2, 3, 8, 'n2', 'x', 1, "+ago(3600)+", "+ago(3600)+", 9, 0, 0, 0, "+ago(3600)+")",
		"INSERT INTO {db}.dead_letters (topic, partition, offset, ingest, reason) VALUES ('telemetry.samples', 0, 1, "+ago(60)+", 'not a record'), ('telemetry.samples', 0, 2, "+ago(50)+", 'not a record')")
	l, err := db.ConsoleLine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := console.Flow{Time: at.UnixMilli(), Records: 3, Samples: 150, Late: 5, Repeated: 1, TransportP50: 0.1, TransportP99: 0.1, StorageP50: 1, StorageP99: 1}
	if len(l.Flow) != 1 || l.Flow[0] != want {
		t.Errorf("flow %+v, want %+v", l.Flow, want)
	}
	if c := l.Collectors; c.Nodes != 2 || c.Agents != 2 || c.Targets != 3 || c.Records != 3 || c.Partial != 1 || c.Failed != 1 || c.Newest.UnixMilli() != at.UnixMilli()+2000 {
		t.Errorf("collectors %+v", c)
	}
	if len(l.Partitions) != 2 || l.Partitions[0].Offset != 11 || l.Partitions[0].Records != 2 || l.Partitions[1].Partition != 3 || l.Partitions[1].Lag != 1 {
		t.Errorf("partitions %+v", l.Partitions)
	}
	if len(l.Dead) != 1 || l.Dead[0].Records != 2 || l.Dead[0].Reason != "not a record" {
		t.Errorf("dead letters %+v", l.Dead)
	}
	if !slices.ContainsFunc(l.Tables, func(x console.Table) bool { return x.Table == "ingest_ledger" && x.Rows == 4 && x.Bytes > 0 }) {
		t.Errorf("tables %+v", l.Tables)
	}
	b, err := db.ConsoleLedger(t.Context())
	if err != nil || b.Agents != 2 || b.Received != 4 {
		t.Errorf("balance %+v, %v", b, err)
	}
}

// TestConsoleLedger: what the ledger claimed and nobody finds is missing, what nobody ever
// claims is double, and what is claimed a moment later, or moved to another hour, is neither.
func TestConsoleLedger(t *testing.T) {
	db := openDB(t)
	record := func(agent, node string, rows int, written string) string {
		return fmt.Sprintf("INSERT INTO {db}.ingest_ledger (agent, seq, partition, offset, node, target, oldest, scrape, ingest, rows, written) VALUES ('%s', 1, 0, %d, '%s', 'x', 1, %s, %s, %d, %s)",
			agent, rows, node, ago(30), ago(30), rows, written)
	}
	samples := func(id int, node string, n, age int) []string {
		return []string{fmt.Sprintf("INSERT INTO {db}.series (id, node, name, first_seen) VALUES (%d, '%s', 'm', now64(3))", id, node),
			fmt.Sprintf("INSERT INTO {db}.samples (series, ts, value) SELECT %d, now64(3) - toIntervalSecond(%d + number), 1 FROM numbers(%d)", id, age, n)}
	}
	runAll(t, db, record("a", "whole", 10, ago(20)), record("b", "missing", 10, ago(20)), record("c", "double", 10, ago(20)), record("d", "coming", 10, ago(-60)), record("e", "moved", 10, ago(20)))
	for _, s := range [][]string{samples(1, "whole", 10, 30), samples(2, "missing", 7, 30), samples(3, "double", 12, 30), samples(4, "coming", 10, 30), samples(5, "moved", 10, 4000)} {
		runAll(t, db, s...)
	}
	b, err := db.ConsoleLedger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b.Agents != 5 || b.Received != 5 || b.Expected != 40 || b.Visible != 49 || b.Missing != 3 || b.Duplicate != 2 {
		t.Errorf("%+v", b)
	}
}
