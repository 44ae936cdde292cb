package scrape

import "sextant/schema/wire"

// maxPayload is the encoded size, in bytes, above which a scrape is cut into several
// records, each a whole Remote-Write request. It leaves room for the envelope below a
// broker's usual limit of 1 MiB.
const maxPayload = 900 << 10

// layout is a fixed sequence of series with the templates that encode it. A scrape that
// has the same series as the one before only fills in times and values.
type layout struct {
	series []*series
	times  []int64
	values []float64
	parts  []part
}

// part is the piece of a layout that goes into one record.
type part struct {
	from, to int // series[from:to]
	template *wire.Template
}

func newLayout(ss []*series) *layout {
	l := &layout{series: ss, times: make([]int64, len(ss)), values: make([]float64, len(ss))}
	defs := make([]wire.SeriesDef, len(ss))
	for i, s := range ss {
		defs[i] = s.def()
	}
	l.split(defs, 0)
	return l
}

// split halves a run of series until each piece fits into a record. A single series
// always fits, because the safety limits bound its labels.
func (l *layout) split(defs []wire.SeriesDef, from int) {
	t := wire.NewTemplate(defs)
	if t.Size() > maxPayload && len(defs) > 1 {
		half := len(defs) / 2
		l.split(defs[:half], from)
		l.split(defs[half:], from+half)
		return
	}
	l.parts = append(l.parts, part{from: from, to: from + len(defs), template: t})
}

// append encodes part i behind dst.
func (l *layout) append(dst []byte, i int) []byte {
	p := l.parts[i]
	return p.template.Append(dst, l.times[p.from:p.to], l.values[p.from:p.to])
}
