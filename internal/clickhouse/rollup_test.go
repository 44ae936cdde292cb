package clickhouse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sextant/pipeline/rollup"
	schema "sextant/schema/tasks"
)

// The hours of the test: the last of a day and the first of the next, young enough for samples to
// be kept.
var (
	midnight = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2).UnixMilli()
	dates    = strings.NewReplacer("{d0}", time.UnixMilli(midnight-hour).UTC().Format(time.DateOnly), "{d1}", time.UnixMilli(midnight).UTC().Format(time.DateOnly))
)

const hour = int64(3_600_000)

// when is a time some seconds after midnight, as a literal.
func when(seconds int64) string {
	return fmt.Sprintf("fromUnixTimestamp64Milli(%d, 'UTC')", midnight+seconds*1000)
}

// does stores rows of a device from one second to another, one for each 10 s: a row at a tick
// describes the time before it.
func does(t *testing.T, db *DB, node, uid string, from, to int64, columns, values string) {
	t.Helper()
	mustExec(t, db, fmt.Sprintf(`INSERT INTO {db}.features_device_monitoring_v1 (node, uid, tick, known, %s)
		SELECT '%s', '%s', %s + toIntervalSecond(10 * (number + 1)) AS tick, tick + toIntervalSecond(2), %s FROM numbers(%d)`,
		columns, node, uid, when(from), values, (to-from)/10))
}

// reads stores a series and its samples, at each 10 s of [from, to) the value of an expression
// over number.
func reads(t *testing.T, db *DB, id uint64, node, name, labels string, from, to int64, value string) {
	t.Helper()
	mustExec(t, db, fmt.Sprintf("INSERT INTO {db}.series (id, node, name, labels) VALUES (%d, '%s', '%s', %s)", id, node, name, labels))
	mustExec(t, db, fmt.Sprintf("INSERT INTO {db}.samples (series, ts, value, flags) SELECT %d, %s + toIntervalSecond(10 * number), %s, 0 FROM numbers(%d)",
		id, when(from), value, (to-from)/10))
}

// event is one of a task, some seconds after midnight, that came at once.
func event(task string, state schema.State, seconds int64, change ...func(*schema.Event)) *schema.Event {
	e := &schema.Event{ID: fmt.Sprintf("%s/%s/%d", task, state, seconds), Task: task, State: state, Time: midnight + seconds*1000, Source: "test"}
	for _, f := range change {
		f(e)
	}
	return e
}

func promised(queue float64, deadline int64) func(*schema.Event) {
	return func(e *schema.Event) {
		e.SLO.MaxQueue = queue
		if deadline != 0 {
			e.SLO.Deadline = midnight + deadline*1000
		}
	}
}

func pod(namespace, name string) func(*schema.Event) {
	return func(e *schema.Event) { e.Kind, e.Namespace, e.Name = "pod", namespace, name }
}

// floor is a cluster of three nodes whose hours can be reckoned by hand.
//
//	n1  d1, d2: H100, group ga of cluster east
//	n2  m1: A100 in MIG mode with two slices of 3 of 7 parts, simulated
//	n3  s1: L4, shared by two tasks; its exporter knows only its place
func floor(t *testing.T, db *DB) {
	t.Helper()
	mustExec(t, db, fmt.Sprintf(`INSERT INTO {db}.inventories (node, since, collected, ingest, threads, memory_bytes, accelerators, labels, simulated) VALUES
		('n1', %[1]s, %[1]s, %[1]s, 16, 1073741824, 2, {'cluster': 'east', 'node_group': 'ga'}, 0),
		('n2', %[1]s, %[1]s, %[1]s, 16, 1073741824, 1, {'node_group': 'gb'}, 1),
		('n3', %[1]s, %[1]s, %[1]s, 16, 1073741824, 1, {}, 0)`, when(-7200)))
	mustExec(t, db, fmt.Sprintf(`INSERT INTO {db}.inventory_parts (node, since, part, id, uid, pci, ingest, vendor, kind, model, bytes, slice_ids, slice_kinds, slice_cores) VALUES
		('n1', %[1]s, 'accelerator', 'd1', 'd1', '', %[1]s, 'nvidia', 'gpu', 'H100', 80, [], [], []),
		('n1', %[1]s, 'accelerator', 'd2', 'd2', '', %[1]s, 'nvidia', 'gpu', 'H100', 80, [], [], []),
		('n2', %[1]s, 'accelerator', 'm1', 'm1', '', %[1]s, 'nvidia', 'gpu', 'A100', 80, ['gi1', 'gi2'], ['mig_gpu', 'mig_gpu'], [3, 3]),
		('n3', %[1]s, 'accelerator', 's1', 's1', '0000:17:00.0', %[1]s, 'nvidia', 'gpu', 'L4', 24, [], [], [])`, when(-7200)))
	devicesOf(t, db)
	came(t, db, 0, floorTasks()...) // the same twice: a replay
	came(t, db, 0, floorTasks()...)
	mustExec(t, db, fmt.Sprintf(`INSERT INTO {db}.sla_events (cluster, task, kind, breached, tick, known, promised, measured, state, tenant, queue, type, node, queue_length, node_tasks, node_cpu_busy)
		VALUES ('', 'a', 'queue_time', %s, %[2]s, %[2]s, 60, 120, 'submitted', 'acme', 'gold', 'training', 'n1', 3, 2, 0.75)`, when(-1860), when(-1850)))
}

func devicesOf(t *testing.T, db *DB) {
	t.Helper()
	for range 2 { // a replay leaves one row
		does(t, db, "n1", "d1", -3600, -1800, "busy_ratio, power_watts", "0, 50")
		does(t, db, "n1", "d1", -1800, 600, "busy_ratio, power_watts, memory_bandwidth_ratio", "0.8, 300, 0.7")
		does(t, db, "n1", "d1", 600, 2400, "busy_ratio, power_watts, power_headroom_ratio", "0, 50, if(number < 6, 0.01, 0.9)")
		does(t, db, "n1", "d2", 0, 3600, "busy_ratio, power_watts", "0.1, 100")
		does(t, db, "n2", "m1", 0, 3600, "busy_ratio", "0.25")
		does(t, db, "n3", "pci:0000:17:00.0", 0, 3600, "busy_ratio, health, temperature_celsius", "1, if(number < 30, 0, 1), 60 + number % 7")
		// 60 kJ, then the driver is loaded anew: 1 kJ, 30 kJ.
		reads(t, db, 1<<48|1, "n1", "accel_energy_joules_total", "{'device': 'd1'}", -10, 0, "5000")
		mustExec(t, db, fmt.Sprintf("INSERT INTO {db}.samples (series, ts, value, flags) VALUES (%d, %s, 65000, 0), (%[1]d, %[3]s, 1000, 0), (%[1]d, %[4]s, 31000, 0)",
			1<<48|1, when(600), when(1200), when(1800)))
		reads(t, db, 2<<48|1, "n2", "accel_owner_info", "{'device': 'm1', 'slice': '1', 'namespace': 'team-x', 'pod': 'p1', 'simulated': 'true'}", 0, 3600, "1")
		reads(t, db, 2<<48|2, "n2", "accel_owner_info", "{'device': 'm1', 'slice': '2', 'namespace': 'team-y', 'pod': 'p2', 'simulated': 'true'}", 0, 1800, "1")
		reads(t, db, 2<<48|3, "n2", "accel_engine_active_ratio", "{'device': 'm1', 'slice': '1', 'simulated': 'true'}", 0, 3600, "0.5")
		reads(t, db, 3<<48|1, "n3", "accel_fault_events", "{'device': 'pci:0000:17:00.0', 'code': '79'}", 100, 120, "2")
	}
}

func floorTasks() []*schema.Event {
	return []*schema.Event{
		// a waits 120 s of the 60 that were promised, and spans midnight.
		event("a", schema.Submitted, -1920, of("acme", "gold"), promised(60, 0), asked(4, 1)),
		event("a", schema.Scheduled, -1800, on("n1", "d1")), event("a", schema.Started, -1790), event("a", schema.Finished, 1200),
		event("b", schema.Submitted, -20, of("x", "silver"), promised(100, 0), pod("team-x", "p1")),
		event("b", schema.Scheduled, 0, on("n2", "m1")), event("b", schema.Started, 0),
		event("c", schema.Submitted, -100, of("acme", "gold")), event("c", schema.Started, -50, on("n3", "s1")),
		event("d", schema.Submitted, -100, of("zeta", "gold")), event("d", schema.Started, -50, on("n3", "s1")),
		// e keeps its deadline, f and g break their promises.
		event("e", schema.Submitted, 0, of("acme", "gold"), promised(0, 600)), event("e", schema.Started, 10, on("n1")), event("e", schema.Finished, 300),
		event("f", schema.Submitted, 0, of("acme", "gold"), promised(0, 600)), event("f", schema.Started, 20, on("n1")), event("f", schema.Failed, 900),
		event("g", schema.Submitted, 60, of("zeta", "silver"), promised(30, 0)),
	}
}

// rolled computes both hours.
func rolled(t *testing.T, db *DB) {
	t.Helper()
	for _, start := range []int64{midnight - hour, midnight} {
		if err := db.NewRollupStore().Roll(t.Context(), rollup.HourAt(start, time.UnixMilli(midnight+2*hour), time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
}

// both is the two hours, as the arguments of a view.
const both = "(from = '{d0} 23:00:00', to = '{d1} 01:00:00')"

// wantRows compares rows, cells between commas, numbers to six digits, {d0} and {d1} the two days.
func wantRows(t *testing.T, db *DB, columns, from string, want ...string) {
	t.Helper()
	var cells []string
	for _, c := range strings.Split(columns, "; ") {
		if n, ok := strings.CutPrefix(c, "n:"); ok {
			c = "round(" + n + ", 6)"
		}
		cells = append(cells, "ifNull(toString("+c+"), '-')")
	}
	got := strings.Join(text(t, db, strings.Join(cells, ", "), "{db}."+dates.Replace(from)), "\n")
	if lines := strings.ReplaceAll(dates.Replace(strings.Join(want, "\n")), ", ", " "); got != lines {
		t.Errorf("%s of %s:\n%s\nwant\n%s", columns, from, got, lines)
	}
}

func TestRollDevices(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	floor(t, db)
	rolled(t, db)
	rolled(t, db) // an hour that is computed again replaces itself
	// d1 has no rows after 40 min: 20 min are not known, which is not idle. a holds it for 20 min
	// of the second hour, and lets it idle for 10. d2 is free while a holds d1: stranded for 20.
	wantRows(t, db, "device; n:capacity_hours; n:observed_hours; n:unknown_hours; n:used_hours; n:allocated_hours; n:idle_allocated_hours; n:free_hours; n:stranded_hours",
		"device_hours WHERE hour = '{d1} 00:00:00' ORDER BY device",
		"d1, 1, 0.666667, 0.333333, 0.133333, 0.333333, 0.166667, 0.333333, 0",
		"d2, 1, 1, 0, 0.1, 0, 0, 1, 0.333333",
		// 3/7 for an hour and 3/7 for half of it; while it is held in part, the rest is stranded.
		"m1, 1, 1, 0, 0.25, 0.642857, 0, 0.357143, 0.357143",
		"s1, 1, 1, 0, 1, 1, 0, 0, 0")
	wantRows(t, db, "device; cluster; node_group; vendor; model; simulated", "device_hours WHERE hour = '{d1} 00:00:00' ORDER BY device",
		"d1, east, ga, nvidia, H100, 0", "d2, east, ga, nvidia, H100, 0", "m1, default, gb, nvidia, A100, 1", "s1, default, , nvidia, L4, 0")
	// 91 kJ by the counter, across its reset; 100 W for an hour without one; nothing is not 0.
	wantRows(t, db, "device; n:energy_kwh; energy_from; n:memory_bound_hours; n:power_capped_hours; faults; n:unhealthy_hours; temperature_max_celsius",
		"device_hours WHERE hour = '{d1} 00:00:00' ORDER BY device",
		"d1, 0.025278, counter, 0.166667, 0.016667, 0, 0, -",
		"d2, 0.1, power, 0, 0, 0, 0, -",
		"m1, -, , 0, 0, 0, 0, -",
		"s1, -, , 0, 0, 4, 0.083333, 66")
	wantRows(t, db, "n:capacity_hours; n:used_hours; n:allocated_hours", "device_hours WHERE hour = '{d0} 23:00:00' AND device = 'd1'", "1, 0.4, 0.5")
	// One run of each hour counts, and the sweep leaves no other.
	wantRows(t, db, "count(); uniqExact(run)", "rolled_hours FINAL", "2, 2")
	mustExec(t, db, "OPTIMIZE TABLE {db}.rolled_devices FINAL")
}

func TestUtilization(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	floor(t, db)
	rolled(t, db)
	second := "(from = '{d1} 00:00:00', to = '{d1} 01:00:00')"
	// By tenant; nobody's is what was not held. p2 is known by its pod alone.
	wantRows(t, db, "tenant; n:sum(capacity_hours); n:sum(used_hours); n:sum(idle_allocated_hours); n:sum(stranded_hours)",
		"utilization"+second+" GROUP BY tenant ORDER BY tenant",
		// d1 40 min free, d2 an hour, m1 1 - 9/14; d2 is busy without a tenant.
		", 2.02381, 0.1, 0, 0.690476",
		"acme, 0.833333, 0.633333, 0.166667, 0", // 20 min of d1, half of s1
		"team-y, 0.214286, 0.053571, 0, 0",      // 3/7 of half an hour, 25 % busy
		"x, 0.428571, 0.214286, 0, 0",           // 3/7 of an hour, 50 % busy by its own reading
		"zeta, 0.5, 0.5, 0, 0")
	wantRows(t, db, "n:sum(capacity_hours)", "utilization"+both, "8") // four devices, two hours: nothing is lost or twice
	wantRows(t, db, "simulated; n:sum(capacity_hours)", "utilization"+second+" WHERE simulated GROUP BY simulated", "1, 1")
	wantRows(t, db, "queue; task; n:capacity_hours", "utilization"+second+" WHERE node = 'n2' AND task != '' ORDER BY task", "silver, b, 0.428571", ", team-y/p2, 0.214286")
	// The counter's 91 kJ go with the power: a drew 300 W and 50 W for 10 min each, nobody 50 W for 20.
	wantRows(t, db, "tenant; n:energy_kwh", "utilization"+second+" WHERE device = 'd1' ORDER BY tenant", ", 0.005617", "acme, 0.01966")
	mustExec(t, db, dates.Replace(`INSERT INTO {db}.prices (item, vendor, model, valid_from, price, currency) VALUES ('device_hour', '', '', '2025-01-01 00:00:00', 1, 'EUR'),
		('device_hour', 'nvidia', 'H100', '2025-01-01 00:00:00', 4, 'EUR'), ('device_hour', 'nvidia', 'H100', '{d1} 00:00:00', 6, 'EUR'), ('kwh', '', '', '2025-01-01 00:00:00', 0.5, 'EUR')`))
	// H100: 2 h at 4, then 2 h at 6, a sixth of an hour of it idle; the others 4 h at 1.
	wantRows(t, db, "model; n:sum(device_cost); n:sum(idle_cost); n:sum(energy_cost); any(currency)", "utilization_costs"+both+" GROUP BY model ORDER BY model",
		"A100, 2, 0, -, EUR", fmt.Sprintf("H100, 20, %.6f, %.6f, EUR", (2+0.019660/2)/2, 0.5*(0.025278+0.1+(0.5*50+0.5*300)/1000)), "L4, 2, 0, -, EUR")
}

func TestPromises(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	floor(t, db)
	rolled(t, db)
	wantRows(t, db, "time; cause; tenant; queue; task; node; measured_seconds; node_tasks; node_cpu_busy_ratio", "sla_violations"+both+" ORDER BY time",
		"{d0} 23:29:00.000, queue_time, acme, gold, a, n1, 120, 2, 0.75", "{d1} 00:15:00.000, failed, acme, gold, f, n1, -, -, -")
	wantRows(t, db, "hour; task; n:wait_hours; n:bound_hours; placed; ended; n:queue_seconds; n:run_seconds; n:total_seconds", "task_hours WHERE task IN ('a', 'g') ORDER BY hour, task",
		"{d0} 23:00:00, a, 0.033333, 0.5, 1, 0, 120, -, -",
		"{d1} 00:00:00, a, 0, 0.333333, 0, 1, 120, 2990, 3120",
		"{d1} 00:00:00, g, 0.983333, 0, 0, 0, -, -, -")
	mustExec(t, db, "INSERT INTO {db}.slo_targets (tenant, queue, valid_from, target) VALUES ('', '', '2025-01-01 00:00:00', 0.9), ('acme', '', '2025-01-01 00:00:00', 0.75)")
	// acme: a broke its wait; of two deadlines f's is broken, budget half a promise, so it is overdrawn.
	wantRows(t, db, "tenant; queue; promise; decided; broken; target_ratio; n:budget_left_ratio; n:burn_rate; n:burn_1h", "error_budgets"+both+" ORDER BY tenant, promise",
		"acme, gold, deadline, 2, 1, 0.75, -1, 2, 2", "acme, gold, queue_time, 1, 1, 0.75, -3, 4, -",
		"x, silver, queue_time, 1, 0, 0.9, 1, 0, 0", "zeta, silver, queue_time, 1, 1, 0.9, -9, 10, 10")
}

// What comes late is in after the hour is computed again, and only then.
func TestLateRows(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	floor(t, db)
	s := db.NewRollupStore()
	now := midnight + 2*hour
	cfg := rollup.Defaults()
	cfg.Now, cfg.Check = func() time.Time { return time.UnixMilli(now) }, 0
	round := func() {
		t.Helper()
		if err := rollup.Round(t.Context(), s, cfg); err != nil {
			t.Fatal(err)
		}
	}
	round()
	d1 := "device_hours WHERE hour = '{d1} 00:00:00' AND device = 'd1'"
	wantRows(t, db, "n:observed_hours; n:used_hours", d1, "0.666667, 0.133333")
	before := text(t, db, "toString(run)", "{db}.rolled_hours FINAL WHERE closed ORDER BY hour")
	round()
	if after := text(t, db, "toString(run)", "{db}.rolled_hours FINAL WHERE closed ORDER BY hour"); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("nothing came, and yet runs %v became %v", before, after)
	}
	// A repair fills the gap of d1: 20 min at full load, known an hour later.
	mustExec(t, db, fmt.Sprintf(`INSERT INTO {db}.features_device_monitoring_v1_corrected (node, uid, tick, known, busy_ratio)
		SELECT 'n1', 'd1', %s + toIntervalSecond(10 * (number + 1)), %s, 1 FROM numbers(120)`, when(2400), when(7200)))
	round()
	wantRows(t, db, "n:observed_hours; n:used_hours", d1, "1, 0.466667")
}

// CPUs: a asks for 4 cores of n1 for 20 min of the hour, which are busy at a quarter for the 30 min
// that are known.
func TestRollNodes(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	floor(t, db)
	mustExec(t, db, fmt.Sprintf(`INSERT INTO {db}.features_node_monitoring_v1 (node, tick, known, cpu_utilization_30s, memory_used_ratio)
		SELECT 'n1', %s + toIntervalSecond(10 * (number + 1)) AS tick, tick, 0.25, 0.5 FROM numbers(180)`, when(0)))
	rolled(t, db)
	wantRows(t, db, "node; n:core_hours; n:observed_core_hours; n:used_core_hours; n:allocated_core_hours; n:gib_hours; n:used_gib_hours", "node_hours WHERE hour = '{d1} 00:00:00' ORDER BY node",
		"n1, 16, 8, 2, 1.333333, 1, 0.25", "n2, 16, 0, 0, 0, 1, 0", "n3, 16, 0, 0, 0, 1, 0")
}
