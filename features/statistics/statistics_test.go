package statistics

import (
	"math"
	"slices"
	"testing"
	"time"
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
	for _, c := range []struct {
		name     string
		h        Histogram
		edges    []int16
		expected []uint64
	}{
		{"nothing", Histogram{Nulls: 5}, nil, []uint64{0, 5}},
		{"one value", Histogram{Buckets: []int16{0}, Counts: []uint64{9}}, nil, []uint64{9, 0}},
		{"a bin each", Histogram{Buckets: []int16{-5, 0, 7}, Counts: []uint64{1, 2, 3}, Nulls: 4}, []int16{-5, 0}, []uint64{1, 2, 3, 4}},
		{"bins filled alike", many, []int16{9, 19, 29, 39, 49, 59, 69, 79, 89}, []uint64{70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 3}},
		{"no empty bin after a full one", uneven, nil, nil},
	} {
		edges, expected := c.h.Bins()
		if c.expected != nil && (!slices.Equal(edges, c.edges) || !slices.Equal(expected, c.expected)) {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, edges, expected, c.edges, c.expected)
		}
		if len(expected) != len(edges)+2 || slices.Contains(expected[:len(expected)-1], 0) && c.name != "nothing" {
			t.Errorf("%s: %d edges, bins %v", c.name, len(edges), expected)
		}
		var sum, want uint64
		for _, n := range expected {
			sum += n
		}
		for _, n := range c.h.Counts {
			want += n
		}
		if sum != want+c.h.Nulls {
			t.Errorf("%s: %d rows in bins, want %d", c.name, sum, want+c.h.Nulls)
		}
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
