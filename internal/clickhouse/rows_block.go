package clickhouse

import (
	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/features"
)

// block is the rows as one block in the Native format, in the order of the table. It costs
// a seventh of what the client's columns cost, which take a pointer for each number.
func (v *viewRows) block(columns []ch.ColumnNameAndType) *block {
	v.sort()
	e := &encoder{order: v.order, columns: columns}
	e.begin(v.size())
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

// size is about how many bytes the columns take.
func (v *viewRows) size() int {
	row := len(v.keys)*4 + 8 + 8 + 2 + 1
	for i := range v.view.Features {
		row += 1 + widthOf(v.view.Features[i].DType)
	}
	return row * len(v.order)
}

func widthOf(d features.DType) int {
	switch d {
	case features.Float32:
		return 4
	case features.Bool:
		return 1
	case features.String:
		return textBytes
	}
	return 8
}
