package derive

import (
	"math"
	"slices"
	"testing"
	"time"

	"sextant/features"
)

func TestDue(t *testing.T) {
	s := Schedule{Delay: 10 * time.Second, Settle: 2 * time.Second, CatchUp: 3}
	for _, c := range []struct {
		name      string
		last, now int64 // s
		due       []int64
		skipped   int64
	}{
		{"never ran: the newest", 0, 1032, []int64{1020}, 0},
		{"not yet", 1020, 1041, nil, 0},
		{"on the dot", 1020, 1042, []int64{1030}, 0},
		{"two behind", 1000, 1039, []int64{1010, 1020}, 0},
		{"too many", 900, 1032, []int64{1000, 1010, 1020}, 9},
		{"the clock went back", 1020, 900, nil, 0},
		{"last is no tick of the interval", 1003, 1032, []int64{1010, 1020}, 0},
	} {
		due, skipped := s.Due(10*time.Second, c.last*1000, c.now*1000)
		for i := range due {
			due[i] /= 1000
		}
		if !slices.Equal(due, c.due) || skipped != c.skipped {
			t.Errorf("%s: %v, %d skipped, want %v, %d", c.name, due, skipped, c.due, c.skipped)
		}
	}
	if got := s.Next(10*time.Second, 1_041_000); got != 1_042_000 {
		t.Errorf("next %d", got)
	}
	if got := s.Next(10*time.Second, 1_042_000); got != 1_052_000 {
		t.Errorf("next %d", got)
	}
}

func ratio() features.Feature {
	low, high := 0.0, 1.0
	return features.Feature{Name: "ratio", DType: features.Float64, Min: &low, Max: &high}
}

func TestCleanFollowsTheRulesOfPromQL(t *testing.T) {
	v := &features.View{Name: "v", Version: 1, Keys: []string{"a", "b"}, Features: []features.Feature{ratio(), {Name: "name", DType: features.String}}}
	nan := math.NaN()
	raw := &features.Rows{View: v, Tick: make([]int64, 9), Known: make([]int64, 9),
		Keys: [][]string{
			{"k", "k", "twice", "twice", "twice", "", "inf", "none", "x"},
			{"1", "2", "1", "1", "1", "1", "1", "1", ""},
		},
		Cols: []features.Column{
			{Num: []float64{0.5, 2, 0.1, 0.2, 0.3, 0.4, math.Inf(1), nan, 0.5}},
			{Str: []string{"", "big", "", "", "", "", "i", "", ""}},
		}}
	rows, counts := Clean(raw)
	if got, want := rows.Keys[0], []string{"k", "k", "inf"}; !slices.Equal(got, want) {
		t.Fatalf("entities %q, want %q", got, want)
	}
	if n := rows.Cols[0].Num; n[0] != 0.5 || !math.IsNaN(n[1]) || !math.IsNaN(n[2]) {
		t.Errorf("values %v", n)
	}
	if counts.OutOfRange[0] != 2 || counts.Duplicates != 1 || counts.Nameless != 2 {
		t.Errorf("%+v", counts)
	}
	if len(rows.Tick) != 3 || len(rows.Known) != 3 || !slices.Equal(rows.Cols[1].Str, []string{"", "big", "i"}) {
		t.Errorf("%+v", rows)
	}
}
