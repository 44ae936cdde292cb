package clickhouse

import (
	"context"
	"fmt"
	"time"

	"sextant/pipeline/inventory"
)

// InventorySink stores inventory documents. It is an inventory.Sink, safe for concurrent
// use.
type InventorySink struct {
	db     *DB
	outage outage
}

// NewInventorySink returns a sink. It has nothing to close.
func (db *DB) NewInventorySink() *InventorySink {
	return &InventorySink{db: db, outage: outage{log: db.log}}
}

// WriteInventory makes rows durable: parts and links first, so that a node that is
// visible has them. While the server is away it tries again until ctx is done.
func (s *InventorySink) WriteInventory(ctx context.Context, rows []inventory.Row) error {
	for _, step := range inventorySteps(rows) {
		if step.rows == 0 {
			continue
		}
		if err := s.db.insertUntil(ctx, &step, &s.outage); err != nil {
			return fmt.Errorf("%d rows to %s: %w", step.rows, step.table.name, err)
		}
	}
	return nil
}

// smallInsertTimeout bounds one attempt of insertUntil.
const smallInsertTimeout = 30 * time.Second

// insertUntil tries step again, while the server is away, until ctx is done.
func (db *DB) insertUntil(ctx context.Context, step *step, away *outage) error {
	pause := newBackoff()
	for try := 1; ; try++ {
		attempt, cancel := context.WithTimeout(ctx, smallInsertTimeout)
		err := db.insertOnce(attempt, step)
		cancel()
		if err == nil {
			away.over()
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if kind := kindOf(err); kind == permanent || kind == unknown && try >= triesOfUnknown {
			return err
		}
		away.began(step.table.name, err)
		db.metrics.retries.WithLabelValues(step.table.name).Inc()
		if err := pause.wait(ctx); err != nil {
			return err
		}
	}
}

// inventorySteps are the inserts of rows in their order.
func inventorySteps(rows []inventory.Row) []step {
	h := newHasher()
	for i := range rows {
		h.nums(int64(rows[i].Partition), rows[i].Offset, rows[i].Ingest)
		h.strs(rows[i].Node, rows[i].Text)
	}
	origin := fmt.Sprintf("inventory %d documents", len(rows))
	parts, links := partRows(rows), linkRows(rows)
	of := func(t *table, n int, fill func(*columnWriter)) step {
		return step{table: t, rows: n, bytes: h.bytes, token: token(t.name, origin, h.sum()), append: fill}
	}
	return []step{
		of(partsTable, len(parts), func(w *columnWriter) { appendParts(w, parts) }),
		of(linksTable, len(links), func(w *columnWriter) { appendLinks(w, links) }),
		of(inventoriesTable, len(rows), func(w *columnWriter) { appendInventories(w, rows) }),
	}
}
