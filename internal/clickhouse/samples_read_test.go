package clickhouse

import (
	"bytes"
	"io"
	"math"
	"reflect"
	"testing"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/pipeline/backfill"
)

const someSamples = `SELECT toUInt64(number % 3) AS series, toInt64(number) AS ts, if(number = 7, nan, number / 7) AS value, toUInt16(number % 2) AS flags
FROM numbers(toUInt64(@n)) ORDER BY series, ts`

// TestSamplesByColumnAndByRow: both ways to read samples give the same, the bits of a NaN
// among it.
func TestSamplesByColumnAndByRow(t *testing.T) {
	db := openDB(t)
	for _, n := range []int{0, 1, 3, scannedSamples, 3*scannedSamples + 1} {
		var whole [2]backfill.Samples
		read := func(s *backfill.Samples) func(backfill.Samples) {
			return func(b backfill.Samples) {
				s.Series, s.Time = append(s.Series, b.Series...), append(s.Time, b.Time...)
				s.Value, s.Flags = append(s.Value, b.Value...), append(s.Flags, b.Flags...)
			}
		}
		args := []any{ch.Named("n", n)}
		if err := db.readSamples(t.Context(), someSamples, args, read(&whole[0])); err != nil {
			t.Fatal(err)
		}
		if err := db.scanSamples(t.Context(), someSamples, args, read(&whole[1])); err != nil {
			t.Fatal(err)
		}
		if len(whole[0].Series) != n {
			t.Fatalf("%d samples, want %d", len(whole[0].Series), n)
		}
		for i := range whole[0].Value {
			if math.Float64bits(whole[0].Value[i]) != math.Float64bits(whole[1].Value[i]) {
				t.Fatalf("value %d: %v by column, %v by row", i, whole[0].Value[i], whole[1].Value[i])
			}
		}
		whole[0].Value, whole[1].Value = nil, nil // which hold a NaN
		if !reflect.DeepEqual(whole[0], whole[1]) {
			t.Fatalf("%d samples: by column and by row they differ", n)
		}
	}
	if err := db.readSamples(t.Context(), "SELECT 1", nil, func(backfill.Samples) {}); err == nil {
		t.Error("a column of another kind was taken")
	}
}

// TestSamplesThatAreCut: an answer that ends within a block is an error.
func TestSamplesThatAreCut(t *testing.T) {
	db := openDB(t)
	in, err := db.conn.QueryFormat(t.Context(), "Native", someSamples, ch.Named("n", 9))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(in)
	if err != nil || in.Close() != nil {
		t.Fatal(err)
	}
	read := 0
	count := func(s backfill.Samples) { read += len(s.Series) }
	if err := samplesOfBlocks(bytes.NewReader(whole), count); err != nil || read != 9 {
		t.Fatalf("%d samples, %v", read, err)
	}
	for n := 1; n < len(whole); n++ {
		if err := samplesOfBlocks(bytes.NewReader(whole[:n]), count); err == nil {
			t.Fatalf("%d of %d bytes were taken for all", n, len(whole))
		}
	}
}
