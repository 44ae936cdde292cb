package training_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sextant/features"
	"sextant/features/training"
)

// pointView is the view of testdata: a row in features.csv has the columns entity, event
// time, time at which it was created, busy, mem_used and seq, which numbers the writes.
var pointView = &features.View{Name: "point", Version: 1, Entity: "entity", Keys: []string{"entity"}, Tier: "monitoring",
	Interval: 10 * time.Second, TTL: 35 * time.Second, Features: []features.Feature{
		{Name: "busy", DType: features.Float64, Unit: "ratio", Expr: "a"},
		{Name: "mem_used", DType: features.Int64, Unit: "bytes", Expr: "b"},
		{Name: "seq", DType: features.Int64, Unit: "none", Expr: "c"}}}

var pointColumns = []features.ServiceColumn{{View: pointView, Feature: 0, As: "point"}, {View: pointView, Feature: 1, As: "point"}, {View: pointView, Feature: 2, As: "point"}}

func table(t *testing.T, text string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pointRows are the rows of features.csv in the order of seq. A row that was created more
// than a tick after its time is a correction: that is what repairs write.
func pointRows(t *testing.T) []*features.Rows {
	t.Helper()
	number := func(s string) float64 {
		if s == "" {
			return math.NaN()
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var rows []*features.Rows
	for _, c := range table(t, testdata(t, "features.csv"))[1:] {
		event, err1 := time.Parse(time.RFC3339, c[1])
		created, err2 := time.Parse(time.RFC3339, c[2])
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		r := &features.Rows{View: pointView, Keys: [][]string{{c[0]}}, Tick: []int64{event.UnixMilli()}, Known: []int64{created.UnixMilli()}}
		if created.Sub(event) > pointView.Interval {
			r.Origin = features.Repair
		}
		for _, cell := range c[3:] {
			r.Cols = append(r.Cols, features.Column{Num: []float64{number(cell)}})
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *features.Rows) int { return int(a.Cols[2].Num[0] - b.Cols[2].Num[0]) })
	return rows
}

// build makes a training set of CSV from CSV.
func build(src training.Source, spec training.Spec, labels string) (string, error) {
	ctx := context.Background()
	in, out := training.Formats[3], training.Formats[3]
	r, err := in.Open(ctx, strings.NewReader(labels))
	if err != nil {
		return "", err
	}
	defer r.Release()
	set, err := training.New(spec, r.Schema())
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	w, err := out.Create(&b, set.Schema())
	if err != nil {
		return "", err
	}
	if _, err := set.Build(ctx, src, r, w); err != nil {
		return "", err
	}
	err = w.Close()
	return b.String(), err
}

// TestPointInTime: 13 rows in, 13 rows out, in their order, each with what was known then.
func TestPointInTime(t *testing.T) {
	db := openStore(t, "point_in_time", pointView)
	write(t, db, pointRows(t)...)
	spec := training.Spec{Columns: pointColumns, Timestamp: "as_of"}
	text, err := build(db, spec, testdata(t, "entities.csv"))
	if err != nil {
		t.Fatal(err)
	}
	got, want, labels := table(t, text), table(t, testdata(t, "expected.csv")), table(t, testdata(t, "entities.csv"))
	if head := []string{"entity", "as_of", "row", "busy", "mem_used", "seq"}; !slices.Equal(got[0], head) {
		t.Fatalf("columns %v, want %v", got[0], head)
	}
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got)-1, len(want)-1)
	}
	for i := range want[1:] {
		w := want[i+1]
		line := []string{w[1], labels[i+1][2], w[0], trimZeros(w[2]), w[3], w[4]}
		if !slices.Equal(got[i+1], line) {
			t.Errorf("row %s: got %v, want %v", w[0], got[i+1], line)
		}
	}

	spec.AsCorrected, spec.Statuses = true, true
	if text, err = build(db, spec, testdata(t, "entities.csv")); err != nil {
		t.Fatal(err)
	}
	corrected := []string{"0.25 25", "0.25 25", " 30", " 30", " ", "0.5 50", "0.5 50", "0.7 70", "0.7 70", " ", " ", "0.32 32", "0.42 42"}
	statuses := []string{"PRESENT", "PRESENT", "NULL_VALUE", "NULL_VALUE", "OUTSIDE_MAX_AGE", "PRESENT", "PRESENT", "PRESENT", "PRESENT", "NOT_FOUND", "NOT_FOUND", "PRESENT", "PRESENT"}
	for i, row := range table(t, text)[1:] {
		if values := row[3] + " " + row[4]; values != corrected[i] || row[6] != statuses[i] {
			t.Errorf("row %s as corrected: %q %s, want %q %s", row[2], values, row[6], corrected[i], statuses[i])
		}
	}
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		return strings.TrimRight(s, "0")
	}
	return s
}
