package clickhouse

import (
	"context"
	"fmt"
	"time"

	"sextant/features"
	"sextant/pipeline/derive"
	schema "sextant/schema/sql"
)

// Placed returns the tasks that were bound to a node at tick, by what was known at known, both
// in unix ms; by task.
func (db *DB) Placed(ctx context.Context, tick, known int64) ([]features.Placement, error) {
	known, err := db.carriedBy(ctx, known)
	if err != nil {
		return nil, err
	}
	text, err := renderFile(schema.Files, "queries/placed.sql", db.names)
	if err != nil {
		return nil, err
	}
	rows, err := db.conn.Query(db.question(ctx, derive.At{Tick: tick, Known: known}, 0), text)
	if err != nil {
		return nil, fmt.Errorf("read where tasks are: %w", err)
	}
	defer rows.Close()
	var out []features.Placement
	for rows.Next() {
		var p features.Placement
		if err := rows.Scan(&p.Task, &p.Node, &p.Devices); err != nil {
			return nil, fmt.Errorf("read where tasks are: %w", err)
		}
		out = append(out, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read where tasks are: %w", err)
	}
	return out, nil
}

// carriedBy is known, or the end of the day before while the living tasks are not carried to the
// day of known yet: task_log has them by day, and the first tick of a day carries them.
func (db *DB) carriedBy(ctx context.Context, known int64) (int64, error) {
	const dayMillis = int64(24 * time.Hour / time.Millisecond)
	today := known - known%dayMillis
	var last int64
	err := db.conn.QueryRow(ctx, "SELECT toUnixTimestamp64Milli(max(tick)) FROM "+db.names.Table("derived_ticks")+
		" WHERE view = 'task_log' AND tick <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')", today).Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("days of task_log: %w", err)
	}
	if last == today-dayMillis {
		return today - 1, nil
	}
	return known, nil
}
