package clickhouse

import (
	"math"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"sextant/features"
	"sextant/pipeline"
	"sextant/schema/wire"
)

// columnWriter hands whole columns to a batch, in the order of the table, and keeps the
// first error. Columns cost a third of rows.
type columnWriter struct {
	batch driver.Batch
	next  int
	err   error
}

func (w *columnWriter) add(values any) {
	if w.err == nil {
		w.err = w.batch.Column(w.next).Append(values)
	}
	w.next++
}

// collect makes the column of one field of rows.
func collect[R, T any](rows []R, field func(*R) T) []T {
	out := make([]T, len(rows))
	for i := range rows {
		out[i] = field(&rows[i])
	}
	return out
}

func appendSamples(w *columnWriter, s *pipeline.Samples) {
	w.add(s.Series)
	w.add(s.Time)
	w.add(s.Value)
	w.add(s.Flags)
}

func appendSeries(w *columnWriter, rows []pipeline.SeriesRow) {
	w.add(collect(rows, func(r *pipeline.SeriesRow) uint64 { return r.ID }))
	w.add(collect(rows, func(r *pipeline.SeriesRow) string { return r.Node }))
	w.add(collect(rows, func(r *pipeline.SeriesRow) string { return r.Name }))
	w.add(collect(rows, func(r *pipeline.SeriesRow) any { return &labelMap{labels: r.Labels} }))
	w.add(collect(rows, func(r *pipeline.SeriesRow) string { return r.Kind }))
	w.add(collect(rows, func(r *pipeline.SeriesRow) string { return r.Unit }))
	w.add(collect(rows, func(r *pipeline.SeriesRow) string { return r.Source }))
	w.add(collect(rows, func(r *pipeline.SeriesRow) int64 { return r.FirstSeen }))
	w.add(collect(rows, func(r *pipeline.SeriesRow) string { return r.UnknownOf }))
}

func appendLedger(w *columnWriter, rows []pipeline.LedgerRow) {
	w.add(collect(rows, func(r *pipeline.LedgerRow) string { return r.Agent }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) uint64 { return r.Seq }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) int32 { return r.Partition }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) int64 { return r.Offset }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) string { return r.Node }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) string { return r.Target }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) uint64 { return r.Oldest }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) uint64 { return r.Dropped }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) int64 { return r.Scrape }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) int64 { return r.Ingest }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) uint32 { return r.Rows }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) uint32 { return r.Late }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) uint32 { return r.Duplicates }))
	w.add(collect(rows, func(r *pipeline.LedgerRow) uint8 { return r.State }))
}

// deadRow is a dead letter with the topic that it came from.
type deadRow struct {
	topic string
	pipeline.DeadLetter
}

func appendDead(w *columnWriter, rows []deadRow) {
	w.add(collect(rows, func(r *deadRow) string { return r.topic }))
	w.add(collect(rows, func(r *deadRow) int32 { return r.Record.Partition }))
	w.add(collect(rows, func(r *deadRow) int64 { return r.Record.Offset }))
	w.add(collect(rows, func(r *deadRow) int64 { return r.Record.Ingest }))
	w.add(collect(rows, func(r *deadRow) string { return r.Reason }))
	w.add(collect(rows, func(r *deadRow) string { return string(r.Record.Key) }))
	w.add(collect(rows, func(r *deadRow) [][]any { return headerTuples(r.Record.Headers) }))
	w.add(collect(rows, func(r *deadRow) string { return string(r.Record.Value) }))
}

func headerTuples(hs []wire.Header) [][]any {
	out := make([][]any, len(hs))
	for i, h := range hs {
		out[i] = []any{h.Key, string(h.Value)}
	}
	return out
}

// nullable makes the column of one feature as clickhouse-go takes it: pointers, nil for
// NULL.
func nullable(d features.DType, c features.Column) any {
	switch d {
	case features.Float32:
		return pointers(c.Num, func(v float64) float32 { return float32(v) })
	case features.Float64:
		return pointers(c.Num, func(v float64) float64 { return v })
	case features.Int64:
		return pointers(withinInt64(c.Num), func(v float64) int64 { return int64(v) })
	case features.Bool:
		return pointers(c.Num, func(v float64) bool { return v != 0 })
	case features.String:
		return stringPointers(c.Str)
	}
	panic("BUG: feature type without an appender")
}

// withinInt64 makes numbers that an int64 cannot hold NULL.
func withinInt64(vs []float64) []float64 {
	out := slices.Clone(vs)
	for i, v := range out {
		if v < math.MinInt64 || v >= math.MaxInt64 {
			out[i] = math.NaN()
		}
	}
	return out
}

func pointers[T any](vs []float64, convert func(float64) T) []*T {
	values, out := make([]T, len(vs)), make([]*T, len(vs))
	for i, v := range vs {
		if !math.IsNaN(v) {
			values[i] = convert(v)
			out[i] = &values[i]
		}
	}
	return out
}

// stringPointers gives equal strings one pointer: the native protocol's dictionary column
// looks pointers up, not what they point at.
func stringPointers(vs []string) []*string {
	seen := make(map[string]*string)
	out := make([]*string, len(vs))
	for i, v := range vs {
		if v == "" {
			continue
		}
		p, ok := seen[v]
		if !ok {
			p = &vs[i]
			seen[v] = p
		}
		out[i] = p
	}
	return out
}

// labelMap shows labels to clickhouse-go as a map that keeps their order.
type labelMap struct {
	labels []wire.Label
	at     int
}

// Put implements column.OrderedMap; rows are only read.
func (m *labelMap) Put(any, any) { panic("BUG: labels are not scanned into") }

// Iterator implements column.IterableOrderedMap.
func (m *labelMap) Iterator() column.MapIterator { return &labelMap{m.labels, -1} }

// Next implements column.MapIterator.
func (m *labelMap) Next() bool { m.at++; return m.at < len(m.labels) }

// Key implements column.MapIterator.
func (m *labelMap) Key() any { return m.labels[m.at].Name }

// Value implements column.MapIterator.
func (m *labelMap) Value() any { return m.labels[m.at].Value }
