package exposition

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

type sample struct {
	index uint32
	ms    int64
	value float64
}

func (p *Page) samples() (kept []sample) {
	for i := range p.Index {
		kept = append(kept, sample{p.Index[i], p.Times[i], p.Values[i]})
	}
	return kept
}

func TestPage(t *testing.T) {
	nan := normalNaN
	for _, c := range []struct {
		name                          string
		add, keep                     []sample
		duplicates, conflicts, excess int
	}{
		{name: "empty"},
		{name: "each once", add: []sample{{0, 1, 5}, {1, 1, 5}}, keep: []sample{{0, 1, 5}, {1, 1, 5}}},
		{name: "the same twice", add: []sample{{0, 1, 5}, {1, 1, 6}, {0, 1, 5}}, keep: []sample{{0, 1, 5}, {1, 1, 6}}, duplicates: 1},
		{name: "other values", add: []sample{{0, 1, 40}, {1, 1, 6}, {0, 1, 39}}, keep: []sample{{1, 1, 6}}, conflicts: 1},
		{name: "three values are one conflict", add: []sample{{0, 1, 40}, {0, 1, 39}, {0, 1, 38}}, conflicts: 1},
		{name: "other times", add: []sample{{0, 1, 40}, {0, 2, 39}}, keep: []sample{{0, 1, 40}, {0, 2, 39}}},
		{name: "conflict at one time", add: []sample{{0, 1, 40}, {0, 2, 39}, {0, 3, 1}, {0, 2, 0}}, keep: []sample{{0, 1, 40}, {0, 3, 1}}, conflicts: 1},
		{name: "two conflicts", add: []sample{{0, 1, 1}, {9, 1, 1}, {9, 1, 2}, {0, 1, 2}}, conflicts: 2},
		{name: "zero and minus zero differ", add: []sample{{0, 1, 0}, {0, 1, math.Copysign(0, -1)}}, conflicts: 1},
		{name: "NaN is equal to NaN", add: []sample{{0, 1, nan}, {0, 1, nan}}, keep: []sample{{0, 1, nan}}, duplicates: 1},
	} {
		var p Page
		for round := range 3 { // what a page leaves behind must not show on the next
			p.Reset(2)
			for _, s := range c.add {
				p.Add(s.index, s.ms, s.value)
			}
			p.Finish()
			same := slices.EqualFunc(p.samples(), c.keep, func(a, b sample) bool {
				return a.index == b.index && a.ms == b.ms && math.Float64bits(a.value) == math.Float64bits(b.value)
			})
			if !same || p.Duplicates != c.duplicates || p.Conflicts != c.conflicts || p.Excess != c.excess {
				t.Errorf("%s, round %d: kept %v, %d duplicates, %d conflicts, %d excess",
					c.name, round, p.samples(), p.Duplicates, p.Conflicts, p.Excess)
			}
		}
	}
}

func TestPageBoundsOneSeries(t *testing.T) {
	var p Page
	p.Reset(1)
	for i := range MaxTimes + 10 {
		p.Add(0, int64(-i), 1)
	}
	p.Finish()
	if len(p.Index) != MaxTimes || p.Excess != 10 {
		t.Fatalf("%d samples, %d excess", len(p.Index), p.Excess)
	}
}

// TestPageNumberWrapsAround: slots of long ago, and such that no page ever wrote, must
// not pass for slots of the page after the wrap.
func TestPageNumberWrapsAround(t *testing.T) {
	var p Page
	p.Reset(3)
	p.Add(0, 1, 5)
	p.page = math.MaxUint32
	p.Reset(3)
	for index := range uint32(3) {
		p.Add(index, 1, float64(index))
	}
	if p.Finish(); p.Conflicts != 0 || p.Duplicates != 0 || len(p.Index) != 3 {
		t.Fatalf("%d conflicts, %d duplicates, %d samples", p.Conflicts, p.Duplicates, len(p.Index))
	}
}

// TestPageAgainstOracle compares with a map from (series, time) to all values given.
func TestPageAgainstOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var p Page
	for range 500 {
		type key struct {
			index uint32
			ms    int64
		}
		given := map[key][]float64{}
		p.Reset(r.IntN(10))
		for range r.IntN(60) {
			k, v := key{r.Uint32N(12), r.Int64N(3)}, float64(r.IntN(3))
			given[k] = append(given[k], v)
			p.Add(k.index, k.ms, v)
		}
		p.Finish()
		conflicts := 0
		for k, values := range given {
			slices.Sort(values)
			if values = slices.Compact(values); len(values) > 1 {
				conflicts++
				delete(given, k)
			}
		}
		for _, s := range p.samples() {
			k := key{s.index, s.ms}
			if len(given[k]) == 0 || given[k][0] != s.value {
				t.Fatalf("kept %v, which was given as %v", s, given[k])
			}
			delete(given, k)
		}
		if len(given) != 0 || p.Conflicts != conflicts {
			t.Fatalf("lost %v; %d conflicts, want %d", given, p.Conflicts, conflicts)
		}
	}
}

func TestPageDoesNotAllocate(t *testing.T) {
	var p Page
	run := func() {
		p.Reset(500)
		for i := range 500 {
			p.Add(uint32(i), 1, 1)
		}
		p.Finish()
	}
	if n := testing.AllocsPerRun(20, run); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
