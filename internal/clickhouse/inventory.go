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
		if err := s.insert(ctx, &step); err != nil {
			return fmt.Errorf("%d rows to %s: %w", step.rows, step.table.name, err)
		}
	}
	return nil
}

// inventoryTimeout bounds one attempt of an insert.
const inventoryTimeout = 30 * time.Second

func (s *InventorySink) insert(ctx context.Context, step *step) error {
	pause := newBackoff()
	for try := 1; ; try++ {
		attempt, cancel := context.WithTimeout(ctx, inventoryTimeout)
		err := s.db.insertOnce(attempt, step)
		cancel()
		if err == nil {
			s.outage.over()
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if kind := kindOf(err); kind == permanent || kind == unknown && try >= triesOfUnknown {
			return err
		}
		s.outage.began(step.table.name, err)
		s.db.metrics.retries.WithLabelValues(step.table.name).Inc()
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
