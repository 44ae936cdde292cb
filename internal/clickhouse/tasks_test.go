package clickhouse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sextant/pipeline/tasks"
	schema "sextant/schema/tasks"
	"sextant/schema/wire"
)

// happened is an event of a task, some seconds after t0.
func happened(task string, state schema.State, seconds int64, change ...func(*schema.Event)) *schema.Event {
	e := &schema.Event{ID: fmt.Sprintf("%s/%s/%d", task, state, seconds), Task: task, Cluster: "c", State: state, Time: t0 + seconds*1000, Source: "test"}
	for _, f := range change {
		f(e)
	}
	return e
}

func asked(cpu, accelerators float64) func(*schema.Event) {
	return func(e *schema.Event) {
		e.Requests = map[string]float64{schema.CPU: cpu, schema.Memory: cpu * 1e9, schema.Accelerators + "nvidia": accelerators}
	}
}

func of(tenant, queue string) func(*schema.Event) {
	return func(e *schema.Event) { e.Tenant, e.Queue, e.Type = tenant, queue, "training" }
}

func on(node string, devices ...string) func(*schema.Event) {
	return func(e *schema.Event) { e.Node, e.Devices = node, devices }
}

// arrivals is how many events came so far, in milliseconds the broker's time since long
// after t0.
var arrivals int64

// writeTasks stores events as the pipeline would, read off Kafka in this order.
func writeTasks(t *testing.T, db *DB, events ...*schema.Event) {
	t.Helper()
	var rows []tasks.Row
	for _, e := range events {
		arrivals++
		b, err := e.Encode(e.Time)
		if err != nil {
			t.Fatal(err)
		}
		row, err := tasks.Decode(&wire.Record{Offset: arrivals, Ingest: t0 + 100*86400_000 + arrivals, Value: b})
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := db.NewTaskSink().WriteTasks(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}

// told returns rows of a query, NULL as a dash. {t0} in a column is the seconds from t0.
func told(t *testing.T, db *DB, columns, from string) []string {
	t.Helper()
	var parts []string
	for _, c := range strings.Split(columns, "; ") {
		if at, ok := strings.CutPrefix(c, "s:"); ok {
			c = fmt.Sprintf("dateDiff('second', fromUnixTimestamp64Milli(%d, 'UTC'), %s)", t0, at)
		}
		parts = append(parts, "ifNull(toString("+c+"), '-')")
	}
	return text(t, db, strings.Join(parts, ", "), "{db}."+from)
}

// story is a day of a small cluster.
func story() []*schema.Event {
	promised := func(e *schema.Event) {
		e.SLO = schema.SLO{Deadline: t0 + 1000_000, MaxQueue: 60, LatencyTarget: 0.5}
	}
	code := func(c int32, reason string) func(*schema.Event) {
		return func(e *schema.Event) { e.ExitCode, e.Reason = &c, reason }
	}
	priority := int64(7)
	return []*schema.Event{
		// good keeps all promises, and says what it is bit by bit.
		happened("good", schema.Submitted, 0, of("acme", "gold"), asked(4, 2), promised),
		happened("good", schema.Queued, 10, func(e *schema.Event) {
			e.Priority, e.PriorityClass, e.Kind, e.Name, e.Group, e.GroupSize = &priority, "high", "job", "train", "g", 2
			e.Owners = []schema.Owner{{Kind: "Workflow", Name: "w", ID: "w1"}}
			e.Dependencies, e.Labels, e.Limits = []string{"prep"}, map[string]string{"team": "x"}, map[string]float64{schema.CPU: 8}
		}),
		happened("good", schema.Scheduled, 40, on("n1", "GPU-1", "GPU-2")),
		happened("good", schema.Started, 50),
		happened("good", schema.Finished, 650, code(0, "Completed")),
		// moved is evicted and runs on another node.
		happened("moved", schema.Submitted, 0, of("acme", "gold"), asked(2, 1)),
		happened("moved", schema.Scheduled, 5, on("n1", "GPU-1")),
		happened("moved", schema.Started, 6),
		happened("moved", schema.Evicted, 100, code(143, "Preempted")),
		happened("moved", schema.Queued, 101),
		happened("moved", schema.Scheduled, 200, on("n2")),
		happened("moved", schema.Started, 210),
		// late waits too long, misses its deadline and fails.
		happened("late", schema.Submitted, 0, of("acme", "bronze"), asked(1, 0), promised),
		happened("late", schema.Started, 90, on("n2")),
		happened("late", schema.Failed, 1200, code(137, "OOMKilled")),
		// stuck still waits, long after its promise.
		happened("stuck", schema.Queued, 0, of("zeta", "gold"), asked(16, 8), promised),
		// bound is on n2, and has not started.
		happened("bound", schema.Queued, 20, of("zeta", "gold"), asked(3, 1)),
		happened("bound", schema.Scheduled, 30, on("n2", "GPU-9")),
		// gone was cancelled within its promises.
		happened("gone", schema.Submitted, 0, of("zeta", "gold"), asked(1, 1), promised),
		happened("gone", schema.Cancelled, 30),
	}
}

func TestTaskViews(t *testing.T) {
	db := openDB(t)
	writeTasks(t, db, story()...)
	for _, c := range []struct {
		name, columns, from string
		want                []string
	}{
		{"a task's facts", "kind; name; tenant; queue; type; priority_class; priority; owner_names[1]; group_id; group_size; dependencies[1]; node; arrayStringConcat(devices, '+'); " +
			"requests['cpu_cores']; requests['accelerators_nvidia']; limits['cpu_cores']; labels['team']; latency_target_seconds; reason; exit_code; events",
			"tasks WHERE task = 'good'", []string{"job train acme gold training high 7 w g 2 prep n1 GPU-1+GPU-2 4 2 8 x 0.5 Completed 0 5"}},
		{"states and times", "task; state; s:submitted; s:queued; s:scheduled; s:started; s:evicted; s:cancelled; s:failed; s:finished; s:changed; attempts; evictions",
			"tasks ORDER BY task", []string{
				"bound scheduled - 20 30 - - - - - 30 0 0",
				"gone cancelled 0 - - - - 30 - - 30 0 0",
				"good finished 0 10 40 50 - - - 650 650 1 0",
				"late failed 0 - 90 90 - - 1200 - 1200 1 0",
				"moved started 0 101 5 210 100 - - - 210 2 1",
				"stuck queued - 0 - - - - - - 0 0 0"}},
		{"waiting and running", "task; if(task = 'stuck', queue_seconds > 1000, queue_seconds); run_seconds", "tasks ORDER BY task",
			[]string{"bound 10 -", "gone 30 -", "good 30 600", "late 90 1110", "moved 5 -", "stuck 1 -"}},
		{"devices stay on their node", "node; length(devices)", "tasks WHERE task = 'moved'", []string{"n2 0"}},
		{"broken promises", "task; cause; s:time; node; reason", "tasks_sla", []string{
			"late queue_time_exceeded 60 n2 OOMKilled", "late deadline_missed 1000 n2 OOMKilled", "late failed 1200 n2 OOMKilled",
			"moved evicted 100 n2 ", "stuck queue_time_exceeded 60  ", "stuck deadline_missed 1000  "}},
		{"by node", "node; running; started; cpu_cores; memory_bytes; accelerators; arrayStringConcat(devices, '+'); arrayStringConcat(tasks, '+')", "tasks_running",
			[]string{"n2 2 1 5 5000000000 2 GPU-9 bound+moved"}},
		{"by queue", "tenant; queue; running; waiting; cpu_cores; cpu_cores_waiting; memory_bytes_waiting; accelerators; accelerators_waiting; longest_wait_seconds > 1000", "tasks_usage",
			[]string{"acme bronze 0 0 0 0 0 0 0 -", "acme gold 1 0 2 0 0 1 0 -", "zeta gold 1 1 3 16 16000000000 1 8 1"}},
		{"times", "tenant; queue; tasks; placed; queue_seconds_avg; queue_seconds_p50; queue_seconds_p95; finished; failed; run_seconds_avg; run_seconds_p95", "tasks_times",
			[]string{"acme bronze 1 1 90 90 90 0 1 - -", "acme gold 2 2 17.5 30 30 1 0 600 600", "zeta gold 3 1 10 10 10 0 0 - -"}},
	} {
		if got := told(t, db, c.columns, c.from); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
	list, err := db.Tasks(t.Context(), TaskFilter{Tenant: "acme", State: "finished", Limit: 10})
	if err != nil || len(list) != 1 || list[0].Task != "good" || list[0].QueueSeconds != 30 || list[0].RunSeconds != 600 || list[0].Changed.UnixMilli() != t0+650_000 {
		t.Errorf("%+v, %v", list, err)
	}
	list, err = db.Tasks(t.Context(), TaskFilter{Limit: 2})
	if err != nil || len(list) != 2 || list[0].Task != "late" || list[1].Task != "good" {
		t.Errorf("the last changed: %+v, %v", list, err)
	}
	if list, err = db.Tasks(t.Context(), TaskFilter{State: "scheduled", Limit: 2}); err != nil || len(list) != 1 || !math.IsNaN(list[0].RunSeconds) {
		t.Errorf("no run time: %+v, %v", list, err)
	}
}

// What a task is does not depend on the order in which its events come, on how they are
// cut into writes, or on how often they come.
func TestTaskIsTheSameForEveryOrderOfItsEvents(t *testing.T) {
	db := openDB(t)
	zero := int32(0)
	life := []*schema.Event{ // several of one time, told apart by sequence, state and id
		happened("t", schema.Submitted, 0, of("a", "x"), asked(1, 1)),
		happened("t", schema.Updated, 0, of("b", "y"), func(e *schema.Event) { e.Sequence = 2 }),
		happened("t", schema.Scheduled, 0, on("n1", "d1"), func(e *schema.Event) { e.Sequence = 1 }),
		happened("t", schema.Evicted, 5, on("n2", "d2"), func(e *schema.Event) { e.Reason = "gone" }),
		happened("t", schema.Finished, 5, func(e *schema.Event) { e.ExitCode = &zero }),
		happened("t", schema.Cancelled, 5, on("n3")),
	}
	orders := permutations(len(life))
	rng := rand.New(rand.NewPCG(1, 2))
	for step := range life {
		var events []*schema.Event
		for i, order := range orders { // a cluster for each order
			e := *life[order[step]]
			e.Cluster = fmt.Sprint(i)
			events = append(events, &e)
			if step > 0 && rng.IntN(3) == 0 { // again
				e := *life[order[rng.IntN(step)]]
				e.Cluster = fmt.Sprint(i)
				events = append(events, &e)
			}
		}
		writeTasks(t, db, events...)
	}
	const facts = "state; s:changed; tenant; queue; node; arrayStringConcat(devices, '+'); reason; exit_code; s:submitted; s:scheduled; s:evicted; s:finished; evictions; events; requests['cpu_cores']"
	const want = "finished 5 b y n3   0 0 0 5 5 1 6 1"
	got := told(t, db, facts, "tasks")
	if len(got) != 720 {
		t.Fatalf("%d tasks, want 720", len(got))
	}
	for i := range got {
		if got[i] != want {
			t.Fatalf("%q, want %q", got[i], want)
		}
	}
}

// Of two events with one id, the order of arrival does not decide which stays.
func TestOneIDForTwoEvents(t *testing.T) {
	db := openDB(t)
	a := happened("t", schema.Failed, 0, func(e *schema.Event) { e.ID, e.Reason = "same", "one" })
	b := happened("t", schema.Finished, 40*86400, func(e *schema.Event) { e.ID, e.Reason = "same", "two" }) // in another month
	var got []string
	for _, order := range [][]*schema.Event{{a, b}, {b, a}} {
		mustExec(t, db, "TRUNCATE TABLE {db}.task_events")
		for _, e := range order {
			writeTasks(t, db, e)
		}
		got = append(got, told(t, db, "state; reason; events", "tasks")...)
	}
	if len(got) != 2 || got[0] != got[1] || !strings.HasSuffix(got[0], " 1") {
		t.Errorf("%q", got)
	}
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return out
}

func TestTaskErrorNamesTheTable(t *testing.T) {
	db := openDB(t)
	mustExec(t, db, "DROP TABLE {db}.task_events")
	b, _ := happened("a", schema.Queued, 0).Encode(t0)
	row, err := tasks.Decode(&wire.Record{Ingest: t0, Value: b})
	if err != nil {
		t.Fatal(err)
	}
	err = db.NewTaskSink().WriteTasks(t.Context(), []tasks.Row{row})
	if err == nil || !strings.Contains(err.Error(), "1 rows to task_events: ") {
		t.Errorf("%v", err)
	}
}

// Every query that the documentation shows runs and finds something.
func TestDocumentedTaskQueries(t *testing.T) {
	doc, err := os.ReadFile("../../docs/tasks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sql, found := strings.Cut(string(doc), "```sql\n")
	sql, _, _ = strings.Cut(sql, "```")
	statements := regexp.MustCompile(`(?s)SELECT .*?;`).FindAllString(sql, -1)
	if !found || len(statements) < 5 {
		t.Fatalf("%d statements in %q", len(statements), sql)
	}
	db := openDB(t)
	writeTasks(t, db, story()...)
	table := regexp.MustCompile(`\b(FROM|JOIN) (\w+)`)
	for _, s := range statements {
		var n uint64
		one(t, db, "SELECT count() FROM ("+table.ReplaceAllString(strings.TrimSuffix(s, ";"), "$1 {db}.$2")+")", &n)
		if n == 0 {
			t.Errorf("nothing is found by %s", s)
		}
	}
}
