package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sextant/features"
	"sextant/pipeline/backfill"
	"sextant/pipeline/derive"
	schema "sextant/schema/tasks"
)

// spanningStore is what the command gives a backfill of a view of SQL.
type spanningStore struct {
	*DeriveStore
	db *DB
}

func (s spanningStore) RowsBetween(ctx context.Context, v *features.View, from, to int64) (*features.Rows, error) {
	return s.db.RowsBetween(ctx, v, from, to)
}

// TestBackfillOfAViewOfSQL: a backfill that is stopped goes on where it was, several segments at
// once, and its rows are those that were computed live; what is there stays.
func TestBackfillOfAViewOfSQL(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	ctx, v := t.Context(), builtinView(t, "queue_business")
	came(t, db, 5, happened("a", schema.Submitted, 0, of("acme", "gold"), asked(4, 1)))
	came(t, db, 45, happened("a", schema.Started, 30, on("n1")), happened("b", schema.Submitted, 20, of("acme", "gold"), asked(2, 1)))
	came(t, db, 95, happened("b", schema.Started, 70, on("n1")), happened("c", schema.Submitted, 80, of("zeta", "lead"), asked(1, 0)))
	schedule := derive.Schedule{Delay: 10 * time.Second}
	var live []string
	for tick := int64(10); tick < 130; tick += 10 {
		rows := derived(t, db, v.Name, schedule.At(t0+tick*1000))
		if tick == 60 { // the stream computed it
			if err := db.NewDeriveStore().WriteDerived(ctx, rows, schedule.At(t0+tick*1000)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range rows.Tick {
			live = append(live, fmt.Sprint(rows.Tick[i], rows.Keys[0][i], rows.Cols[0].Num[i], rows.Cols[1].Num[i]))
		}
	}
	slices.Sort(live)

	left := text(t, db, "toString(uniqExact(run))", "{db}.task_snapshots")
	notes := db.NewBackfillStore(newSink(t, db))
	store := spanningStore{db.NewDeriveStore(), db}
	cfg := backfill.StoreConfig{View: v, Schedule: schedule, Job: "test", From: t0 + 1000, To: t0 + 125_000, Segment: 30 * time.Second}
	stopped, stop := context.WithCancelCause(ctx)
	enough := errors.New("enough")
	cfg.Moved = func(p backfill.Progress) {
		if p.Done == 7 {
			stop(enough)
		}
	}
	if p, err := backfill.RunStore(stopped, store, notes, cfg); !errors.Is(err, enough) || p.Done != 7 || p.Ticks != 12 {
		t.Fatalf("%+v, %v", p, err)
	}
	made := 0
	cfg.Parallel, cfg.Moved = 3, func(p backfill.Progress) { made = max(made, p.Rows) }
	p, err := backfill.RunStore(ctx, store, notes, cfg)
	if err != nil || p.Done != p.Ticks || p.Differ != 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	if n := len(live); made >= n-4 || p.Stored == 0 {
		t.Errorf("%d of %d rows were computed again, %d stored: two segments were done", made, n, p.Stored)
	}
	rows, err := db.RowsBetween(ctx, v, t0, t0+1000_000)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range rows.Tick {
		got = append(got, fmt.Sprint(rows.Tick[i], rows.Keys[0][i], rows.Cols[0].Num[i], rows.Cols[1].Num[i]))
	}
	slices.Sort(got)
	if !slices.Equal(got, live) || len(got) < 15 {
		t.Errorf("%q\nlive\n%q", got, live)
	}
	if got := text(t, db, "toString(uniqExact(tick))", "{db}.queue_business WHERE origin = 'live'"); got[0] != "1" {
		t.Errorf("%s ticks are live ones, want 1: what is there stays", got)
	}
	if got := text(t, db, "toString(uniqExact(run))", "{db}.task_snapshots"); got[0] != left[0] {
		t.Errorf("%s snapshots are left, were %s", got, left)
	}
}

// Ticks and broken promises do not stay for ever.
func TestDerivedTablesExpire(t *testing.T) {
	db := openDB(t)
	for table, want := range map[string]string{
		"derived_ticks": "toDateTime(tick) + toIntervalDay(400)", "sla_events": "toDateTime(breached) + toIntervalDay(400)", "task_snapshots": "made + toIntervalHour(1)",
	} {
		if got := text(t, db, "extract(engine_full, 'TTL (.*) SETTINGS')", "system.tables WHERE database = '"+db.cfg.Database+"' AND name = '"+table+"'"); got[0] != want {
			t.Errorf("%s: %q, want %q", table, got, want)
		}
	}
}

// A broken promise is looked up among those of the time of its task: older rows are not read.
func TestOldBreachesAreNotRead(t *testing.T) {
	db := openDB(t)
	mustExec(t, db, `INSERT INTO {db}.sla_events (cluster, task, kind, breached, tick, known) SELECT 'c', concat('old', toString(number)), 'deadline', now() - INTERVAL 200 DAY + number, now(), now() FROM numbers(200000)`)
	came(t, db, 5, happened("a", schema.Submitted, 0, of("acme", "gold"), func(e *schema.Event) { e.SLO.MaxQueue = 5 }))
	s := db.NewDeriveStore()
	for _, c := range []struct {
		tick  int64
		found int
	}{{20, 1}, {30, 0}} {
		if err := s.Prepare(t.Context(), at(c.tick)); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Breaches(t.Context(), at(c.tick)); err != nil || n != c.found {
			t.Fatalf("%d found at %d s, %v", n, c.tick, err)
		}
	}
	data, err := s.breachData(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.conn.Query(db.question(t.Context(), at(30), s.tasks.run(at(30))), "EXPLAIN indexes = 1 WITH "+data.Broken+" SELECT count() FROM fresh")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	in, parts := false, ""
	for rows.Next() && parts == "" {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		in = in || strings.Contains(line, ".sla_events")
		if _, n, ok := strings.Cut(line, "Parts: "); ok && in && strings.Contains(n, "/") {
			parts = strings.TrimSpace(n)
		}
	}
	if parts != "1/2" {
		t.Errorf("%q parts of sla_events are read, want one of two", parts)
	}
}
