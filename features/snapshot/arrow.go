package snapshot

import (
	"bytes"
	"encoding/json"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowBuilder is one record batch over memory that is there already.
type arrowBuilder struct {
	rows   int
	fields []arrow.Field
	cols   []arrow.ArrayData
	bytes  int
}

func (b *arrowBuilder) add(name string, t arrow.DataType, data arrow.ArrayData) {
	b.fields = append(b.fields, arrow.Field{Name: name, Type: t})
	b.cols = append(b.cols, data)
}

// text adds strings, laid out as textBlob does, which is Arrow's layout too.
func (b *arrowBuilder) text(name string, n int, blob []byte) {
	head := 4 * (n + 1)
	b.add(name, arrow.BinaryTypes.String, array.NewData(arrow.BinaryTypes.String, n, buffers(blob[:head], blob[head:]), nil, 0, 0))
	b.bytes += len(blob)
}

// dense adds a matrix: a list of width numbers a row.
func (b *arrowBuilder) dense(name string, element arrow.DataType, width int, data []byte) {
	t := arrow.FixedSizeListOfNonNullable(int32(width), element)
	child := array.NewData(element, b.rows*width, buffers(data), nil, 0, 0)
	b.add(name, t, array.NewData(t, b.rows, []*memory.Buffer{nil}, []arrow.ArrayData{child}, 0, 0))
	b.bytes += len(data)
}

// buffers are those of an array without nulls.
func buffers(parts ...[]byte) []*memory.Buffer {
	out := []*memory.Buffer{nil}
	for _, p := range parts {
		out = append(out, memory.NewBufferBytes(p))
	}
	return out
}

// write appends the batch to out as an Arrow IPC stream. About, as JSON, is what the metadata
// of the schema says under "sextant".
func (b *arrowBuilder) write(out *bytes.Buffer, about any) error {
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	meta := arrow.MetadataFrom(map[string]string{"sextant": string(text)})
	schema := arrow.NewSchema(b.fields, &meta)
	cols := make([]arrow.Array, len(b.cols))
	for i, data := range b.cols {
		cols[i] = array.MakeFromData(data)
	}
	batch := array.NewRecordBatch(schema, cols, int64(b.rows))
	defer batch.Release()
	out.Grow(b.bytes + len(text) + 4096)
	w := ipc.NewWriter(out, ipc.WithSchema(schema))
	if err := w.Write(batch); err != nil {
		return err
	}
	return w.Close()
}

// arrow is the matrix as columns: the join keys, then values, status and ages, each a list of
// one length a row.
func (x *matrix) arrow() *arrowBuilder {
	b := &arrowBuilder{rows: x.ents.n}
	for k, key := range x.plan.keys {
		b.text(key, x.ents.n, x.ents.blobs[k])
	}
	b.dense("values", arrow.PrimitiveTypes.Float32, len(x.plan.columns), bytesOf(x.values))
	b.dense("status", arrow.PrimitiveTypes.Uint8, len(x.plan.columns), x.status)
	b.dense("ages", arrow.PrimitiveTypes.Float32, len(x.plan.views), bytesOf(x.ages))
	return b
}

func (x *matrix) encodeArrow() ([]byte, error) {
	var out bytes.Buffer
	err := x.arrow().write(&out, x.header)
	return out.Bytes(), err
}
