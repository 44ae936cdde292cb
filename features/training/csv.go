package training

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// openCSV reads every column as text: what a column means, a file of text does not say.
func openCSV(_ context.Context, f File) (array.RecordReader, error) {
	r := csv.NewReader(f)
	r.ReuseRecord = true
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty: want a header")
	}
	if err != nil {
		return nil, err
	}
	header = slices.Clone(header)
	fields := make([]arrow.Field, len(header))
	for i, name := range header {
		if slices.Contains(header[:i], name) {
			return nil, fmt.Errorf("the column %q is there twice", name)
		}
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String}
	}
	schema := arrow.NewSchema(fields, nil)
	return array.ReaderFromIter(schema, func(yield func(arrow.RecordBatch, error) bool) {
		for {
			b, err := readCSV(r, schema)
			if b == nil && err == nil || !yield(b, err) || err != nil {
				return
			}
		}
	}), nil
}

// readCSV reads the next rows; nil when there are none.
func readCSV(r *csv.Reader, schema *arrow.Schema) (arrow.RecordBatch, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	rows := 0
	for ; rows < batchRows; rows++ {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, cell := range cells {
			b.Field(i).(*array.StringBuilder).Append(cell)
		}
	}
	if rows == 0 {
		return nil, nil
	}
	return b.NewRecordBatch(), nil
}

// csvWriter writes times as in RFC 3339 and a value that is missing as nothing.
type csvWriter struct {
	w   *csv.Writer
	row []string
}

func createCSV(w io.Writer, s *arrow.Schema) (Writer, error) {
	c := &csvWriter{w: csv.NewWriter(w), row: make([]string, s.NumFields())}
	for i, f := range s.Fields() {
		c.row[i] = f.Name
	}
	return c, c.w.Write(c.row)
}

func (c *csvWriter) Write(b arrow.RecordBatch) error {
	for i := range int(b.NumRows()) {
		for k, col := range b.Columns() {
			c.row[k] = cell(col, i)
		}
		if err := c.w.Write(c.row); err != nil {
			return err
		}
	}
	return nil
}

func cell(col arrow.Array, i int) string {
	if col.IsNull(i) {
		return ""
	}
	if t, ok := col.(*array.Timestamp); ok && t.DataType().(*arrow.TimestampType).TimeZone != "" {
		return t.Value(i).ToTime(t.DataType().(*arrow.TimestampType).Unit).UTC().Format(time.RFC3339Nano)
	}
	return col.ValueStr(i)
}

func (c *csvWriter) Close() error {
	c.w.Flush()
	return c.w.Error()
}
