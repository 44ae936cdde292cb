package clickhouse

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"sextant/features"
	schema "sextant/schema/sql"
)

// LatestRows returns the newest row of every key whose tick is after afterTick (unix ms),
// by key. A row that was written twice is one.
func (db *DB) LatestRows(ctx context.Context, v *features.View, afterTick int64) (*features.Rows, error) {
	return db.readRows(ctx, v, "queries/latest_rows.sql", afterTick)
}

// RowsBetween returns every row with a tick in [from, to), unix ms, by key and tick.
func (db *DB) RowsBetween(ctx context.Context, v *features.View, from, to int64) (*features.Rows, error) {
	return db.readRows(ctx, v, "queries/rows_between.sql", from, to)
}

// RowsAt returns of every key the row with the highest tick of those that were known at at,
// unix ms, by key; none that is older than View.Memory was then. It is what AsOf answers of
// each key that there is.
func (db *DB) RowsAt(ctx context.Context, v *features.View, at int64) (*features.Rows, error) {
	from := at - v.Memory().Milliseconds()
	return db.readRows(ctx, v, "queries/rows_at.sql", from, at, at, from, at)
}

func (db *DB) readRows(ctx context.Context, v *features.View, file string, args ...any) (*features.Rows, error) {
	text, err := renderFile(schema.Files, file, viewData{names: db.names, v: v})
	if err != nil {
		return nil, err
	}
	rows, err := db.conn.Query(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", v.Table(), err)
	}
	defer rows.Close()
	out, err := scanRows(rows, v)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", v.Table(), err)
	}
	return out, nil
}

// eachRow runs the query of a file of schema/sql and calls f at each row.
func (db *DB) eachRow(ctx context.Context, file string, data any, args []any, f func(driver.Rows) error) error {
	text, err := renderFile(schema.Files, file, data)
	if err != nil {
		return err
	}
	rows, err := db.conn.Query(ctx, text, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// scanRows reads keys, tick, known, flags and features. The queries give NULL as NaN or "", so
// that every value is a plain number or string.
func scanRows(rows driver.Rows, v *features.View) (*features.Rows, error) {
	out := &features.Rows{View: v, Keys: make([][]string, len(v.Keys)), Cols: make([]features.Column, len(v.Features))}
	keys, nums, strs := make([]string, len(v.Keys)), make([]float64, len(v.Features)), make([]string, len(v.Features))
	var tick, known int64
	var flags uint16
	var dest []any
	for i := range keys {
		dest = append(dest, &keys[i])
	}
	dest = append(dest, &tick, &known, &flags)
	for i := range v.Features {
		if v.Features[i].DType == features.String {
			dest = append(dest, &strs[i])
		} else {
			dest = append(dest, &nums[i])
		}
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		out.Tick, out.Known, out.Flags = append(out.Tick, tick), append(out.Known, known), append(out.Flags, flags)
		for i, k := range keys {
			out.Keys[i] = append(out.Keys[i], k)
		}
		for i := range v.Features {
			if v.Features[i].DType == features.String {
				out.Cols[i].Str = append(out.Cols[i].Str, strs[i])
			} else {
				out.Cols[i].Num = append(out.Cols[i].Num, nums[i])
			}
		}
	}
	return out, rows.Err()
}

// Read is the column in a SELECT: a number with NaN for NULL, or a string with ” for it.
func (c viewColumn) Read() string {
	if c.f.DType == features.String {
		return "ifNull(toString(" + ident(c.f.Name) + "), '')"
	}
	return "ifNull(toFloat64(" + ident(c.f.Name) + "), nan)"
}
