package clickhouse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/cespare/xxhash/v2"

	"sextant/pipeline/tasks"
	schema "sextant/schema/tasks"
)

var taskEventsTable = &table{"task_events", columns(
	"cluster", "String", "task", "String", "event_id", "String", "time", timestamp, "sequence", "UInt64", "state", "String", "source", "String",
	"ingest", timestamp, "kind", "String", "name", "String", "namespace", "String", "tenant", "String", "queue", "String", "type", "String",
	"priority_class", "String", "priority", "Nullable(Int64)", "qos", "String", "owner_kinds", "Array(String)", "owner_names", "Array(String)",
	"owner_ids", "Array(String)", "group_id", "String", "group_size", "UInt32", "dependencies", "Array(String)", "node", "String",
	"devices", "Array(String)", "requests", "Map(String, Float64)", "limits", "Map(String, Float64)", "deadline", "Nullable("+timestamp+")",
	"max_queue_seconds", "Nullable(Float64)", "latency_target_seconds", "Nullable(Float64)", "labels", "Map(String, String)",
	"simulated", "UInt8", "reason", "String", "exit_code", "Nullable(Int32)", "content", "UInt64")}

// TaskSink stores task events. It is a tasks.Sink, safe for concurrent use.
type TaskSink struct {
	db     *DB
	outage outage
}

// NewTaskSink returns a sink. It has nothing to close.
func (db *DB) NewTaskSink() *TaskSink {
	return &TaskSink{db: db, outage: outage{log: db.log}}
}

// WriteTasks makes rows durable. While the server is away it tries again until ctx is
// done.
func (s *TaskSink) WriteTasks(ctx context.Context, rows []tasks.Row) error {
	if len(rows) == 0 {
		return nil
	}
	h := newHasher()
	for i := range rows {
		h.nums(int64(rows[i].Partition), rows[i].Offset, rows[i].Ingest)
		h.strs(rows[i].Text)
	}
	step := step{table: taskEventsTable, rows: len(rows), bytes: h.bytes,
		token:  token(taskEventsTable.name, fmt.Sprintf("tasks %d events", len(rows)), h.sum()),
		append: func(w *columnWriter) { appendTasks(w, rows) }}
	if err := s.db.insertUntil(ctx, &step, &s.outage); err != nil {
		return fmt.Errorf("%d rows to %s: %w", step.rows, step.table.name, err)
	}
	return nil
}

func appendTasks(w *columnWriter, rows []tasks.Row) {
	text := func(get func(*schema.Event) string) {
		w.add(collect(rows, func(r *tasks.Row) string { return get(r.Event) }))
	}
	texts := func(get func(*schema.Event) []string) {
		w.add(collect(rows, func(r *tasks.Row) []string { return get(r.Event) }))
	}
	owners := func(get func(*schema.Owner) string) {
		texts(func(e *schema.Event) []string { return collect(e.Owners, get) })
	}
	amounts := func(get func(*schema.Event) map[string]float64) {
		w.add(collect(rows, func(r *tasks.Row) any { return newAmounts(get(r.Event)) }))
	}
	promise := func(get func(*schema.Event) float64) {
		w.add(pointers(collect(rows, func(r *tasks.Row) float64 { return unknown0(get(r.Event)) }), to[float64]))
	}
	text(func(e *schema.Event) string { return e.Cluster })
	text(func(e *schema.Event) string { return e.Task })
	text(func(e *schema.Event) string { return e.ID })
	w.add(collect(rows, func(r *tasks.Row) int64 { return r.Event.Time }))
	w.add(collect(rows, func(r *tasks.Row) uint64 { return r.Event.Sequence }))
	text(func(e *schema.Event) string { return string(e.State) })
	text(func(e *schema.Event) string { return e.Source })
	w.add(collect(rows, func(r *tasks.Row) int64 { return r.Ingest }))
	text(func(e *schema.Event) string { return e.Kind })
	text(func(e *schema.Event) string { return e.Name })
	text(func(e *schema.Event) string { return e.Namespace })
	text(func(e *schema.Event) string { return e.Tenant })
	text(func(e *schema.Event) string { return e.Queue })
	text(func(e *schema.Event) string { return e.Type })
	text(func(e *schema.Event) string { return e.PriorityClass })
	w.add(collect(rows, func(r *tasks.Row) *int64 { return r.Event.Priority }))
	text(func(e *schema.Event) string { return e.QoS })
	owners(func(o *schema.Owner) string { return o.Kind })
	owners(func(o *schema.Owner) string { return o.Name })
	owners(func(o *schema.Owner) string { return o.ID })
	text(func(e *schema.Event) string { return e.Group })
	w.add(collect(rows, func(r *tasks.Row) uint32 { return uint32(r.Event.GroupSize) }))
	texts(func(e *schema.Event) []string { return e.Dependencies })
	text(func(e *schema.Event) string { return e.Node })
	texts(func(e *schema.Event) []string { return e.Devices })
	amounts(func(e *schema.Event) map[string]float64 { return e.Requests })
	amounts(func(e *schema.Event) map[string]float64 { return e.Limits })
	w.add(collect(rows, func(r *tasks.Row) *time.Time { return momentOf(r.Event.SLO.Deadline) }))
	promise(func(e *schema.Event) float64 { return e.SLO.MaxQueue })
	promise(func(e *schema.Event) float64 { return e.SLO.LatencyTarget })
	w.add(collect(rows, func(r *tasks.Row) any { return sorted(r.Event.Labels) }))
	w.add(collect(rows, func(r *tasks.Row) uint8 { return bit(r.Event.Simulated) }))
	text(func(e *schema.Event) string { return e.Reason })
	w.add(collect(rows, func(r *tasks.Row) *int32 { return r.Event.ExitCode }))
	w.add(collect(rows, func(r *tasks.Row) uint64 { return xxhash.Sum64String(r.Text) }))
}

// amounts shows amounts to clickhouse-go as a map in the order of its keys.
type amounts struct {
	names  []string
	values map[string]float64
	at     int
}

func newAmounts(m map[string]float64) *amounts {
	return &amounts{names: slices.Sorted(maps.Keys(m)), values: m}
}

// Put implements column.OrderedMap; rows are only read.
func (m *amounts) Put(any, any) { panic("BUG: amounts are not scanned into") }

// Iterator implements column.IterableOrderedMap.
func (m *amounts) Iterator() column.MapIterator { return &amounts{m.names, m.values, -1} }

// Next implements column.MapIterator.
func (m *amounts) Next() bool { m.at++; return m.at < len(m.names) }

// Key implements column.MapIterator.
func (m *amounts) Key() any { return m.names[m.at] }

// Value implements column.MapIterator.
func (m *amounts) Value() any { return m.values[m.names[m.at]] }
