package kube

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/internal/clickhouse"
	embedded "sextant/internal/embedded/clickhouse"
	"sextant/internal/fetch"
	"sextant/pipeline/kafka"
	pipenodes "sextant/pipeline/nodes"
	pipetasks "sextant/pipeline/tasks"
	"sextant/schema/tasks"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

// openStore is an empty store on the embedded engine.
func openStore(t *testing.T) *clickhouse.DB {
	t.Helper()
	lib, err := fetch.Chdb(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Library: lib})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	cfg := clickhouse.DefaultConfig()
	cfg.Addr, cfg.Protocol = []string{engine.Addr()}, "http"
	db, err := clickhouse.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// rowsOf decodes all that a topic holds, as the pipeline does.
func rowsOf[Row any](b *bench, topic string, decode func(*wire.Record) (Row, error)) (out []Row) {
	b.Helper()
	err := kafka.ReadAll(b.Context(), b.kafka, topic, func(r *wire.Record) error {
		row, err := decode(r)
		out = append(out, row)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// stored puts what the watchers said of tasks and nodes into a store.
func (b *bench) stored() *clickhouse.DB {
	b.Helper()
	db := openStore(b.T)
	if err := db.NewTaskSink().WriteTasks(b.Context(), rowsOf(b, topics.Tasks, pipetasks.Decode)); err != nil {
		b.Fatal(err)
	}
	if err := db.NewNodeSink().WriteNodes(b.Context(), rowsOf(b, topics.Nodes, pipenodes.Decode)); err != nil {
		b.Fatal(err)
	}
	return db
}

// folded is a task as the view tasks has it.
type folded struct {
	state tasks.State
	node  string
	times map[tasks.State]int64
}

func (b *bench) foldedInSQL(db *clickhouse.DB) map[string]folded {
	b.Helper()
	states := []tasks.State{tasks.Submitted, tasks.Queued, tasks.Scheduled, tasks.Started, tasks.Evicted, tasks.Cancelled, tasks.Failed, tasks.Finished}
	columns := ""
	for _, s := range states {
		columns += fmt.Sprintf(", ifNull(toUnixTimestamp64Milli(%s), 0)", s)
	}
	rows, err := db.Query(b.Context(), "SELECT task, state, node"+columns+" FROM {db}.tasks")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	out := map[string]folded{}
	for rows.Next() {
		var task, state, node string
		at := make([]int64, len(states))
		into := []any{&task, &state, &node}
		for i := range at {
			into = append(into, &at[i])
		}
		if err := rows.Scan(into...); err != nil {
			b.Fatal(err)
		}
		f := folded{tasks.State(state), node, map[tasks.State]int64{}}
		for i, s := range states {
			if at[i] != 0 {
				f.times[s] = at[i]
			}
		}
		out[task] = f
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return out
}

// checkSQL compares each task of the view tasks with what the test did to it, and with the
// naive fold of its events.
func (l *lives) checkSQL(db *clickhouse.DB) {
	l.Helper()
	got := l.foldedInSQL(db)
	by := map[string][]tasks.Event{}
	for _, e := range l.events() {
		by[e.Task] = append(by[e.Task], e)
	}
	if len(got) != len(by) {
		l.Errorf("%d tasks in SQL, %d were told of", len(got), len(by))
	}
	for _, name := range slices.Sorted(maps.Keys(l.want)) {
		w, in := l.want[name], got[l.uid[name]]
		state, times, _ := fold(by[l.uid[name]])
		if in.state != w.state || in.state != state || in.node != w.node {
			l.Errorf("%s: in SQL %s on %q, want %s on %q; folded in Go %s", name, in.state, in.node, w.state, w.node, state)
		}
		for s, at := range w.times {
			if in.times[s] != at {
				l.Errorf("%s: %s at %d in SQL, want %d", name, s, in.times[s], at)
			}
		}
		if s := times[tasks.Scheduled]; s == 0 && times[tasks.Started] != 0 { // who started was scheduled
			times[tasks.Scheduled] = times[tasks.Started]
		}
		if !maps.Equal(in.times, times) {
			l.Errorf("%s: times %v in SQL, %v in Go", name, in.times, times)
		}
	}
}

// checkNodesSQL compares what the store has of nodes with what the test made, and what is
// given away with what was bound and has not ended.
func (l *lives) checkNodesSQL(db *clickhouse.DB) {
	l.Helper()
	rows, err := db.Query(l.Context(), `SELECT n.node, toString(n.schedulable), toString(n.ready), toFloat64(n.allocatable_amounts['accelerators_nvidia']), n.rack,
		toFloat64(a.allocatable), toFloat64(a.allocated) FROM {db}.nodes AS n INNER JOIN {db}.tasks_allocation AS a ON a.node = n.node AND a.resource = 'cpu_cores' ORDER BY n.node`)
	if err != nil {
		l.Fatal(err)
	}
	defer rows.Close()
	bound := map[string]float64{}
	for name, w := range l.want {
		if name[0] == 'p' && (w.state == tasks.Scheduled || w.state == tasks.Started) {
			bound[w.node] += 0.1
		}
	}
	seen := 0
	for rows.Next() {
		var node, schedulable, ready, rack string
		var gpus, allocatable, allocated float64
		if err := rows.Scan(&node, &schedulable, &ready, &gpus, &rack, &allocatable, &allocated); err != nil {
			l.Fatal(err)
		}
		got := fmt.Sprintf("%s schedulable=%s ready=%s gpus=%g rack=%s cpu=%g of %g", node, schedulable, ready, gpus, rack, round(allocated), allocatable)
		want := fmt.Sprintf("n%d schedulable=%d ready=1 gpus=8 rack=r%d cpu=%g of 64", seen, map[bool]int{true: 0, false: 1}[seen == cordoned], seen%2, round(bound[node]))
		if got != want {
			l.Errorf("%s\nwant %s", got, want)
		}
		seen++
	}
	if err := rows.Err(); err != nil || seen != nodesOfTest-1 {
		l.Errorf("%d nodes in SQL, want %d: %v", seen, nodesOfTest-1, err)
	}
}

func round(v float64) float64 { return float64(int(v*1000+0.5)) / 1000 }
