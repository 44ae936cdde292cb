package training_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"

	"sextant/features"
	"sextant/features/training"
)

// knownRows answers every entity "A" with one row, and others with none.
type knownRows struct{}

func (knownRows) AsOf(_ context.Context, v *features.View, asks *features.Asks) (*features.Answers, error) {
	a := &features.Answers{Rows: &features.Rows{View: v, Tick: []int64{0}, Known: []int64{0}, Flags: []uint16{0}}}
	for _, f := range v.Features {
		if f.DType == features.String {
			a.Rows.Cols = append(a.Rows.Cols, features.Column{Str: []string{"text"}})
		} else {
			a.Rows.Cols = append(a.Rows.Cols, features.Column{Num: []float64{1}})
		}
	}
	for i := range asks.At {
		a.Rows.Tick[0] = asks.At[i]
		a.Row = append(a.Row, int32(strings.Index("A", asks.Keys[0][i])))
	}
	return a, nil
}

var everyType = &features.View{Name: "types", Version: 2, Entity: "entity", Keys: []string{"entity"}, TTL: 1e9, Features: []features.Feature{
	{Name: "f32", DType: features.Float32, Unit: "ratio"}, {Name: "f64", DType: features.Float64, Unit: "bytes", Description: "of memory"},
	{Name: "i64", DType: features.Int64}, {Name: "flag", DType: features.Bool}, {Name: "text", DType: features.String}}}

func labelsTable(zone string) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "reward", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "event_timestamp", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: zone}},
		{Name: "entity", Type: arrow.BinaryTypes.String}}, nil))
	b.Field(0).(*array.Float64Builder).AppendValues([]float64{1, 2, 3}, []bool{true, false, true})
	b.Field(1).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{1e18, 1e18, 1e18 + 1}, nil)
	b.Field(2).(*array.StringBuilder).AppendValues([]string{"A", "B", "A"}, nil)
	return b.NewRecordBatch()
}

func readAll(t *testing.T, f *training.Format, data []byte) (*arrow.Schema, string) {
	t.Helper()
	r, err := f.Open(context.Background(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var text strings.Builder
	for r.Next() {
		b := r.RecordBatch()
		for i := range int(b.NumRows()) {
			for _, c := range b.Columns() {
				if c.IsNull(i) {
					text.WriteString("- ")
				} else {
					text.WriteString(c.ValueStr(i) + " ")
				}
			}
			text.WriteString("\n")
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return r.Schema(), text.String()
}

// fileMetadata is what a file says of itself. Arrow's reader of Parquet leaves it out.
func fileMetadata(t *testing.T, f *training.Format, schema *arrow.Schema, data []byte, key string) string {
	t.Helper()
	if f.Extension == ".parquet" {
		r, err := file.NewParquetReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if v := r.MetaData().KeyValueMetadata().FindValue(key); v != nil {
			return *v
		}
		return ""
	}
	meta := schema.Metadata()
	v, _ := meta.GetValue(key)
	return v
}

// TestFormats builds one set in each format with types, and reads it back: keys first, then
// the time, what else the labels have, the features.
func TestFormats(t *testing.T) {
	var columns []features.ServiceColumn
	for i := range everyType.Features {
		columns = append(columns, features.ServiceColumn{View: everyType, Feature: i, As: "types"})
	}
	for _, f := range training.Formats[:3] {
		t.Run(f.Name, func(t *testing.T) {
			batch := labelsTable("UTC")
			var in, out bytes.Buffer
			w, err := f.Create(&in, batch.Schema())
			if err == nil {
				err = w.Write(batch)
			}
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			labels, err := f.Open(context.Background(), bytes.NewReader(in.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			defer labels.Release()
			set, err := training.New(training.Spec{Columns: columns, FullNames: true, Service: "all@v1"}, labels.Schema())
			if err != nil {
				t.Fatal(err)
			}
			if w, err = f.Create(&out, set.Schema()); err != nil {
				t.Fatal(err)
			}
			sum, err := set.Build(context.Background(), knownRows{}, labels, w)
			if err != nil || sum.Rows != 3 {
				t.Fatalf("%+v, %v", sum, err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			schema, text := readAll(t, f, out.Bytes())
			const want = "A 2001-09-09T01:46:40Z 1 1 1 1 true text \nB 2001-09-09T01:46:40Z - - - - - - \nA 2001-09-09T01:46:40.000000001Z 3 1 1 1 true text \n"
			if text != want {
				t.Errorf("got\n%swant\n%s", text, want)
			}
			var names []string
			for _, field := range schema.Fields() {
				names = append(names, field.Name+":"+field.Type.Name())
			}
			if got, want := strings.Join(names, " "), "entity:utf8 event_timestamp:timestamp reward:float64 types__f32:float32 types__f64:float64 types__i64:int64 types__flag:bool types__text:utf8"; got != want {
				t.Errorf("columns %s, want %s", got, want)
			}
			if cutoff := fileMetadata(t, f, schema, out.Bytes(), "sextant.cutoff"); cutoff != "known at event_timestamp" {
				t.Errorf("cut-off %q", cutoff)
			}
			field := schema.Field(4).Metadata
			unit, _ := field.GetValue("unit")
			if ref, _ := field.GetValue("feature"); unit != "bytes" || ref != "types@v2:f64" {
				t.Errorf("metadata of f64: %v", field)
			}
		})
	}
}

// TestNaiveColumn: a column of times without a zone is refused, not taken as UTC.
func TestNaiveColumn(t *testing.T) {
	batch := labelsTable("")
	r, err := array.NewRecordReader(batch.Schema(), []arrow.RecordBatch{batch})
	if err != nil {
		t.Fatal(err)
	}
	set, err := training.New(training.Spec{Columns: []features.ServiceColumn{{View: everyType, As: "types"}}}, batch.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Check(r); err == nil || !strings.HasPrefix(err.Error(), "row 1: event_timestamp: ") || !strings.Contains(err.Error(), "no time zone") {
		t.Errorf("error %v", err)
	}
}

// FuzzOpen: a table that somebody sends is read or refused.
func FuzzOpen(f *testing.F) {
	for i, format := range training.Formats[:3] {
		var b bytes.Buffer
		batch := labelsTable("UTC")
		w, err := format.Create(&b, batch.Schema())
		if err == nil {
			err = w.Write(batch)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, b.Bytes())
	}
	f.Add(3, []byte("entity,event_timestamp\nA,2026-01-01T00:00:00Z\n"))
	f.Fuzz(func(t *testing.T, format int, data []byte) {
		r, err := training.Formats[uint(format)%4].Open(context.Background(), bytes.NewReader(data))
		if err != nil {
			return
		}
		defer r.Release()
		set, err := training.New(training.Spec{Columns: []features.ServiceColumn{{View: everyType, As: "types"}}}, r.Schema())
		if err == nil {
			_, _ = set.Check(r)
		}
	})
}
