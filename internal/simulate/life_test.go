package simulate

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestFollow replays what is told and wants the cluster's own state back: after an hour with
// ten times the faults, the jobs that were placed and not taken off are those on the units.
func TestFollow(t *testing.T) {
	cfg, err := Demo(24)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cfg.Faults {
		cfg.Faults[i].Probability = min(10*cfg.Faults[i].Probability, 1)
	}
	c := mustNew(t, cfg)
	state, last := map[string]Step{}, int64(0)
	units, seen := map[string]int{}, map[Step]int{}
	after := map[Step][]Step{Arrived: {""}, Placed: {Arrived, Evicted}, Ended: {Placed}, Evicted: {Placed}}
	following := false
	c.Follow(func(h Happening) {
		key := h.Group.Name + "/" + h.Job.Name
		if !slices.Contains(after[h.Step], state[key]) {
			t.Errorf("%s is %s after %q", key, h.Step, state[key])
		}
		if following && h.At < last {
			t.Errorf("%s is told %d ms back", key, last-h.At)
		}
		last, state[key], units[key] = h.At, h.Step, 0
		seen[h.Step]++
		for _, p := range h.Parts {
			units[key] += len(p.Units)
		}
		if h.Step == Placed && units[key] != h.Job.Units {
			t.Errorf("%s has %d of %d units", key, units[key], h.Job.Units)
		}
	})
	following, last = true, 0
	c.Step(time.Hour)
	want, got := map[string]int{}, map[string]int{}
	for _, n := range c.Nodes {
		n.each(func(_ *Device, u *Unit) {
			if u.Job != nil {
				want[n.Group.Name+"/"+u.Job.Name]++
			}
		})
	}
	for key, s := range state {
		if s == Placed {
			got[key] = units[key]
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("told %v\non the units %v", got, want)
	}
	for _, s := range []Step{Arrived, Placed, Ended, Evicted} {
		if seen[s] == 0 {
			t.Errorf("nothing was %s in an hour", s)
		}
	}
}
