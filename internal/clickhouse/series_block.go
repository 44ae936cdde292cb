package clickhouse

import (
	"sextant/pipeline"
	"sextant/schema/wire"
)

// seriesBlock is the rows as one block in the Native format, in the order of the table and
// each series once. A machine that starts registers all its series at once: as columns of
// the client their maps cost more than all else of it.
func seriesBlock(rows []pipeline.SeriesRow) *block {
	e := &encoder{order: orderOfSeries(rows), columns: seriesTable.columns}
	size := 0
	for i := range rows {
		size += 8 + 8 + 8 + 6*4
		for _, l := range rows[i].Labels {
			size += 2*2 + len(l.Name) + len(l.Value)
		}
	}
	e.begin(size)
	texts := func(of func(*pipeline.SeriesRow) string) {
		d := dictionaryOf(len(rows), func(row int) string { return of(&rows[row]) })
		e.dictionary(&d)
	}
	e.words(func(row uint32) uint64 { return rows[row].ID })
	texts(func(r *pipeline.SeriesRow) string { return r.Node })
	texts(func(r *pipeline.SeriesRow) string { return r.Name })
	e.labels(func(row uint32) []wire.Label { return rows[row].Labels })
	texts(func(r *pipeline.SeriesRow) string { return r.Kind })
	texts(func(r *pipeline.SeriesRow) string { return r.Unit })
	texts(func(r *pipeline.SeriesRow) string { return r.Source })
	e.words(func(row uint32) uint64 { return uint64(rows[row].FirstSeen) })
	texts(func(r *pipeline.SeriesRow) string { return r.UnknownOf })
	return &block{parts: [][]byte{e.out}}
}

// orderOfSeries is the order of ids. Of a series that is there more than once, which several
// partitions may be for a moment after one moved, the first stays.
func orderOfSeries(rows []pipeline.SeriesRow) []sortKey {
	order := make([]sortKey, len(rows))
	swap := make([]sortKey, len(rows))
	for i := range rows {
		order[i] = sortKey{rows[i].ID, uint32(i)}
	}
	radixSort(&order, &swap)
	n := 0
	for i, k := range order {
		if i == 0 || k.series != order[n-1].series {
			order[n] = k
			n++
		}
	}
	return order[:n]
}
