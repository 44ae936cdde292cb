package spool

import (
	"math/rand/v2"
	"testing"
)

// TestRangesAgreeWithASet runs random operations on ranges and on a plain set.
func TestRangesAgreeWithASet(t *testing.T) {
	const top = 60
	rnd := rand.New(rand.NewPCG(1, 2))
	var r ranges
	var set [top + 1]bool
	for step := range 20_000 {
		sp := span{1 + rnd.Uint64N(top-1), 0}
		sp.to = min(top, sp.from+rnd.Uint64N(8))
		put := rnd.IntN(2) == 0
		if put {
			r.add(sp)
		} else {
			r.remove(sp)
		}
		for n := sp.from; n < sp.to; n++ {
			set[n] = put
		}
		checkRanges(t, step, r, set[:])
	}
}

func checkRanges(t *testing.T, step int, r ranges, set []bool) {
	t.Helper()
	for i, sp := range r {
		if sp.from >= sp.to || (i > 0 && r[i-1].to >= sp.from) {
			t.Fatalf("step %d: spans %v are not sorted and apart", step, r)
		}
	}
	missing, gap, highest := uint64(0), uint64(len(set)), uint64(0)
	for n := len(set) - 1; n >= 1; n-- {
		if r.contains(uint64(n)) != set[n] {
			t.Fatalf("step %d: contains(%d) = %t in %v", step, n, !set[n], r)
		}
		if set[n] {
			highest = max(highest, uint64(n))
		} else {
			missing++
			gap = uint64(n)
		}
		if got := r.gap(uint64(n)); got != gap && gap < uint64(len(set)) {
			t.Fatalf("step %d: gap(%d) = %d, want %d in %v", step, n, got, gap, r)
		}
	}
	if got := r.missing(span{1, uint64(len(set))}); got != missing {
		t.Fatalf("step %d: missing = %d, want %d in %v", step, got, missing, r)
	}
	if got := r.max(); got != highest {
		t.Fatalf("step %d: max = %d, want %d in %v", step, got, highest, r)
	}
}
