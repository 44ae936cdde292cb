package clickhouse

import (
	"encoding/binary"
	"math"
	"slices"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/features"
)

// block is the rows as one block in the Native format, in the order of the table. It costs
// a seventh of what the client's columns cost, which take a pointer for each number.
func (v *viewRows) block(columns []ch.ColumnNameAndType) *block {
	v.sort()
	e := &encoder{order: v.order, columns: columns}
	e.begin(v)
	for k := range v.keys {
		e.dictionary(&v.keys[k])
	}
	e.times(concat(nil, v.parts, func(r *features.Rows) []int64 { return r.Tick }))
	e.times(concat(nil, v.parts, func(r *features.Rows) []int64 { return r.Known }))
	e.flags(concat(nil, v.parts, allFlags))
	e.repeat(byte(v.origin))
	var nums []float64
	for f := range v.view.Features {
		if d := v.view.Features[f].DType; d == features.String {
			e.texts(concat(nil, v.parts, func(r *features.Rows) []string { return r.Cols[f].Str }))
		} else {
			nums = concat(nums, v.parts, func(r *features.Rows) []float64 { return r.Cols[f].Num })
			e.numbers(d, nums)
		}
	}
	return &block{parts: [][]byte{e.out}}
}

// encoder writes the columns of a block one after another. Each method takes a column in
// the order of rows' coming and writes it in that of the table.
type encoder struct {
	order   []sortKey
	columns []ch.ColumnNameAndType // of the block
	next    int
	out     []byte
}

func (e *encoder) begin(v *viewRows) {
	const head, texts = 64, 16 // bytes, guessed: of a column's name and type, of a string
	size := len(e.columns) * head
	for range v.keys {
		size += len(e.order) * 4
	}
	size += len(e.order) * (8 + 8 + 2 + 1)
	for i := range v.view.Features {
		size += len(e.order) * (1 + widthOf(v.view.Features[i].DType, texts))
	}
	e.out = make([]byte, 0, size)
	e.out = binary.AppendUvarint(e.out, uint64(len(e.columns)))
	e.out = binary.AppendUvarint(e.out, uint64(len(e.order)))
}

func widthOf(d features.DType, text int) int {
	switch d {
	case features.Float32:
		return 4
	case features.Bool:
		return 1
	case features.String:
		return text
	}
	return 8
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
