package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sextant/features"
)

// pushNoticed is how old the ticks of pushed rows may be to be noticed without a word, by those who
// measure the hours of a day.
const pushNoticed = 20 * time.Hour

// servedDays is how many days of served_features are kept.
const servedDays = 30

var servedTable = &table{"served_features", columns("time", timestamp, "view", "String", "entity", "Array(String)", "tick", timestamp, "known", timestamp,
	"features", "Array(String)", "values", "Array(Float64)", "texts", "Array(String)", "statuses", "Array(String)")}

// WritePushed makes one attempt to store rows of a push view. It is an api.PushSink.
func (db *DB) WritePushed(ctx context.Context, r *features.Rows) error {
	s := partOf(r).step("push")
	if len(r.Tick) == 0 || time.Now().UnixMilli()-slices.Min(r.Tick) < pushNoticed.Milliseconds() {
		return db.attempt(ctx, &s)
	}
	if err := db.changes.tell(ctx, r); err != nil {
		return err
	}
	if err := db.attempt(ctx, &s); err != nil {
		return err
	}
	return db.changes.tell(ctx, r)
}

// WriteServed makes one attempt to store rows of the log of answers. It is an
// api.ServedSink.
func (db *DB) WriteServed(ctx context.Context, rows []features.Served) error {
	h := newHasher()
	for i := range rows {
		r := &rows[i]
		h.nums(r.Time, r.Tick, r.Known)
		h.strs(r.View.Ref())
		h.strs(r.Keys...)
		h.strs(r.Features...)
		hashColumn(h, r.Values)
		h.strs(r.Texts...)
	}
	return db.attempt(ctx, &step{table: servedTable, rows: len(rows), bytes: h.bytes, token: token(servedTable.name, fmt.Sprint(rows[0].Time), h.sum()),
		append: func(w *columnWriter) { appendServed(w, rows) }})
}

func appendServed(w *columnWriter, rows []features.Served) {
	w.add(collect(rows, func(r *features.Served) int64 { return r.Time }))
	w.add(collect(rows, func(r *features.Served) string { return r.View.Ref() }))
	w.add(collect(rows, func(r *features.Served) []string { return r.Keys }))
	w.add(collect(rows, func(r *features.Served) int64 { return r.Tick }))
	w.add(collect(rows, func(r *features.Served) int64 { return r.Known }))
	w.add(collect(rows, func(r *features.Served) []string { return r.Features }))
	w.add(collect(rows, func(r *features.Served) []float64 { return r.Values }))
	w.add(collect(rows, func(r *features.Served) []string { return r.Texts }))
	w.add(collect(rows, func(r *features.Served) []string { return r.Statuses }))
}

func (db *DB) attempt(ctx context.Context, s *step) error {
	ctx, cancel := context.WithTimeout(ctx, smallInsertTimeout)
	defer cancel()
	if err := db.insertOnce(ctx, s); err != nil {
		return fmt.Errorf("%d rows to %s: %w", s.rows, s.table.name, err)
	}
	return nil
}
