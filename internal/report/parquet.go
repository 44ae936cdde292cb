package report

import (
	"errors"
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"sextant/features/training"
)

// Parquet writes the one question that was asked for. Each column has its unit as metadata.
func (s *Section) Parquet(out io.Writer) error {
	fields := make([]arrow.Field, len(s.Columns))
	for i, name := range s.Columns {
		fields[i] = arrow.Field{Name: name, Type: s.typeOf(i), Nullable: true, Metadata: arrow.MetadataFrom(map[string]string{"unit": s.Units[i]})}
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, row := range s.Rows {
		for i, v := range row {
			put(b.Field(i), v)
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	f, err := training.ByExtension(".parquet")
	if err != nil {
		return err
	}
	w, err := f.Create(out, schema)
	if err != nil {
		return err
	}
	return errors.Join(w.Write(batch), w.Close())
}

// typeOf is the type of a column: that of its first cell that is not NULL.
func (s *Section) typeOf(column int) arrow.DataType {
	for _, row := range s.Rows {
		switch row[column].(type) {
		case float64:
			return arrow.PrimitiveTypes.Float64
		case int64:
			return arrow.PrimitiveTypes.Int64
		case time.Time:
			return arrow.FixedWidthTypes.Timestamp_ms
		case string:
			return arrow.BinaryTypes.String
		}
	}
	if s.Units[column] != "" {
		return arrow.PrimitiveTypes.Float64
	}
	return arrow.BinaryTypes.String
}

func put(b array.Builder, v any) {
	switch b := b.(type) {
	case *array.Float64Builder:
		if f, ok := v.(float64); ok {
			b.Append(f)
			return
		}
	case *array.Int64Builder:
		if n, ok := v.(int64); ok {
			b.Append(n)
			return
		}
	case *array.TimestampBuilder:
		if at, ok := v.(time.Time); ok {
			b.Append(arrow.Timestamp(at.UnixMilli()))
			return
		}
	case *array.StringBuilder:
		if v != nil {
			b.Append(cell(v))
			return
		}
	}
	b.AppendNull()
}
