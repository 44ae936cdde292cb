package clickhouse

import (
	"encoding/binary"
	"math"
	"slices"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/features"
	"sextant/schema/wire"
)

// encoder writes the columns of a block one after another. Each method takes a column in
// the order of rows' coming and writes it in that of the table.
type encoder struct {
	order   []sortKey
	columns []ch.ColumnNameAndType // of the block
	next    int
	out     []byte
}

// guesses of what a column's name and type take, and a string of a few bytes, in bytes
const (
	headBytes = 64
	textBytes = 16
)

// begin makes room for size bytes of columns and writes the head of the block.
func (e *encoder) begin(size int) {
	e.out = make([]byte, 0, size+len(e.columns)*headBytes)
	e.out = binary.AppendUvarint(e.out, uint64(len(e.columns)))
	e.out = binary.AppendUvarint(e.out, uint64(len(e.order)))
}

// column begins the next column.
func (e *encoder) column(as string) {
	c := e.columns[e.next]
	e.next++
	if as == "" {
		as = c.Type
	}
	e.out = appendString(appendString(e.out, c.Name), as)
}

// Parts of the serialization of LowCardinality: see SerializationLowCardinality of the
// server. One dictionary goes with the block, and indexes into it.
const (
	sharedDictionaries   = 1
	indexIsUInt32        = 2
	hasAdditionalKeys    = 1 << 9
	needUpdateDictionary = 1 << 10
)

// dictionary writes a key. The table holds it in the same way, so the server need not look
// up every row.
func (e *encoder) dictionary(d *dictionary) {
	e.column("LowCardinality(String)")
	e.out = binary.LittleEndian.AppendUint64(e.out, sharedDictionaries)
	e.out = binary.LittleEndian.AppendUint64(e.out, indexIsUInt32|hasAdditionalKeys|needUpdateDictionary)
	e.out = binary.LittleEndian.AppendUint64(e.out, uint64(len(d.values)))
	for _, s := range d.values {
		e.out = appendString(e.out, s)
	}
	e.out = binary.LittleEndian.AppendUint64(e.out, uint64(len(e.order)))
	for _, k := range e.order {
		e.out = binary.LittleEndian.AppendUint32(e.out, d.of[k.row])
	}
}

func (e *encoder) times(column []int64) {
	e.column("")
	for _, k := range e.order {
		e.out = binary.LittleEndian.AppendUint64(e.out, uint64(column[k.row]))
	}
}

func (e *encoder) flags(column []uint16) {
	e.column("")
	for _, k := range e.order {
		e.out = binary.LittleEndian.AppendUint16(e.out, column[k.row])
	}
}

// words writes numbers of 8 bytes.
func (e *encoder) words(of func(row uint32) uint64) {
	e.column("")
	for _, k := range e.order {
		e.out = binary.LittleEndian.AppendUint64(e.out, of(k.row))
	}
}

// halves writes numbers of 4 bytes.
func (e *encoder) halves(of func(row uint32) uint32) {
	e.column("")
	for _, k := range e.order {
		e.out = binary.LittleEndian.AppendUint32(e.out, of(k.row))
	}
}

// bytes writes numbers of 1 byte.
func (e *encoder) bytes(of func(row uint32) byte) {
	e.column("")
	for _, k := range e.order {
		e.out = append(e.out, of(k.row))
	}
}

// labels writes maps: where each ends among all pairs, then all names, then all values.
func (e *encoder) labels(of func(row uint32) []wire.Label) {
	e.column("")
	end := uint64(0)
	for _, k := range e.order {
		end += uint64(len(of(k.row)))
		e.out = binary.LittleEndian.AppendUint64(e.out, end)
	}
	for _, k := range e.order {
		for _, l := range of(k.row) {
			e.out = appendString(e.out, l.Name)
		}
	}
	for _, k := range e.order {
		for _, l := range of(k.row) {
			e.out = appendString(e.out, l.Value)
		}
	}
}

func (e *encoder) repeat(b byte) {
	e.column("")
	for range e.order {
		e.out = append(e.out, b)
	}
}

// texts writes strings, of which "" is NULL.
func (e *encoder) texts(column []string) {
	e.column("")
	for _, k := range e.order {
		e.bit(column[k.row] == "")
	}
	for _, k := range e.order {
		e.out = appendString(e.out, column[k.row])
	}
}

func (e *encoder) bit(set bool) {
	b := byte(0)
	if set {
		b = 1
	}
	e.out = append(e.out, b)
}

// numbers writes numbers, of which NaN is NULL. What an int64 cannot hold is NULL too.
func (e *encoder) numbers(d features.DType, column []float64) {
	e.column("")
	if d == features.Int64 {
		column = withinInt64(column)
	}
	n := len(e.order)
	at := len(e.out)
	e.out = slices.Grow(e.out, n)[:at+n]
	nulls := e.out[at:]
	for i, k := range e.order {
		v := column[k.row]
		nulls[i] = 0
		if v != v {
			nulls[i] = 1
		}
	}
	switch d {
	case features.Float32:
		for _, k := range e.order {
			e.out = binary.LittleEndian.AppendUint32(e.out, math.Float32bits(float32(orZero(column[k.row]))))
		}
	case features.Float64:
		for _, k := range e.order {
			e.out = binary.LittleEndian.AppendUint64(e.out, math.Float64bits(orZero(column[k.row])))
		}
	case features.Int64:
		for _, k := range e.order {
			e.out = binary.LittleEndian.AppendUint64(e.out, uint64(int64(orZero(column[k.row]))))
		}
	case features.Bool:
		for _, k := range e.order {
			e.bit(orZero(column[k.row]) != 0)
		}
	default:
		panic("BUG: feature type without an encoder")
	}
}

// orZero is what stands under a NULL.
func orZero(v float64) float64 {
	if v != v {
		return 0
	}
	return v
}
