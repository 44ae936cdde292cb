package training

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"sextant/features"
)

// record is a batch of labels, whose first row is row from of the chunk, with its features.
func (s *Set) record(b arrow.RecordBatch, c *chunk, answers []*features.Answers, from int, sum *Summary) arrow.RecordBatch {
	n := int(b.NumRows())
	columns := make([]arrow.Array, 0, s.schema.NumFields())
	for _, i := range slices.Concat(s.keys, []int{s.time}, s.others) {
		columns = append(columns, b.Column(i))
	}
	values, statuses := make([]arrow.Array, len(s.names)), make([]arrow.Array, len(s.names))
	for i, p := range s.parts {
		rows := rowStatuses(answers[i], c.at, from, n)
		for f, column := range p.column {
			v := answers[i].Rows
			col := valueColumn{&p.view.Features[f], &v.Cols[f], answers[i].Row[from : from+n], rows}
			values[column] = col.values(&sum.Statuses)
			if s.spec.Statuses {
				statuses[column] = col.statuses()
			}
		}
	}
	columns = append(columns, values...)
	if s.spec.Statuses {
		columns = append(columns, statuses...)
	}
	record := array.NewRecordBatch(s.schema, columns, int64(n))
	for _, made := range slices.Concat(values, statuses) {
		if made != nil {
			made.Release() // the record holds it
		}
	}
	return record
}

func rowStatuses(a *features.Answers, at []int64, from, n int) []features.Status {
	out := make([]features.Status, n)
	for i := range out {
		out[i] = a.Status(from+i, at[from+i])
	}
	return out
}

// valueColumn is one feature of a batch.
type valueColumn struct {
	def   *features.Feature
	col   *features.Column
	row   []int32           // of each label, in col
	ofRow []features.Status // of each label: what the row's existence and age say
}

// values makes the column as the online API would answer: a value where it is present, the
// feature's default where the row has none, and else null.
func (v *valueColumn) values(count *[4]int64) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, typeOf(v.def.DType))
	defer b.Release()
	b.Reserve(len(v.row))
	for i, row := range v.row {
		st := v.col.Status(int(row), v.ofRow[i])
		count[st]++
		switch {
		case st == features.NullValue && v.def.Default != nil:
			appendNumber(b, *v.def.Default)
		case st != features.Present:
			b.AppendNull()
		case v.col.Str != nil:
			b.(*array.StringBuilder).Append(v.col.Str[row])
		default:
			appendNumber(b, v.col.Num[row])
		}
	}
	return b.NewArray()
}

func appendNumber(b array.Builder, x float64) {
	switch b := b.(type) {
	case *array.Float32Builder:
		b.Append(float32(x))
	case *array.Float64Builder:
		b.Append(x)
	case *array.Int64Builder:
		b.Append(toInt64(x))
	case *array.BooleanBuilder:
		b.Append(x != 0)
	}
}

// toInt64 rounds, and stops at what the type holds.
func toInt64(x float64) int64 {
	switch {
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x <= math.MinInt64:
		return math.MinInt64
	}
	return int64(math.Round(x))
}

func (v *valueColumn) statuses() arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(len(v.row))
	for i, row := range v.row {
		b.Append(v.col.Status(int(row), v.ofRow[i]).String())
	}
	return b.NewArray()
}
