package clickhouse

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/internal/report"
)

// askedOf is the answer to one question of a report over the hours of floor, as lines.
func askedOf(t *testing.T, db *DB, name, question string, a report.Ask) []string {
	t.Helper()
	a.From, a.To, a.Only = time.UnixMilli(midnight-hour).UTC(), time.UnixMilli(midnight+hour).UTC(), question
	if a.Top == 0 {
		a.Top = 20
	}
	i := slices.IndexFunc(report.Reports, func(r *report.Report) bool { return r.Name == name })
	r, err := report.Make(t.Context(), db, report.Reports[i], a, time.UnixMilli(midnight+2*hour))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, row := range r.Sections[0].Rows {
		var cells []string
		for i, v := range row {
			switch v := v.(type) {
			case nil:
				cells = append(cells, "-")
			case float64:
				cells = append(cells, fmt.Sprintf("%.4g", v))
			case time.Time:
				layout := "15:04"
				if r.Sections[0].Columns[i] == "day" {
					layout = time.DateOnly
				}
				cells = append(cells, v.Format(layout))
			default:
				cells = append(cells, fmt.Sprint(v))
			}
		}
		out = append(out, strings.Join(cells, " "))
	}
	return out
}

// The answers are reckoned by hand from floor; see TestRollDevices for how its hours come about.
func TestQuestions(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	floor(t, db)
	rolled(t, db)
	genuine := report.Filter{Dimension: "simulated", Values: []string{"0"}}
	for _, c := range []struct {
		report, question string
		ask              report.Ask
		want             []string
	}{
		// capacity unknown allocated used, allocated and used ratio, idle stranded fragmentation, memory-bound power-capped energy.
		// d1: 2 h, 20 min not known, held 30 + 20 min; d2: 2 h, of which nobody knows the first.
		{"utilization", "utilization", report.Ask{Where: []report.Filter{genuine}}, []string{
			"H100 4 1.333 0.8333 0.6333 0.2083 0.2375 0.1667 0.3333 0.1818 0.6667 0.01667 0.3003",
			"L4 2 1 1.014 1 0.5069 1 0 0 - 0 0 -"}}, // held for 50 s of the first hour, too
		{"utilization", "utilization", report.Ask{GroupBy: []string{"day", "vendor"}, Where: []report.Filter{{Dimension: "model", Values: []string{"H100", "it's \\ \t"}}}}, []string{
			dates.Replace("{d0} nvidia 2 1 0.5 0.4 0.25 0.4 0 0 0 0.5 0 0.175"), dates.Replace("{d1} nvidia 2 0.3333 0.3333 0.2333 0.1667 0.14 0.1667 0.3333 0.25 0.1667 0.01667 0.1253")}},
		{"utilization", "hours", report.Ask{Where: []report.Filter{{Dimension: "tenant", Values: []string{"acme"}}}}, []string{"23:00 0.5069 0.006944 0.5069 0.4 0", "00:00 0.8333 0 0.8333 0.6333 0.1667"}},
		{"sla", "violations", report.Ask{}, []string{"failed 1 1 - - - - - 0.14", "queue_time 1 1 60 3 2 0.75 - -"}},
		{"sla", "violations", report.Ask{GroupBy: []string{"tenant", "node"}}, []string{"acme n1 2 2 60 3 2 0.75 - 0.14"}},
		{"sla", "worst", report.Ask{Top: 1}, []string{"23:29 queue_time acme gold training a n1 60 120 3 2 0.75 - "}},
		// placed, waited p50 p95 p99; ended failed evictions; ran p50 p95, took p50 p95.
		{"sla", "times", report.Ask{}, []string{"gold 5 50 120 120 3 1 0 2990 2990 3120 3120", "silver 1 20 20 20 0 0 0 - - - -"}},
		{"waste", "waste", report.Ask{Where: []report.Filter{genuine}}, []string{"acme 1.34 1.033 0.1667 0.125 0 0", " 0 0.1 0 - 1.833 0.3333", "zeta 0.5069 0.5 0 0 0 0"}},
		{"waste", "idle_tasks", report.Ask{}, []string{"acme gold training a n1 H100 0.8333 0.1667 0.2 0.64"}},
		{"waste", "stranded", report.Ask{}, []string{"n2 A100 1 2 0.6429 0.3571 0.1786", "n1 H100 2 4 0.8333 0.3333 0.08333"}},
		{"health", "devices", report.Ask{GroupBy: []string{"model"}, Where: []report.Filter{genuine}}, []string{"L4 1 4 0 0 0.08333 1 0 66 -", "H100 2 0 0 0 0 1.333 0 - 300"}},
		{"health", "sick", report.Ask{}, []string{"n3 s1 L4 4 0 0 0.08333 0 66 00:00 00:00"}},
		{"health", "rollups", report.Ask{}, []string{"2 0 0 01:00 "}},
	} {
		got := askedOf(t, db, c.report, c.question, c.ask)
		lines, want := strings.Join(got, "\n"), strings.Join(c.want, "\n")
		if c.question == "rollups" {
			lines = lines[:len(want)] // when it was computed is now
		}
		if lines != want {
			t.Errorf("%s %s %+v:\n%s\nwant\n%s", c.report, c.question, c.ask, lines, want)
		}
	}
}

func TestRegressions(t *testing.T) {
	db := openDB(t)
	for week, busy := range map[int]int{-10: 1800, -3: 900} { // days ago, s of an hour
		at := fmt.Sprintf("toStartOfHour(now('UTC')) + toIntervalDay(%d)", week)
		mustExec(t, db, "INSERT INTO {db}.rolled_hours (hour, run, until, closed) SELECT "+at+", 1, now64(3), 1")
		mustExec(t, db, fmt.Sprintf("INSERT INTO {db}.rolled_devices (hour, run, node, device, model, capacity_seconds, observed_seconds, busy_seconds, faults) SELECT %s, 1, 'n', 'd', 'H100', 3600, 3600, %d, 1", at, busy))
		mustExec(t, db, fmt.Sprintf("INSERT INTO {db}.rolled_tasks (hour, run, task, queue, counted, placed, queue_seconds) SELECT %s, 1, toString(number), 'gold', 1, 1, %d FROM numbers(5)", at, 3600-busy))
		mustExec(t, db, fmt.Sprintf("INSERT INTO {db}.rolled_tasks (hour, run, task, queue, counted, placed, queue_seconds) SELECT %s, 1, 'x' || toString(number), 'few', 1, 1, %d FROM numbers(4)", at, busy))
	}
	got := strings.Join(text(t, db, "figure, value, before, after, change_ratio", "{db}.regressions(to = now64(3)) ORDER BY figure"), "\n")
	// Used half, then a quarter: 50 % worse. Waited 1800 s, then 2700 s: 50 % worse. Four tasks are too few.
	if want := "faults per device day H100 24 24 0\nqueue time p95 gold 1800 2700 0.5\nused ratio H100 0.5 0.25 0.5"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// month fills 30 days: 40 series with a sample every 30 s, and the hours of 50 devices and 200 tasks.
func month(t *testing.T, db *DB) (samples uint64) {
	t.Helper()
	mustExec(t, db, "INSERT INTO {db}.samples (series, ts, value, flags) SELECT number % 40, toStartOfDay(now('UTC')) - toIntervalSecond(30 * intDiv(number, 40)), number, 0 FROM numbers(40 * 29 * 2880)")
	hours := "toStartOfDay(now('UTC')) - toIntervalHour(h) AS hour, 1 AS run"
	mustExec(t, db, "INSERT INTO {db}.rolled_hours (hour, run, until, closed) SELECT "+hours+", hour + toIntervalHour(1), 1 FROM (SELECT number + 1 AS h FROM numbers(696))")
	from := " FROM (SELECT intDiv(number, 50) + 1 AS h, number % 50 AS i FROM numbers(50 * 696))"
	mustExec(t, db, "INSERT INTO {db}.rolled_devices (hour, run, node, device, model, vendor, capacity_seconds, observed_seconds, busy_seconds) SELECT "+hours+", 'n' || toString(intDiv(i, 8)), 'd' || toString(i), 'H100', 'nvidia', 3600, 3600, 1000"+from)
	mustExec(t, db, "INSERT INTO {db}.rolled_allocations (hour, run, node, device, task, tenant, share, allocated_seconds, observed_seconds, busy_seconds) SELECT "+hours+", 'n' || toString(intDiv(i, 8)), 'd' || toString(i), 't' || toString(i), 'acme', 1, 3600, 3600, 1000"+from)
	mustExec(t, db, "INSERT INTO {db}.rolled_nodes (hour, run, node, cores, capacity_seconds, observed_seconds) SELECT "+hours+", 'n' || toString(i), 16, 3600, 3600"+from+" WHERE i < 7")
	mustExec(t, db, "INSERT INTO {db}.rolled_tasks (hour, run, task, tenant, counted, placed, queue_seconds) SELECT "+hours+", 't' || toString(i), 'acme', 1, 1, 5"+from)
	one(t, db, "SELECT count() FROM {db}.samples", &samples)
	return samples
}

// A question about a day reads less than 2 % of the samples of a month: none of them, and few
// hours. Regressions are of two weeks.
func TestQuestionsReadLittle(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	samples := month(t, db)
	to := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -10)
	for _, r := range report.Reports {
		queries, err := r.Queries(report.Ask{From: to.AddDate(0, 0, -1), To: to, Top: 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			sql, params, err := db.ReportSQL(q)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := db.conn.Query(ch.Context(t.Context(), ch.WithParameters(params)), "SELECT table, rows FROM (EXPLAIN ESTIMATE "+sql+")")
			if err != nil {
				t.Errorf("%s %s: %v", r.Name, q.Name, err)
				continue
			}
			var read uint64
			for rows.Next() {
				var table string
				var n uint64
				if err := rows.Scan(&table, &n); err != nil {
					t.Fatal(err)
				}
				if table == "samples" {
					t.Errorf("%s %s reads %d samples", r.Name, q.Name, n)
				}
				read += n
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			share := float64(read) / float64(samples)
			t.Logf("%-12s %-12s reads %6d rows, %.3f %% of %d samples", r.Name, q.Name, read, 100*share, samples)
			days := 1.0
			if q.Name == "regressions" {
				days = 14
			}
			if share >= 0.02*days {
				t.Errorf("%s %s reads %.2f %%", r.Name, q.Name, 100*share)
			}
			if a, err := db.Ask(t.Context(), q); err != nil || q.Name == "utilization" && len(a.Rows) != 1 {
				t.Errorf("%s %s: %v, %v", r.Name, q.Name, a, err)
			}
		}
	}
}
