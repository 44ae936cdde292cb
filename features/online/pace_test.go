package online

import (
	"testing"
	"time"
)

// TestPace walks through two ticks whose rows come 6 s after them, those of one partition 1 s
// later still, and counts the looks.
func TestPace(t *testing.T) {
	const pause, interval = 500 * time.Millisecond, 10 * time.Second
	begin := time.UnixMilli(1_000_000)
	rowsAt := func(at time.Time) int { // how many writes there were
		n := 0
		for _, came := range []time.Duration{6, 7, 16, 17} {
			if !at.Before(begin.Add(came * time.Second)) {
				n++
			}
		}
		return n
	}
	var p pace
	looks, seen := 0, 0
	var delay [4]time.Duration
	for now := begin; now.Before(begin.Add(25 * time.Second)); now = p.next(now, pause) {
		looks++
		n := rowsAt(now)
		for i := seen; i < n; i++ {
			delay[i] = now.Sub(begin.Add([]time.Duration{6, 7, 16, 17}[i] * time.Second))
		}
		p.looked(now, n > seen, n > seen && n != 2 && n != 4, interval)
		seen = n
	}
	if seen != 4 || delay[2] > pause {
		t.Errorf("saw %d of 4 writes, the second tick after %v; want all, and it within %v", seen, delay[2], pause)
	}
	for i, d := range delay {
		if d > pause<<maxQuiet {
			t.Errorf("write %d was seen after %v", i, d)
		}
	}
	if looks > 38 {
		t.Errorf("%d looks in 25 s: one every half second would be 50", looks)
	}
}

// TestPaceOfAStreamThatStands looks seldom, and again often once there are rows.
func TestPaceOfAStreamThatStands(t *testing.T) {
	const pause, interval = 500 * time.Millisecond, 10 * time.Second
	begin := time.UnixMilli(0)
	var p pace
	p.looked(begin, true, true, interval)
	looks := 0
	for now := begin.Add(30 * time.Second); now.Before(begin.Add(60 * time.Second)); now = p.next(now, pause) {
		p.looked(now, false, false, interval)
		looks++
	}
	if looks > 17 {
		t.Errorf("%d looks in 30 s", looks)
	}
	if p.looked(begin.Add(time.Minute), true, true, interval); p.next(begin.Add(time.Minute), pause) != begin.Add(time.Minute+pause) {
		t.Error("rows are there again, and the next look is late")
	}
}
