package training

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// Format is how a table is written.
type Format struct {
	Name      string // names it in texts
	Extension string // of files
	Media     string // over HTTP
	open      func(context.Context, File) (array.RecordReader, error)
	create    func(io.Writer, *arrow.Schema) (Writer, error)
}

// Formats are all that are known.
var Formats = []*Format{
	{"Parquet", ".parquet", "application/vnd.apache.parquet", openParquet, createParquet},
	{"Arrow", ".arrow", "application/vnd.apache.arrow.file", openArrow, createArrow},
	{"Arrow stream", ".arrows", "application/vnd.apache.arrow.stream", openStream, createStream},
	{"CSV", ".csv", "text/csv", openCSV, createCSV},
}

// ByExtension is the format of a file of this name.
func ByExtension(name string) (*Format, error) {
	var known []string
	for _, f := range Formats {
		if strings.EqualFold(path.Ext(name), f.Extension) {
			return f, nil
		}
		known = append(known, f.Extension)
	}
	return nil, fmt.Errorf("%s: the name says no format: want %s", name, strings.Join(known, ", "))
}

// File is what a table is read from.
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
}

// Writer takes the table, some rows at a time. Without Close the file is not whole.
type Writer interface {
	Write(arrow.RecordBatch) error
	Close() error
}

// Open reads a table from the file's beginning. The caller releases it.
func (f *Format) Open(ctx context.Context, from File) (array.RecordReader, error) {
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r, err := f.open(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("read as %s: %w", f.Name, err)
	}
	return r, nil
}

// Create begins a table.
func (f *Format) Create(to io.Writer, schema *arrow.Schema) (Writer, error) {
	w, err := f.create(to, schema)
	if err != nil {
		return nil, fmt.Errorf("write as %s: %w", f.Name, err)
	}
	return w, nil
}

// batchRows is how many rows are read and written at once: it is the length of Parquet's
// row groups and of Arrow's batches.
const batchRows = 1 << 16

func openParquet(ctx context.Context, f File) (array.RecordReader, error) {
	r, err := file.NewParquetReader(f)
	if err != nil {
		return nil, err
	}
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: batchRows}, nil)
	if err != nil {
		return nil, err
	}
	return fr.GetRecordReader(ctx, nil, nil)
}

// createParquet writes measured numbers without a dictionary: their values seldom come twice, so it
// costs a third of the time and makes the file larger.
func createParquet(w io.Writer, s *arrow.Schema) (Writer, error) {
	opts := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCreatedBy("sextant")}
	for _, f := range s.Fields() {
		if arrow.IsFloating(f.Type.ID()) {
			opts = append(opts, parquet.WithDictionaryFor(f.Name, false))
		}
	}
	props := parquet.NewWriterProperties(opts...)
	return pqarrow.NewFileWriter(s, w, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
}

func openStream(_ context.Context, f File) (array.RecordReader, error) { return ipc.NewReader(f) }

func createStream(w io.Writer, s *arrow.Schema) (Writer, error) {
	return ipc.NewWriter(w, ipc.WithSchema(s)), nil
}

func createArrow(w io.Writer, s *arrow.Schema) (Writer, error) {
	return ipc.NewFileWriter(w, ipc.WithSchema(s))
}

func openArrow(_ context.Context, f File) (array.RecordReader, error) {
	r, err := ipc.NewFileReader(f)
	if err != nil {
		return nil, err
	}
	return array.ReaderFromIter(r.Schema(), func(yield func(arrow.RecordBatch, error) bool) {
		defer r.Close()
		for i := range r.NumRecords() {
			if !yield(r.RecordBatchAt(i)) {
				return
			}
		}
	}), nil
}
