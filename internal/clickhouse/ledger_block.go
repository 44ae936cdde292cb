package clickhouse

import "sextant/pipeline"

// ledgerBlock is the rows as one block in the Native format, in the order of the table.
func ledgerBlock(rows []pipeline.LedgerRow) *block {
	text := func(of func(*pipeline.LedgerRow) string) dictionary {
		d := dictionaryOf(len(rows), func(row int) string { return of(&rows[row]) })
		d.sort()
		return d
	}
	agents := text(func(r *pipeline.LedgerRow) string { return r.Agent })
	e := &encoder{order: orderOfLedger(rows, &agents), columns: ledgerTable.columns}
	e.begin(len(rows) * (3*4 + 6*8 + 4*4 + 1))
	words := func(of func(*pipeline.LedgerRow) uint64) {
		e.words(func(row uint32) uint64 { return of(&rows[row]) })
	}
	halves := func(of func(*pipeline.LedgerRow) uint32) {
		e.halves(func(row uint32) uint32 { return of(&rows[row]) })
	}
	e.dictionary(&agents)
	words(func(r *pipeline.LedgerRow) uint64 { return r.Seq })
	halves(func(r *pipeline.LedgerRow) uint32 { return uint32(r.Partition) })
	words(func(r *pipeline.LedgerRow) uint64 { return uint64(r.Offset) })
	nodes := text(func(r *pipeline.LedgerRow) string { return r.Node })
	e.dictionary(&nodes)
	targets := text(func(r *pipeline.LedgerRow) string { return r.Target })
	e.dictionary(&targets)
	words(func(r *pipeline.LedgerRow) uint64 { return r.Oldest })
	words(func(r *pipeline.LedgerRow) uint64 { return r.Dropped })
	words(func(r *pipeline.LedgerRow) uint64 { return uint64(r.Scrape) })
	words(func(r *pipeline.LedgerRow) uint64 { return uint64(r.Ingest) })
	halves(func(r *pipeline.LedgerRow) uint32 { return r.Rows })
	halves(func(r *pipeline.LedgerRow) uint32 { return r.Late })
	halves(func(r *pipeline.LedgerRow) uint32 { return r.Duplicates })
	e.bytes(func(row uint32) byte { return rows[row].State })
	return &block{parts: [][]byte{e.out}}
}

// orderOfLedger is the order of agents, then of their numbers, then of the coming: by
// partition and offset, unless a record was sent twice, which the server then sorts.
func orderOfLedger(rows []pipeline.LedgerRow, agents *dictionary) []sortKey {
	order, swap := make([]sortKey, len(rows)), make([]sortKey, len(rows))
	for i := range rows {
		order[i] = sortKey{rows[i].Seq, uint32(i)}
	}
	radixSort(&order, &swap)
	for i := range order {
		order[i].series = uint64(agents.of[order[i].row])
	}
	radixSort(&order, &swap)
	return order
}
