package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/features"
	"sextant/pipeline/derive"
	"sextant/schema/quality"
	schema "sextant/schema/sql"
)

// Limits of one query of a view of SQL, so that one that grew out of hand harms neither
// the store nor the process that takes its rows.
const (
	deriveSeconds = 30
	deriveMemory  = 4 << 30 // bytes, in the store
	deriveRows    = 5_000_000
	carryTimeout  = 30 * time.Minute
)

// taskLogDays is how many days of task_log are kept: how far back a view that reads
// tasks_at can be filled.
const taskLogDays = 35

// DeriveStore evaluates views of SQL, and those that look back further than the stream. It is a
// derive.Store.
type DeriveStore struct {
	db     *DB
	outage outage
	tasks  taskSnapshots
	long   *longViews

	mu      sync.Mutex
	carried map[int64]bool // guarded by mu: days, in unix ms, that task_log has whole
}

// NewDeriveStore returns the store of views that the store computes. It has nothing to close: what it leaves in
// task_snapshots goes within an hour.
func (db *DB) NewDeriveStore() *DeriveStore {
	return &DeriveStore{db: db, outage: outage{log: db.log}, tasks: taskSnapshots{db: db}, long: newLongViews(db), carried: map[int64]bool{}}
}

// Anew makes panes that were there before again, when a tick reads them: samples may have been
// stored again since.
func (s *DeriveStore) Anew() *DeriveStore {
	s.long.since = time.Now().UnixMilli()
	return s
}

// sqlOf is the query of a view for this installation, over the snapshot of the tasks. Times
// are in UTC, whatever zone the server lives in.
func (n names) sqlOf(v *features.View) string {
	all := "SELECT * FROM " + n.Table("task_snapshots") + " WHERE run = {run:UInt64}"
	return strings.NewReplacer(features.SQLDatabase, n.DB(), features.SQLTasks, "("+all+" AND counted)", features.SQLAllTasks, "("+all+")",
		features.SQLTick, "{tick:DateTime64(3, 'UTC')}", features.SQLKnown, "{known:DateTime64(3, 'UTC')}").Replace(v.SQL)
}

func parameterTime(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000")
}

// question carries the times and the limits of a query.
func (db *DB) question(ctx context.Context, at derive.At, run uint64) context.Context {
	return db.asking(ctx, at, run, ch.Settings{})
}

func (db *DB) asking(ctx context.Context, at derive.At, run uint64, settings ch.Settings) context.Context {
	settings["max_execution_time"] = deriveSeconds
	settings["max_memory_usage"] = deriveMemory
	settings["max_result_rows"] = deriveRows
	if db.cfg.Cluster != "" {
		settings["distributed_product_mode"] = "global"
	}
	return ch.Context(ctx, ch.WithSettings(settings),
		ch.WithParameters(ch.Parameters{"tick": parameterTime(at.Tick), "known": parameterTime(at.Known), "run": strconv.FormatUint(run, 10)}))
}

// reading is question for text that comes from a definition: what it says can neither write nor
// change a setting, whatever is in it. The limits hold for it, and what it may name is
// up to the rights of the user.
func (db *DB) reading(ctx context.Context, at derive.At, run uint64) context.Context {
	return db.asking(ctx, at, run, ch.Settings{"readonly": 1})
}

// Derive evaluates v at a tick; its query, if it has one, after Prepare.
func (s *DeriveStore) Derive(ctx context.Context, v *features.View, at derive.At) (*features.Rows, error) {
	if v.Long {
		rows, err := s.long.derive(ctx, v, at)
		if err != nil {
			return nil, fmt.Errorf("evaluate %s: %w", v.Ref(), err)
		}
		return rows, nil
	}
	run := s.tasks.run(at)
	ctx, cancel := context.WithTimeout(ctx, 2*deriveSeconds*time.Second)
	defer cancel()
	var columns []string
	for _, k := range v.Keys {
		columns = append(columns, "toString("+ident(k)+")")
	}
	columns = append(columns, fmt.Sprintf("toInt64(%d)", at.Tick), fmt.Sprintf("toInt64(%d)", at.Known), "toUInt16(0)")
	for _, c := range (viewData{v: v}).Columns() {
		columns = append(columns, c.Read())
	}
	text := "SELECT " + strings.Join(columns, ", ") + " FROM (\n" + s.db.names.sqlOf(v) + "\n)"
	rows, err := s.db.conn.Query(s.db.reading(ctx, at, run), text)
	if err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", v.Ref(), err)
	}
	defer rows.Close()
	out, err := scanRows(rows, v)
	if err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", v.Ref(), err)
	}
	out.Flags = nil // they are of samples, and these rows are of more than one entity's
	return out, nil
}

// WriteDerived makes rows durable: the same rows of the same tick are one insert, however
// often they come.
func (s *DeriveStore) WriteDerived(ctx context.Context, r *features.Rows, at derive.At) error {
	if r.Origin == features.Backfill {
		if err := s.db.changes.tell(ctx, r); err != nil {
			return err
		}
	}
	if len(r.Tick) > 0 {
		st := partOf(r).step(fmt.Sprintf("%s/%d", r.View.Ref(), at.Tick))
		if err := s.insert(ctx, &st); err != nil {
			return err
		}
	}
	faults := faultsOf(r, at.Tick, "sql")
	if len(faults) == 0 {
		return nil
	}
	h := newHasher()
	hashFaults(h, faults)
	return s.insert(ctx, &step{table: faultsTable, rows: len(faults), token: token(faultsTable.name, r.View.Ref(), h.sum()), append: func(w *columnWriter) { appendFaults(w, faults) }})
}

func (s *DeriveStore) insert(ctx context.Context, st *step) error {
	if err := s.db.insertUntil(ctx, st, &s.outage); err != nil {
		return fmt.Errorf("%d rows to %s: %w", st.rows, st.table.name, err)
	}
	return nil
}

// Prepare carries the living tasks into the day of the tick, once, and takes a snapshot of
// the tasks, which all views of the tick share.
func (s *DeriveStore) Prepare(ctx context.Context, at derive.At) error {
	if err := s.carryOnce(ctx, dayOf(at.Known)); err != nil {
		return err
	}
	return s.tasks.make(ctx, at)
}

// Release lets go of the snapshot of Prepare.
func (s *DeriveStore) Release(ctx context.Context, at derive.At) error {
	return s.tasks.release(ctx, at)
}

// Flush drops all snapshots that were let go of.
func (s *DeriveStore) Flush(ctx context.Context) error { return s.tasks.drop(ctx, 0) }

// carryOnce makes task_log whole for a day, unix ms.
func (s *DeriveStore) carryOnce(ctx context.Context, day int64) error {
	s.mu.Lock()
	done := s.carried[day]
	s.mu.Unlock()
	if done {
		return nil
	}
	var n uint64
	if err := s.db.conn.QueryRow(ctx, "SELECT count() FROM "+s.db.names.Table("derived_ticks")+" WHERE view = 'task_log' AND tick = fromUnixTimestamp64Milli(toInt64(?), 'UTC')", day).Scan(&n); err != nil {
		return fmt.Errorf("days of task_log: %w", err)
	}
	if n == 0 {
		if err := s.carry(ctx, day); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.carried[day] = true
	return nil
}

func (s *DeriveStore) carry(ctx context.Context, day int64) error {
	text, err := renderFile(schema.Files, "queries/task_log_carry.sql", s.db.names)
	if err != nil {
		return err
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, carryTimeout)
	defer cancel()
	asked := ch.Context(ctx, ch.WithSettings(ch.Settings{"max_memory_usage": deriveMemory}),
		ch.WithParameters(ch.Parameters{"day": time.UnixMilli(day).UTC().Format(time.DateOnly)}))
	if err := s.db.conn.Exec(asked, text); err != nil {
		return fmt.Errorf("carry living tasks to %s: %w", time.UnixMilli(day).UTC().Format(time.DateOnly), err)
	}
	s.db.log.Info("living tasks carried to the day", "day", time.UnixMilli(day).UTC().Format(time.DateOnly), "took", time.Since(start))
	return s.Done(ctx, "task_log", derive.At{Tick: day, Known: day}, 0)
}

// Breaches keeps what the query of broken promises gives. At most ticks nothing new is broken,
// which costs one question.
func (s *DeriveStore) Breaches(ctx context.Context, at derive.At) (int, error) {
	asked, cancel := context.WithTimeout(s.db.question(ctx, at, s.tasks.run(at)), 2*deriveSeconds*time.Second)
	defer cancel()
	data, err := s.breachData(ctx)
	if err != nil {
		return 0, err
	}
	var fresh uint64
	if err := s.db.conn.QueryRow(asked, "WITH "+data.Broken+" SELECT count() FROM fresh").Scan(&fresh); err != nil {
		return 0, fmt.Errorf("find breaches: %w", err)
	}
	if fresh == 0 {
		return 0, nil
	}
	text, err := renderFile(schema.Files, "queries/sla_breaches.sql", data)
	if err != nil {
		return 0, err
	}
	if err := s.db.conn.Exec(asked, text); err != nil {
		return 0, fmt.Errorf("find breaches: %w", err)
	}
	return int(fresh), nil
}

// breachData is what the queries of broken promises are filled with.
type breachData struct {
	names
	views  uint64
	Broken string // queries/sla_broken.sql
}

func (s *DeriveStore) breachData(ctx context.Context) (d breachData, err error) {
	d.names = s.db.names
	if err := s.db.conn.QueryRow(ctx, "SELECT count() FROM system.tables WHERE database = ? AND name = 'node_monitoring'", s.db.cfg.Database).Scan(&d.views); err != nil {
		return d, fmt.Errorf("find breaches: %w", err)
	}
	d.Broken, err = renderFile(schema.Files, "queries/sla_broken.sql", d)
	return d, err
}

// Monitored says whether the store has the view node_monitoring, whose features tell how
// busy a node was.
func (d breachData) Monitored() bool { return d.views > 0 }

// Unfit is the flags of samples that tell nothing of how a task or a device did: those
// without a value to reckon with, and those that were not there when the tick closed.
func (breachData) Unfit() uint16 { return quality.Unusable | quality.Late }

// Progress gives the ticks of each job, those since a time one by one.
func (s *DeriveStore) Progress(ctx context.Context, since int64) (map[string]derive.Done, error) {
	rows, err := s.db.conn.Query(ctx, "SELECT view, toUnixTimestamp64Milli(min(tick)), toUnixTimestamp64Milli(max(tick)),"+
		" groupUniqArrayIf(toUnixTimestamp64Milli(tick), tick >= fromUnixTimestamp64Milli(toInt64(?), 'UTC')) FROM "+s.db.names.Table("derived_ticks")+" GROUP BY view", since)
	if err != nil {
		return nil, fmt.Errorf("read derived_ticks: %w", err)
	}
	defer rows.Close()
	out := map[string]derive.Done{}
	for rows.Next() {
		var job string
		var d derive.Done
		if err := rows.Scan(&job, &d.First, &d.Last, &d.Ticks); err != nil {
			return nil, fmt.Errorf("read derived_ticks: %w", err)
		}
		out[job] = d
	}
	return out, rows.Err()
}

var derivedTable = &table{"derived_ticks", columns("view", "String", "tick", timestamp, "known", timestamp, "rows", "UInt64")}

// Done notes that a job has all rows of the tick.
func (s *DeriveStore) Done(ctx context.Context, job string, at derive.At, rows int) error {
	return s.insert(ctx, &step{table: derivedTable, rows: 1, token: token(derivedTable.name, fmt.Sprintf("%s/%d/%d", job, at.Tick, at.Known), uint64(rows)),
		append: func(w *columnWriter) {
			w.add([]string{job})
			w.add([]int64{at.Tick})
			w.add([]int64{at.Known})
			w.add([]uint64{uint64(rows)})
		}})
}

// checkSQL asks the server what columns the query of v has, and wants those of the view.
// Their order and width do not matter; a number for a number does.
func (db *DB) checkSQL(ctx context.Context, v *features.View) error {
	rows, err := db.conn.Query(db.reading(ctx, derive.At{}, 0), "DESCRIBE TABLE (\n"+db.names.sqlOf(v)+"\n)")
	if err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	defer rows.Close()
	got := map[string]string{}
	for rows.Next() {
		var name, kind string
		rest := make([]any, len(rows.Columns())-2)
		for i := range rest {
			rest[i] = new(string)
		}
		if err := rows.Scan(append([]any{&name, &kind}, rest...)...); err != nil {
			return fmt.Errorf("sql: %w", err)
		}
		got[name] = kind
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	return checkColumns(v, got)
}

// checkColumns compares the columns of a query, by name, with those of the view.
func checkColumns(v *features.View, got map[string]string) error {
	var faults []string
	want := func(name, kind string) {
		t, ok := got[name]
		switch delete(got, name); {
		case !ok:
			faults = append(faults, name+" is missing")
		case kindOfColumn(t) != kind:
			faults = append(faults, fmt.Sprintf("%s is a %s: want a %s", name, t, kind))
		}
	}
	for _, k := range v.Keys {
		want(k, "string")
	}
	for i := range v.Features {
		kind := "number"
		if v.Features[i].DType == features.String {
			kind = "string"
		}
		want(v.Features[i].Name, kind)
	}
	for name := range got {
		faults = append(faults, name+" is no key or feature of the view")
	}
	if len(faults) == 0 {
		return nil
	}
	slices.Sort(faults)
	return fmt.Errorf("sql: %s", strings.Join(faults, "; "))
}

// kindOfColumn is "string", "number" or the type itself.
func kindOfColumn(t string) string {
	for _, wrap := range []string{"LowCardinality(", "Nullable("} {
		if inner, ok := strings.CutPrefix(t, wrap); ok {
			t = strings.TrimSuffix(inner, ")")
		}
	}
	switch {
	case t == "String":
		return "string"
	case strings.HasPrefix(t, "Int"), strings.HasPrefix(t, "UInt"), strings.HasPrefix(t, "Float"), t == "Bool":
		return "number"
	}
	return t
}
