package clickhouse

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"sextant/features"
	"sextant/pipeline/derive"
	"sextant/pipeline/tasks"
	schema "sextant/schema/tasks"
	"sextant/schema/wire"
)

// came stores events that the broker appended some seconds after t0.
func came(t *testing.T, db *DB, seconds int64, events ...*schema.Event) {
	t.Helper()
	var rows []tasks.Row
	for _, e := range events {
		b, err := e.Encode(e.Time)
		if err != nil {
			t.Fatal(err)
		}
		row, err := tasks.Decode(&wire.Record{Offset: 1, Ingest: e.Time, Value: b})
		if err != nil {
			t.Fatal(err)
		}
		row.Ingest = t0 + seconds*1000
		rows = append(rows, row)
	}
	if err := db.NewTaskSink().WriteTasks(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}

// at is a tick some seconds after t0, known 10 s later.
func at(seconds int64) derive.At {
	return derive.At{Tick: t0 + seconds*1000, Known: t0 + seconds*1000 + 10_000}
}

// builtinView is a view that comes with the program.
func builtinView(t testing.TB, name string) *features.View {
	t.Helper()
	views, err := features.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no view %s", name)
	return nil
}

// applyBuiltin makes the tables of all views that come with the program, which asks the
// engine what the queries of those of SQL give.
func applyBuiltin(t *testing.T, db *DB) {
	t.Helper()
	views, err := features.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	apply(t, db, views...)
}

// derived evaluates a view at a tick, as the pipeline does, without storing it.
func derived(t *testing.T, db *DB, name string, at derive.At) *features.Rows {
	t.Helper()
	s := db.NewDeriveStore()
	if err := s.Prepare(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	raw, err := s.Derive(t.Context(), builtinView(t, name), at)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Release(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	rows, counts := derive.Clean(raw)
	for i, n := range counts.OutOfRange {
		if n > 0 {
			t.Errorf("%s: %d values are out of range", rows.View.Features[i].Name, n)
		}
	}
	return rows
}

// values are features of an entity, as text; NULL is a dash.
func values(t *testing.T, r *features.Rows, entity string, names string) string {
	t.Helper()
	row := slices.Index(r.Keys[0], entity)
	if row < 0 {
		t.Fatalf("no row of %s among %q", entity, r.Keys[0])
	}
	var out []string
	for _, name := range strings.Fields(names) {
		i := slices.IndexFunc(r.View.Features, func(f features.Feature) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("no feature %s", name)
		}
		x := r.Cols[i].Num[row]
		if math.IsNaN(x) {
			out = append(out, "-")
			continue
		}
		out = append(out, fmt.Sprintf("%.4g", x))
	}
	return strings.Join(out, " ")
}

// plant is a small cluster at 2000 s: three nodes, one gang of two, a chain of tasks.
func plant(t *testing.T, db *DB) {
	t.Helper()
	mustExec(t, db, fmt.Sprintf(`INSERT INTO {db}.inventories (node, since, collected, ingest, threads, memory_bytes, accelerators, zone, rack, cordoned)
		SELECT concat('n', toString(number)), fromUnixTimestamp64Milli(%d), now64(3), now64(3), 16, 64000000000, 8, if(number < 3, 'z1', ''), if(number < 3, 'r1', 'r2'), number = 3 FROM numbers(1, 3)`, t0))
	mustExec(t, db, fmt.Sprintf(`INSERT INTO {db}.node_monitoring_rows SELECT 'n1', fromUnixTimestamp64Milli(%d), fromUnixTimestamp64Milli(%d), 0.5, 0.25`, t0+1990_000, t0+1996_000))
	priority := int64(7)
	member := func(e *schema.Event) { e.Group, e.GroupSize, e.Priority = "g", 2, &priority }
	needs := func(tasks ...string) func(*schema.Event) {
		return func(e *schema.Event) { e.Dependencies = tasks }
	}
	promised := func(e *schema.Event) {
		e.SLO = schema.SLO{Deadline: t0 + 2600_000, MaxQueue: 60, LatencyTarget: 0.5}
		e.Owners = []schema.Owner{{Kind: "Job", Name: "j"}, {Kind: "Workflow", Name: "w"}}
	}
	came(t, db, 1900,
		happened("old1", schema.Submitted, 0, of("acme", "gold"), asked(1, 0)), happened("old1", schema.Started, 100), happened("old1", schema.Finished, 300),
		happened("old2", schema.Submitted, 0, of("acme", "gold"), asked(1, 0)), happened("old2", schema.Started, 100, on("n1")), happened("old2", schema.Failed, 300),
		happened("g1", schema.Submitted, 1000, of("acme", "gold"), asked(4, 2), member), happened("g1", schema.Started, 1100, on("n1", "GPU-1")),
		happened("g2", schema.Submitted, 1000, of("acme", "gold"), asked(4, 2), member),
		happened("moved", schema.Submitted, 1000, of("zeta", "gold"), asked(2, 6)), happened("moved", schema.Started, 1010, on("n1")),
		happened("moved", schema.Evicted, 1100), happened("moved", schema.Started, 1200, on("n2")),
		happened("last", schema.Submitted, 1800, of("zeta", "gold"), asked(8, 4), promised, needs("mid", "old1")),
		happened("mid", schema.Submitted, 1800, of("zeta", "gold"), asked(1, 0), needs("old1", "g2", "never")),
	)
}

// monitoringRows stands for the table of node_monitoring, with the two columns that views of
// SQL read.
func monitoringRows(t *testing.T, db *DB) {
	t.Helper()
	mustExec(t, db, `CREATE TABLE {db}.node_monitoring_rows (node String, tick DateTime64(3, 'UTC'), known DateTime64(3, 'UTC'), cpu_utilization_1m Nullable(Float32), memory_used_ratio_1m Nullable(Float32)) ENGINE = MergeTree ORDER BY node`)
	mustExec(t, db, `CREATE OR REPLACE VIEW {db}.node_monitoring AS SELECT * FROM {db}.node_monitoring_rows`)
}

func TestBusinessFeatures(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	monitoringRows(t, db)
	plant(t, db)
	for _, c := range []struct{ view, entity, names, want string }{
		{"task_business", "last", "age_seconds queue_wait_seconds queue_time_left_seconds time_to_deadline_seconds deadline_pressure latency_target_seconds waiting placed", "200 200 -140 600 0.3333 0.5 1 0"},
		{"task_business", "last", "cpu_request_cores memory_request_bytes accelerator_request cpu_request_node_ratio accelerator_request_node_ratio", "8 8e+09 4 0.5 0.5"},
		{"task_business", "last", "dependencies unmet_dependencies dag_depth owner_depth", "2 1 2 2"},
		{"task_business", "mid", "dependencies unmet_dependencies dag_depth priority deadline_pressure", "3 2 1 - -"},
		{"task_business", "g2", "gang_size gang_members_placed gang_placed_ratio queue_position queue_length queue_accelerators_waiting queue_placed_tasks priority dag_depth", "2 1 0.5 1 3 6 2 7 0"},
		{"task_business", "last", "queue_position gang_size gang_placed_ratio", "2 0 -"},
		{"task_business", "moved", "retries evictions running_seconds running_to_typical_ratio queue_position queue_time_left_seconds tenant_accelerator_share tenant_queue_share node_tasks", "1 1 800 4 - - 0.75 0.6667 1"},
		{"task_business", "g1", "type_failure_ratio type_duration_mean_seconds type_duration_p50_seconds type_duration_p95_seconds type_queue_wait_p50_seconds retries submitted_hour cluster_waiting_tasks accelerator_pressure",
			"0.5 200 200 200 100 0 0 3 0.375"},
		{"queue_business", "gold", "waiting_tasks running_tasks failed_tasks_1h finished_tasks_1h failure_ratio_1h evicted_tasks_1h cpu_allocated_cores accelerators_allocated accelerators_waiting longest_wait_seconds tenants accelerator_share slo_broken_ratio_24h slo_error_budget_24h",
			"3 2 1 1 0.5 1 6 8 6 1000 2 1 1 -99"},
		{"tenant_business", "zeta", "waiting_tasks running_tasks cpu_allocated_cores accelerators_allocated accelerator_share waiting_share queues", "2 1 2 6 0.75 0.6667 1"},
		{"cluster_business", "c", "nodes cordoned_nodes cpu_capacity_cores accelerator_capacity cpu_allocated_ratio accelerator_allocated_ratio accelerators_on_empty_nodes_ratio accelerator_fragmentation cpu_utilization_mean_1m memory_used_ratio_mean tenants",
			"3 1 48 24 0.125 0.3333 0.3333 0.5 0.5 0.25 2"},
		{"node_business", "n1", "placed_tasks running_tasks placed_tasks_priority_above placed_tasks_priority_zero priority_max tenants gangs cpu_allocated_cores accelerators_free cpu_allocated_ratio cpu_used_cores cpu_used_to_allocated_ratio longest_run_seconds failed_tasks_1h cordoned",
			"1 1 1 0 7 1 1 4 6 0.25 8 2 900 1 0"},
		{"node_business", "n3", "placed_tasks cpu_allocated_cores cpu_free_cores accelerators_free cpu_used_cores cordoned", "0 0 16 8 - 1"},
		{"rack_business", "z1", "nodes", "2"}, {"rack_business", "none", "nodes cordoned_nodes", "1 1"},
	} {
		if got := values(t, derived(t, db, c.view, at(2000)), c.entity, c.names); got != c.want {
			t.Errorf("%s of %s:\n%s\n%s\nwant\n%s", c.view, c.entity, c.names, got, c.want)
		}
	}
	if r := derived(t, db, "task_business", at(2000)); len(r.Tick) != 5 {
		t.Errorf("tasks that have not ended: %q", r.Keys[0])
	}
}

// gang is a Job of two pods in a PodGroup, admitted as a Workload, and a Job that is suspended:
// what is asked for is 4 cores on n1, 4 that wait, and the 16 of the second Job.
func gang() []*schema.Event {
	is := func(kind string, owners ...string) func(*schema.Event) {
		return func(e *schema.Event) {
			e.Kind, e.Group, e.SLO.MaxQueue = kind, "g", 60
			for _, o := range owners {
				e.Owners = append(e.Owners, schema.Owner{Kind: "Job", Name: o, ID: o})
			}
		}
	}
	made := func(task string, cores float64, change func(*schema.Event)) *schema.Event {
		return happened(task, schema.Submitted, 1000, of("acme", "gold"), asked(cores, cores), change)
	}
	return []*schema.Event{
		made("job", 8, is("job")), happened("job", schema.Started, 1010),
		made("pod1", 4, is("pod", "job")), happened("pod1", schema.Started, 1010, on("n1")),
		made("pod2", 4, is("pod", "job")),
		made("group", 8, is("podgroup", "job")), happened("group", schema.Scheduled, 1010),
		made("workload", 8, is("workload", "job")), happened("workload", schema.Scheduled, 1005),
		made("suspended", 16, is("job")), made("its-workload", 16, is("workload", "suspended")),
	}
}

// What stands for other tasks is added up nowhere, and has its own row all the same.
func TestWhatIsAskedForCountsOnce(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	monitoringRows(t, db)
	plant(t, db)
	mustExec(t, db, "TRUNCATE TABLE {db}.task_events")
	mustExec(t, db, "TRUNCATE TABLE {db}.task_log")
	came(t, db, 1100, gang()...)
	for _, c := range []struct{ view, entity, names, want string }{
		{"queue_business", "gold", "waiting_tasks running_tasks scheduled_tasks cpu_allocated_cores cpu_waiting_cores accelerators_allocated accelerators_waiting", "2 1 0 4 20 4 20"},
		{"tenant_business", "acme", "waiting_tasks running_tasks cpu_allocated_cores cpu_waiting_cores", "2 1 4 20"},
		{"cluster_business", "c", "waiting_tasks running_tasks cpu_allocated_cores cpu_waiting_cores", "2 1 4 20"},
		{"node_business", "n1", "placed_tasks cpu_allocated_cores accelerators_allocated gangs", "1 4 4 1"},
		{"rack_business", "z1", "placed_tasks cpu_allocated_cores", "1 4"},
		{"task_business", "pod2", "queue_position queue_length queue_placed_tasks queue_accelerators_waiting tenant_placed_tasks gang_members_placed", "1 2 1 20 1 1"},
		{"task_business", "pod1", "node_tasks cluster_waiting_tasks accelerator_pressure", "1 2 1"},
		{"task_business", "job", "cpu_request_cores placed queue_length", "8 1 2"},
		{"task_business", "suspended", "queue_position waiting", "2 1"},
	} {
		if got := values(t, derived(t, db, c.view, at(2000)), c.entity, c.names); got != c.want {
			t.Errorf("%s of %s:\n%s\n%s\nwant\n%s", c.view, c.entity, c.names, got, c.want)
		}
	}
	s := db.NewDeriveStore()
	if err := s.Prepare(t.Context(), at(2000)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Breaches(t.Context(), at(2000)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ columns, from, want string }{
		{"task; counted", "tasks ORDER BY task", "group 0, its-workload 0, job 0, pod1 1, pod2 1, suspended 1, workload 0"},
		{"running; waiting; cpu_cores; cpu_cores_waiting", "tasks_usage", "1 2 4 20"},
		{"node; running; cpu_cores", "tasks_running", "n1 1 4"},
		{"tasks; placed", "tasks_times", "3 1"},
		{"task; queue_length; tenant_running", "sla_events FINAL ORDER BY task", "its-workload 2 1, pod2 2 1, suspended 2 1"},
	} {
		if got := strings.Join(told(t, db, c.columns, c.from), ", "); got != c.want {
			t.Errorf("%s of %s: %s\nwant %s", c.columns, c.from, got, c.want)
		}
	}
}

// A tick is what was known then: an event that came later changes no row of the past, and
// does change the next one; and a backfill finds what was found live.
func TestDerivedRowsAreAsKnown(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	v := builtinView(t, "task_business")
	s := db.NewDeriveStore()
	live := func(at derive.At) []string {
		t.Helper()
		rows := derived(t, db, v.Name, at)
		if err := s.WriteDerived(t.Context(), rows, at); err != nil {
			t.Fatal(err)
		}
		return text(t, db, "task, toUInt8(waiting), toUInt8(placed), ifNull(toString(queue_wait_seconds), '-')", fmt.Sprintf("{db}.task_business WHERE tick = fromUnixTimestamp64Milli(%d) ORDER BY task", at.Tick))
	}
	came(t, db, 5, happened("a", schema.Submitted, 0, of("acme", "gold")))
	first := live(at(20))
	if want := []string{"a 1 0 20"}; !slices.Equal(first, want) {
		t.Fatalf("%q, want %q", first, want)
	}
	came(t, db, 35, happened("a", schema.Started, 8), happened("b", schema.Submitted, 9)) // late
	came(t, db, 36, happened("a", schema.Submitted, 0, of("acme", "gold")))               // sent again: what was known stays known
	mustExec(t, db, "OPTIMIZE TABLE {db}.task_log FINAL")
	mustExec(t, db, "OPTIMIZE TABLE {db}.task_events FINAL")
	if again := live(at(20)); !slices.Equal(again, first) {
		t.Errorf("backfilled %q, live %q", again, first)
	}
	if got, want := live(at(30)), []string{"a 0 1 8", "b 1 0 21"}; !slices.Equal(got, want) {
		t.Errorf("the next tick: %q, want %q", got, want)
	}
	var physical uint64
	one(t, db, "SELECT count() FROM {db}.features_task_business_v1", &physical)
	if physical != 3 {
		t.Errorf("%d rows are stored, want 3: the second copy of a tick is the same insert", physical)
	}
	next := at(86400 + 100) // the day after: what lives is carried there, twice without harm
	for range 2 {
		s := db.NewDeriveStore()
		if err := s.carry(t.Context(), t0+86400_000); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := live(next), []string{"a 0 1 8", "b 1 0 86491"}; !slices.Equal(got, want) {
		t.Errorf("the next day: %q, want %q", got, want)
	}
}

// What the materialized view writes of an event and what is carried are the same row.
func TestCarryWritesTheRowsOfTheView(t *testing.T) {
	db := openDB(t)
	came(t, db, 5, story()...)
	before := text(t, db, "cityHash64(tuple(*))", "{db}.task_log ORDER BY cluster, task, place")
	if err := db.NewDeriveStore().carry(t.Context(), t0); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "OPTIMIZE TABLE {db}.task_log FINAL")
	if after := text(t, db, "cityHash64(tuple(*))", "{db}.task_log ORDER BY cluster, task, place"); !slices.Equal(before, after) || len(after) != len(story()) {
		t.Errorf("%d rows before, %d after", len(before), len(after))
	}
	mustExec(t, db, "TRUNCATE TABLE {db}.task_log") // events from before the table was there
	if err := db.NewDeriveStore().carry(t.Context(), t0); err != nil {
		t.Fatal(err)
	}
	if after := text(t, db, "cityHash64(tuple(*))", "{db}.task_log ORDER BY cluster, task, place"); !slices.Equal(before, after) {
		t.Errorf("carried alone: %d rows, want %d", len(after), len(before))
	}
}

// tasks_at agrees with the view tasks on what both have.
func TestTasksAtAgreesWithTasks(t *testing.T) {
	db := openDB(t)
	came(t, db, 5, append(story(), gang()...)...)
	const facts = "task; state; s:changed; kind; tenant; queue; type; priority; group_id; group_size; node; arrayStringConcat(devices, '+'); s:submitted; s:queued; s:scheduled; s:started; s:evicted; attempts; evictions; if(ended OR NOT scheduled IS NULL, queue_seconds, NULL); if(ended, run_seconds, NULL); s:deadline; counted"
	want := told(t, db, facts, "tasks ORDER BY task")
	got := told(t, db, facts, fmt.Sprintf("tasks_at(tick = fromUnixTimestamp64Milli(%d, 'UTC'), known = fromUnixTimestamp64Milli(%d, 'UTC')) ORDER BY task", t0+5000_000, t0+6000_000))
	if !slices.Equal(got, want) || len(got) != 13 {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func TestBreachesAreKeptOnce(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	monitoringRows(t, db)
	mustExec(t, db, fmt.Sprintf(`INSERT INTO {db}.node_monitoring_rows SELECT 'n2', fromUnixTimestamp64Milli(%d), fromUnixTimestamp64Milli(%d), 0.5, 0.25`, t0+1190_000, t0+1196_000))
	came(t, db, 50, story()...)
	latency := func(seconds int64, value float64) {
		mustExec(t, db, "INSERT INTO {db}.series (id, node, name, labels) VALUES (7, 'n1', 'task_latency_seconds', map('task', 'moved')), (8, 'n2', 'accel_busy_ratio', map('uid', 'GPU-9'))")
		mustExec(t, db, fmt.Sprintf("INSERT INTO {db}.samples (series, ts, value, flags) VALUES (7, fromUnixTimestamp64Milli(%d), %g, 0), (8, fromUnixTimestamp64Milli(%d), 0.75, 0)", t0+seconds*1000, value, t0+seconds*1000))
		// Of no value, and late: neither tells how the task or the device did.
		mustExec(t, db, fmt.Sprintf("INSERT INTO {db}.samples (series, ts, value, flags) VALUES (7, fromUnixTimestamp64Milli(%[1]d), 9, 16), (8, fromUnixTimestamp64Milli(%[1]d), 127, 16), (8, fromUnixTimestamp64Milli(%[1]d + 1000), 0.5, 2)", t0+seconds*1000+5000))
	}
	find := func(at derive.At) int {
		t.Helper()
		s := db.NewDeriveStore()
		if err := s.Prepare(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		n, err := s.Breaches(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Release(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const columns = "task; kind; s:breached; s:tick; promised; measured; state; tenant; queue; node; queue_length; tenant_running; node_tasks"
	latency(1190, 0.75)
	came(t, db, 60, happened("moved", schema.Updated, 220, func(e *schema.Event) { e.SLO.LatencyTarget = 0.5 }))
	if n := find(at(60)); n != 0 {
		t.Errorf("%d breaches when nobody waited too long", n)
	}
	want := []string{
		"late queue_time 60 70 60 70 submitted acme bronze  1 2 0",
		"stuck queue_time 60 70 60 70 queued zeta gold  1 1 0",
	}
	// A crash after the insert, and a second pipeline: again, and again.
	for range 3 {
		find(at(70))
	}
	if got := told(t, db, columns, "sla_events FINAL ORDER BY task, kind"); !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	if n := find(at(1200)); n != 3 {
		t.Errorf("%d breaches, want 3", n)
	}
	want = append(want,
		"late deadline 1000 1200 1000 1200 started acme bronze n2 0 2 3",
		"moved latency 1190 1200 0.5 0.75 started acme gold n2 1 2 3",
		"stuck deadline 1000 1200 1000 1200 queued zeta gold  1 1 0")
	slices.Sort(want)
	got := told(t, db, columns, "sla_events FINAL ORDER BY task, kind")
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	if got, want := told(t, db, "node_cpu_busy; node_memory_used; device_busy", "sla_events FINAL WHERE task = 'moved'"), []string{"0.5 0.25 0.75"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// An event that comes late, of a task whose promise was broken before: once, as of now.
	came(t, db, 1205, happened("hidden", schema.Queued, 0, of("zeta", "gold"), func(e *schema.Event) { e.SLO.MaxQueue = 10 }))
	if n := find(at(1210)); n != 1 {
		t.Errorf("%d breaches, want 1", n)
	}
	find(at(1210))
	find(at(1220))
	var rows, total uint64
	one(t, db, "SELECT countIf(task = 'hidden'), count() FROM {db}.sla_events FINAL", &rows, &total)
	if rows != 1 || total != 6 {
		t.Errorf("%d rows of the task, %d in all, want 1 and 6", rows, total)
	}
}

func TestQueryThatIsNoView(t *testing.T) {
	db := openDB(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT task AS node, 1.5 AS busy FROM {tasks}", "sql: cores is missing; kernel is missing; load is missing; up is missing"},
		{"SELECT 1 AS node, 'a' AS busy, 1 AS load, 2 AS cores, true AS up, 'x' AS kernel, 3 AS more FROM {tasks}", "sql: busy is a String: want a number; more is no key or feature of the view; node is a UInt8: want a string"},
		{"SELECT nope FROM {tasks}", "sql: "},
		{"SELECT node, toDateTime(0) AS busy, 1 AS load, 2 AS cores, true AS up, 'x' AS kernel FROM {tasks}", "sql: busy is a DateTime: want a number"},
	} {
		v := testView()
		v.SQL = c.sql
		if err := db.ApplyViews(t.Context(), []*features.View{v}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.sql, err, c.want)
		}
	}
	v := testView()
	v.SQL = "SELECT node, 1.5 AS busy, 1 AS load, 2 AS cores, true AS up, 'x' AS kernel FROM {tasks}"
	apply(t, db, v)
}

func TestProgress(t *testing.T) {
	db := openDB(t)
	s := db.NewDeriveStore()
	for _, tick := range []int64{10, 30, 20, 30} {
		if err := s.Done(t.Context(), "v@v1", at(tick), 5); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Progress(t.Context(), t0+15_000)
	d := got["v@v1"]
	slices.Sort(d.Ticks)
	if err != nil || len(got) != 1 || d.First != t0+10_000 || d.Last != t0+30_000 || !slices.Equal(d.Ticks, []int64{t0 + 20_000, t0 + 30_000}) {
		t.Errorf("%v, %v", got, err)
	}
	if rows := told(t, db, "view; s:tick; s:known; rows", "derived_ticks FINAL ORDER BY tick"); !slices.Equal(rows, []string{"v@v1 10 20 5", "v@v1 20 30 5", "v@v1 30 40 5"}) {
		t.Errorf("%q", rows)
	}
}
