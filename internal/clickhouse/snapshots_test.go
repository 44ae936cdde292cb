package clickhouse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sextant/features"
	"sextant/pipeline/derive"
	schema "sextant/schema/tasks"
)

// snapshotColumns are those of task_snapshots that say something of a task.
const snapshotColumns = `toString(tuple(cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
	node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
	started, evicted, attempts, evictions, ended, waits, bound, waiting_since, queue_seconds, run_seconds, counted))`

// arrival is an event with the second at which the broker appended it, and the one from which it
// is in the store.
type arrival struct {
	event          *schema.Event
	ingest, stored int64
}

// careless is what a careless cluster says in 200 s after a second: states in any order, late, twice,
// with owners that are named before or after their own first event.
func careless(r *rand.Rand, from int64) (out []arrival) {
	states := []schema.State{schema.Updated, schema.Submitted, schema.Queued, schema.Scheduled, schema.Started, schema.Evicted, schema.Finished, schema.Failed, schema.Cancelled}
	kinds := []string{"", "", "pod", "job", "podgroup"}
	for i := range 200 {
		task := fmt.Sprintf("t%d", r.IntN(40))
		e := happened(task, states[r.IntN(len(states))], from+int64(r.IntN(200)), func(e *schema.Event) {
			e.ID, e.Kind, e.Sequence = fmt.Sprintf("%s/%d", task, i), kinds[r.IntN(len(kinds))], uint64(r.IntN(3))
		})
		for change, f := range map[int]func(*schema.Event){0: of("acme", fmt.Sprintf("q%d", r.IntN(3))), 1: asked(float64(r.IntN(8)+1), 1), 2: on(fmt.Sprintf("n%d", r.IntN(4)), "GPU-1"), 3: func(e *schema.Event) {
			e.Owners = []schema.Owner{{Kind: "Job", Name: "o", ID: fmt.Sprintf("t%d", r.IntN(60))}}
			e.SLO = schema.SLO{Deadline: e.Time + 100_000, MaxQueue: 30}
		}} {
			if r.IntN(4) == change {
				f(e)
			}
		}
		delays := []int64{0, 1, 7, 15, 90}
		came := (e.Time-t0)/1000 + delays[r.IntN(len(delays))]
		out = append(out, arrival{e, came, came + int64(r.IntN(3)*15)})
		if r.IntN(5) == 0 { // sent again
			again := came + int64(r.IntN(200))
			out = append(out, arrival{e, again, again})
		}
	}
	slices.SortStableFunc(out, func(a, b arrival) int { return int(a.stored - b.stored) })
	return out
}

// TestSnapshotsAreTheWholeFold: whatever a snapshot is made of, it is what tasks_at says.
func TestSnapshotsAreTheWholeFold(t *testing.T) {
	for seed, from := range []int64{1000, 86_300} { // the last goes over midnight
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			db := openDB(t)
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			events := careless(r, from)
			s := db.NewDeriveStore()
			made := 0
			for now := from; now < from+260; now += 10 {
				var due []*arrival
				for len(events) > 0 && events[0].stored <= now {
					due, events = append(due, &events[0]), events[1:]
				}
				for ingest, events := range byIngest(due) {
					came(t, db, ingest, events...)
				}
				ticks := []int64{now - 10}
				switch r.IntN(6) {
				case 0:
					continue // a tick is left out
				case 1:
					ticks = append(ticks, now-40) // and made up for, after a newer one
				}
				for _, tick := range ticks {
					at := derive.At{Tick: t0 + tick*1000, Known: t0 + tick*1000 + 10_000}
					if err := s.Prepare(t.Context(), at); err != nil {
						t.Fatal(err)
					}
					for _, x := range s.tasks.all {
						if x.at == at && x.whole != at.Tick {
							made++
						}
					}
					sameAsFold(t, db, s.tasks.run(at), at)
					if err := s.Release(t.Context(), at); err != nil {
						t.Fatal(err)
					}
				}
			}
			if made < 8 {
				t.Errorf("%d snapshots are made of others: that proves little", made)
			}
		})
	}
}

func byIngest(due []*arrival) map[int64][]*schema.Event {
	out := map[int64][]*schema.Event{}
	for _, a := range due {
		out[a.ingest] = append(out[a.ingest], a.event)
	}
	return out
}

func sameAsFold(t *testing.T, db *DB, run uint64, at derive.At) {
	t.Helper()
	got := text(t, db, snapshotColumns, fmt.Sprintf("{db}.task_snapshots WHERE run = %d ORDER BY task", run))
	want := text(t, db, snapshotColumns, fmt.Sprintf("{db}.tasks_at(tick = fromUnixTimestamp64Milli(%d, 'UTC'), known = fromUnixTimestamp64Milli(%d, 'UTC')) ORDER BY task", at.Tick, at.Known))
	for i := range want {
		if i < len(got) && got[i] != want[i] {
			t.Fatalf("tick %d s:\n%s\nwant\n%s", (at.Tick-t0)/1000, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("tick %d s: %d tasks, want %d", (at.Tick-t0)/1000, len(got), len(want))
	}
}

// Room is freed for many snapshots at once, and all of it at the end.
func TestSnapshotsAreDroppedInBatches(t *testing.T) {
	db := openDB(t)
	came(t, db, 5, happened("a", schema.Submitted, 0))
	s := db.NewDeriveStore()
	runs := func() (n uint64) {
		one(t, db, "SELECT uniqExact(run) FROM {db}.task_snapshots", &n)
		return n
	}
	most := uint64(0)
	for i := range int64(snapshotsAtOnce + 5) {
		if err := s.Prepare(t.Context(), at(20+10*i)); err != nil {
			t.Fatal(err)
		}
		most = max(most, runs())
		if err := s.Release(t.Context(), at(20+10*i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := runs(); most != snapshotsAtOnce || n != snapshotsKept+5 {
		t.Errorf("%d snapshots at most and %d at the end, want %d and %d", most, n, snapshotsAtOnce, snapshotsKept+5)
	}
	if err := s.Flush(t.Context()); err != nil || runs() != 0 {
		t.Errorf("%d snapshots are left, %v", runs(), err)
	}
}

// A snapshot whose rows are gone is not made use of twice.
func TestLostSnapshotIsMadeAnew(t *testing.T) {
	db := openDB(t)
	came(t, db, 5, happened("a", schema.Submitted, 0))
	s := db.NewDeriveStore()
	if err := s.Prepare(t.Context(), at(20)); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "RENAME TABLE {db}.task_snapshots TO {db}.elsewhere")
	if err := s.Prepare(t.Context(), at(30)); err == nil {
		t.Fatal("no snapshot could be taken")
	}
	mustExec(t, db, "RENAME TABLE {db}.elsewhere TO {db}.task_snapshots")
	mustExec(t, db, "TRUNCATE TABLE {db}.task_snapshots")
	if err := s.Prepare(t.Context(), at(30)); err != nil {
		t.Fatal(err)
	}
	sameAsFold(t, db, s.tasks.run(at(30)), at(30))
}

// What a definition says can neither write, nor read beside the store, nor take more than it may, even where
// the check of its text were not there.
func TestHostileViewIsHeld(t *testing.T) {
	db := openDB(t)
	came(t, db, 5, happened("a", schema.Submitted, 0))
	s := db.NewDeriveStore()
	if err := s.Prepare(t.Context(), at(20)); err != nil {
		t.Fatal(err)
	}
	const good = "SELECT 'a' AS node, toFloat64(getSetting('readonly')) AS busy FROM {tasks}"
	v := &features.View{Name: "hostile", Version: 1, Keys: []string{"node"}, Features: []features.Feature{{Name: "busy", DType: features.Float64}}, SQL: good}
	rows, err := s.Derive(t.Context(), v, at(20))
	if err != nil || len(rows.Tick) != 1 || rows.Cols[0].Num[0] != 1 {
		t.Fatalf("%+v, %v", rows, err)
	}
	mustExec(t, db, "CREATE TABLE {db}.prey (a UInt8) ENGINE = MergeTree ORDER BY a")
	const row = "SELECT 'a' AS node, 1 AS busy FROM "
	for _, c := range []struct{ sql, want string }{
		{row + "`file`('/etc/passwd', 'LineAsString')", "privileges"},
		{row + "url('http://127.0.0.1:1/', CSV, 'a UInt8')", "privileges"},
		{row + "remote('127.0.0.1:1', system.one)", "privileges"},
		{row + "executable('x', CSV, 'a UInt8')", "readonly mode"},
		{row + "dictionary('x')", "readonly mode"},
		{good + ") INTO OUTFILE '/tmp/stolen' --", "INTO OUTFILE"},
		{good + "); DROP TABLE {db}.prey; SELECT (1", "Multi-statements"},
		{good + ") SETTINGS readonly = 0 --", "Unmatched parentheses"},
		{"INSERT INTO {db}.prey SELECT 1", "Syntax error"},
		{"SELECT 'a' AS node, number AS busy FROM numbers(6000000) SETTINGS max_result_rows = 0, readonly = 0", "Limit for result"},
	} {
		v.SQL = c.sql
		if _, err := s.Derive(t.Context(), v, at(20)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.sql, err, c.want)
		}
		if err := db.checkSQL(t.Context(), v); err == nil && !strings.Contains(c.sql, "numbers") {
			t.Errorf("%s is let in force", c.sql)
		}
	}
	var n uint64
	one(t, db, "SELECT count() FROM {db}.prey", &n)
	if n != 0 {
		t.Errorf("%d rows were written", n)
	}
}
