package clickhouse

import (
	"context"
	"fmt"
	"time"

	schema "sextant/schema/sql"
)

// Task is a row of the view tasks, as a list shows it.
type Task struct {
	Cluster, Task, Name, State string
	Tenant, Queue, Node        string
	Changed                    time.Time // when State began
	QueueSeconds, RunSeconds   float64   // NaN: not known
	Reason                     string
}

// TaskFilter says which tasks. An empty field is all.
type TaskFilter struct {
	State, Tenant string
	Limit         int // the newest; needed
}

// Tasks returns tasks, the last changed first.
func (db *DB) Tasks(ctx context.Context, f TaskFilter) ([]Task, error) {
	text, err := renderFile(schema.Files, "queries/tasks.sql", db.names)
	if err != nil {
		return nil, err
	}
	rows, err := db.conn.Query(ctx, text, f.State, f.State, f.Tenant, f.Tenant, f.Limit)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	defer rows.Close()
	var out []Task
	for rows.Next() {
		var t Task
		if err := rows.Scan(&t.Cluster, &t.Task, &t.Name, &t.State, &t.Tenant, &t.Queue, &t.Node, &t.Changed, &t.QueueSeconds, &t.RunSeconds, &t.Reason); err != nil {
			return nil, fmt.Errorf("read tasks: %w", err)
		}
		out = append(out, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	return out, nil
}
