package clickhouse

import (
	"context"
	"time"

	"sextant/pipeline"
	"sextant/schema/wire"
)

// step is the insert of one table. append may run several times, on fresh batches.
type step struct {
	table  *table
	rows   int
	bytes  int // before compression, strings without their lengths
	token  string
	append func(*columnWriter)
	block  func() *block // the same as append appends, ready; nil if there is no such thing
}

// steps are the inserts of g in their order. A sample is readable by name as soon as it
// is there, so series go first. The ledger goes last: what it says is stored.
func (g *group) steps() []step {
	steps := []step{
		g.step(seriesTable, len(g.series), func(h *hasher) { hashSeries(h, g.series) },
			func(w *columnWriter) { appendSeries(w, g.series) }),
		g.step(samplesTable, len(g.samples.Series), func(h *hasher) { hashSamples(h, &g.samples.Samples) },
			func(w *columnWriter) { appendSamples(w, &g.samples.Samples) }),
	}
	steps[0].block = func() *block { return seriesBlock(g.series) }
	steps[1].block = func() *block { return samplesBlock(samplesTable.columns, &g.samples.Samples) }
	for _, v := range g.views {
		steps = append(steps, v.step(g.origin))
	}
	ledger := g.step(ledgerTable, len(g.ledger), func(h *hasher) { hashLedger(h, g.ledger) },
		func(w *columnWriter) { appendLedger(w, g.ledger) })
	ledger.block = func() *block { return ledgerBlock(g.ledger) }
	return append(steps,
		g.step(faultsTable, len(g.faults), func(h *hasher) { hashFaults(h, g.faults) },
			func(w *columnWriter) { appendFaults(w, g.faults) }),
		g.step(deadTable, len(g.dead), func(h *hasher) { hashDead(h, g.dead) },
			func(w *columnWriter) { appendDead(w, g.dead) }),
		ledger)
}

func (g *group) step(t *table, rows int, hash func(*hasher), fill func(*columnWriter)) step {
	h := newHasher()
	if rows > 0 {
		hash(h)
	}
	return step{table: t, rows: rows, bytes: h.bytes, token: token(t.name, g.origin, h.sum()), append: fill}
}

// insertOnce makes one attempt at s. Errors carry no table: the caller names it.
func (db *DB) insertOnce(ctx context.Context, s *step) error {
	start := time.Now()
	send := db.sendColumns
	if s.block != nil && db.cfg.takesBlocks() {
		send = db.sendBlock
	}
	if err := send(ctx, s); err != nil {
		return err
	}
	name := s.table.name
	db.metrics.seconds.WithLabelValues(name).Observe(time.Since(start).Seconds())
	db.metrics.inserts.WithLabelValues(name).Inc()
	db.metrics.rows.WithLabelValues(name).Add(float64(s.rows))
	db.metrics.bytes.WithLabelValues(name).Add(float64(s.bytes))
	return nil
}

func hashSamples(h *hasher, s *pipeline.Samples) {
	hashColumn(h, s.Series)
	hashColumn(h, s.Time)
	hashColumn(h, s.Value)
	hashColumn(h, s.Flags)
}

func hashSeries(h *hasher, rows []pipeline.SeriesRow) {
	for i := range rows {
		r := &rows[i]
		h.nums(int64(r.ID), r.FirstSeen)
		h.strs(r.Node, r.Name, r.Kind, r.Unit, r.Source, r.UnknownOf)
		hashLabels(h, r.Labels)
	}
}

func hashLabels(h *hasher, ls []wire.Label) {
	for _, l := range ls {
		h.strs(l.Name, l.Value)
	}
}

func hashLedger(h *hasher, rows []pipeline.LedgerRow) {
	for i := range rows {
		r := &rows[i]
		h.strs(r.Agent, r.Node, r.Target)
		h.nums(int64(r.Seq), int64(r.Oldest), int64(r.Dropped), int64(r.Partition), r.Offset, r.Scrape, r.Ingest,
			int64(r.Rows), int64(r.Late), int64(r.Duplicates), int64(r.State))
	}
}

func hashDead(h *hasher, rows []deadRow) {
	for i := range rows {
		r := &rows[i]
		h.strs(r.topic, r.Reason)
		h.nums(int64(r.Record.Partition), r.Record.Offset)
	}
}
