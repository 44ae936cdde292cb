package derive

import (
	"math"
	"slices"
	"testing"
	"time"

	"sextant/features"
)

func TestDue(t *testing.T) {
	s := Schedule{Delay: 10 * time.Second, Settle: 2 * time.Second, CatchUp: 30 * time.Second}
	for _, c := range []struct {
		name    string
		done    Done // s
		now     int64
		due     []int64
		skipped int64
	}{
		{"never ran: the newest", Done{}, 1032, []int64{1020}, 0},
		{"not yet", Done{1000, 1020, []int64{1000, 1010, 1020}}, 1041, nil, 0},
		{"on the dot", Done{1000, 1020, []int64{1000, 1010, 1020}}, 1042, []int64{1030}, 0},
		{"two behind", Done{1000, 1000, []int64{1000}}, 1039, []int64{1010, 1020}, 0},
		{"a gap in the middle", Done{900, 1020, []int64{1000, 1020}}, 1039, []int64{1010}, 0},
		{"before the first there is no gap", Done{1010, 1010, []int64{1010}}, 1039, []int64{1020}, 0},
		{"too many", Done{900, 900, nil}, 1032, []int64{1000, 1010, 1020}, 9},
		{"the clock went back", Done{1000, 1020, []int64{1000, 1010, 1020}}, 900, nil, 0},
		{"last is no tick of the interval", Done{1003, 1003, []int64{1003}}, 1032, []int64{1010, 1020}, 0},
	} {
		j := &job{interval: 10 * time.Second}
		if now := c.now * 1000; c.done.Last > 0 {
			d := Done{c.done.First * 1000, c.done.Last * 1000, nil}
			for _, x := range c.done.Ticks {
				d.Ticks = append(d.Ticks, x*1000)
			}
			j.resume(d, s.since(now))
		}
		due, skipped := j.due(s, c.now*1000)
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

// A view whose interval is longer than what is made up for has its newest tick all the same.
func TestDueOfALongInterval(t *testing.T) {
	s := Schedule{CatchUp: 30 * time.Second}
	j := &job{interval: time.Minute}
	j.resume(Done{600_000, 600_000, nil}, s.since(741_000))
	if due, skipped := j.due(s, 741_000); !slices.Equal(due, []int64{720_000}) || skipped != 1 {
		t.Errorf("%v, %d skipped", due, skipped)
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
