package statistics

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"sextant/features"
)

func TestBucket(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want int16
	}{
		{0, 0}, {1, 16001}, {2, 16033}, {0.5, 15969}, {-1, -16001}, {-2, -16033}, {1.0001, 16002},
		{math.SmallestNonzeroFloat64, 1}, {math.MaxFloat64, 32001}, {-math.MaxFloat64, -32001},
	} {
		if got := Bucket(c.x); got != c.want {
			t.Errorf("%v is in bucket %d, want %d", c.x, got, c.want)
		}
	}
	if Error > 0.0109 || Error < 0.0108 {
		t.Errorf("error %v", Error)
	}
}

func TestBins(t *testing.T) {
	many := Histogram{Nulls: 3}
	for i := range int16(100) { // 100 buckets of 7 rows: 10 bins of 10 buckets
		many.Buckets, many.Counts = append(many.Buckets, i), append(many.Counts, 7)
	}
	uneven := Histogram{} // half of the rows are in one bucket of 41
	for i := range int16(41) {
		n := uint64(1)
		if i == 20 {
			n = 40
		}
		uneven.Buckets, uneven.Counts = append(uneven.Buckets, i), append(uneven.Counts, n)
	}
	narrow := Histogram{Buckets: []int16{16100, 16102, 16103}, Counts: []uint64{1, 2, 3}, Nulls: 4}
	for _, c := range []struct {
		name  string
		dtype features.DType
		h     Histogram
		want  Bins
	}{
		{"nothing", features.Float64, Histogram{Nulls: 5}, Bins{false, nil, []uint64{0, 5}}},
		{"one value", features.Float64, Histogram{Buckets: []int16{0}, Counts: []uint64{9}}, Bins{false, []int16{-2, 1}, []uint64{0, 9, 0, 0}}},
		{"a bin each, and what is far out", features.Float32, narrow, Bins{false, []int16{16096, 16100, 16102, 16106}, []uint64{0, 1, 2, 3, 0, 4}}},
		{"out to the end", features.Float64, Histogram{Buckets: []int16{-20000, 20000}, Counts: []uint64{1, 2}}, Bins{false, []int16{-20000}, []uint64{1, 2, 0}}},
		{"integers that share buckets", features.Int64, Histogram{Buckets: []int16{17000}, Counts: []uint64{9}}, Bins{false, []int16{16998, 17001}, []uint64{0, 9, 0, 0}}},
		{"small integers", features.Int64, Histogram{Buckets: []int16{-16001, 0, 16161}, Counts: []uint64{1, 2, 3}, Nulls: 4}, Bins{true, []int16{-16001, 0, 16161}, []uint64{1, 2, 3, 0, 4}}},
		{"truth", features.Bool, Histogram{Buckets: []int16{16001}, Counts: []uint64{7}}, Bins{true, []int16{16001}, []uint64{7, 0, 0}}},
		{"strings", features.String, Histogram{Buckets: []int16{3, 900}, Counts: []uint64{7, 1}}, Bins{true, []int16{3, 900}, []uint64{7, 1, 0, 0}}},
		{"bins filled alike", features.Float64, many, Bins{false, []int16{9, 19, 29, 39, 49, 59, 69, 79, 89}, []uint64{70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 3}}},
	} {
		if got := c.h.Bins(c.dtype); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	// No empty bin after a full one, and every row in one bin.
	b := uneven.Bins(features.Float64)
	var sum uint64
	for _, n := range b.Expected {
		sum += n
	}
	if len(b.Expected) != len(b.Edges)+2 || slices.Contains(b.Expected[:len(b.Expected)-1], 0) || sum != 80 {
		t.Errorf("%d edges, bins %v", len(b.Edges), b.Expected)
	}
}

func TestJudge(t *testing.T) {
	now := time.Unix(1000, 0)
	limits := Thresholds{NullRatio: 0.5, OutOfRangeRatio: 0.01, PSI: 0.25, SkewRatio: 0, Age: time.Minute}
	f := Feature{NullRatio: 0.5, OutOfRangeRatio: 0.01, PSI: []Drift{{"a", 0.25}}, Newest: now.Add(-time.Minute)}
	if limits.Judge(&f, now); len(f.Crossed) != 0 {
		t.Errorf("at the threshold nothing is crossed: %q", f.Crossed)
	}
	f = Feature{NullRatio: 0.51, OutOfRangeRatio: 0.011, PSI: []Drift{{"a", 0.1}, {"b", 0.26}}, SkewRatio: 0.001, Newest: now.Add(-61 * time.Second)}
	if limits.Judge(&f, now); !slices.Equal(f.Crossed, []string{"null_ratio", "out_of_range_ratio", "psi", "skew_ratio", "age"}) {
		t.Errorf("%q", f.Crossed)
	}
}
