package submit

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"sextant/internal/simulate"
	"sextant/schema/tasks"
)

var start = time.UnixMilli(1_767_225_600_000)

// hour is what a cluster's jobs do in an hour, with ten times the demo's faults.
func hour(t *testing.T) []simulate.Happening {
	t.Helper()
	cfg, err := simulate.Demo(24)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cfg.Faults {
		cfg.Faults[i].Probability = min(10*cfg.Faults[i].Probability, 1)
	}
	c, err := simulate.New(cfg, nil, start)
	if err != nil {
		t.Fatal(err)
	}
	var out []simulate.Happening
	c.Follow(func(h simulate.Happening) { out = append(out, h) })
	c.Step(time.Hour)
	return out
}

// before are the states that a task may have had before each.
var before = map[tasks.State][]tasks.State{
	tasks.Submitted: {""}, tasks.Scheduled: {tasks.Submitted, tasks.Evicted}, tasks.Started: {tasks.Scheduled},
	tasks.Evicted: {tasks.Started}, tasks.Finished: {tasks.Started}, tasks.Failed: {tasks.Started}, tasks.Cancelled: {tasks.Started, tasks.Submitted, tasks.Evicted},
}

func TestEvents(t *testing.T) {
	teller := NewTeller("t")
	state, ids, seen, slices4 := map[string]tasks.State{}, map[string]bool{}, map[tasks.State]int{}, 0
	late, gangs := 0, 0
	deadline := map[string]int64{}
	for _, h := range hour(t) {
		for _, e := range teller.Events(h) {
			if fs := e.Check(start.Add(time.Hour).UnixMilli()); len(fs) > 0 {
				t.Fatalf("%+v: %v", e, fs)
			}
			if !slices.Contains(before[e.State], state[e.Task]) {
				t.Errorf("%s is %s after %q", e.Task, e.State, state[e.Task])
			}
			if ids[e.ID] || !e.Simulated {
				t.Errorf("event %s came twice, or does not say that it is simulated", e.ID)
			}
			state[e.Task], ids[e.ID] = e.State, true
			seen[e.State]++
			if e.SLO.Deadline > 0 {
				deadline[e.Task] = e.SLO.Deadline
			}
			if d := deadline[e.Task]; e.State == tasks.Finished && d > 0 && e.Time > d {
				late++
			}
			if e.GroupSize > 1 {
				gangs++
			}
			for r := range e.Requests {
				if strings.HasPrefix(r, "nvidia.com/mig-") && e.State == tasks.Scheduled && len(e.Devices) > 0 {
					slices4++
				}
			}
		}
	}
	for _, s := range tasks.States[1:] {
		if seen[s] == 0 && s != tasks.Queued {
			t.Errorf("no task was %s in an hour", s)
		}
	}
	if late == 0 || gangs == 0 || slices4 == 0 {
		t.Errorf("%d tasks ended after their deadline, %d are of gangs, %d have MIG slices: want some of each", late, gangs, slices4)
	}
	for task, s := range state {
		if _, lives := teller.Live()[task]; lives == s.Ends() {
			t.Errorf("%s is %s, and lives: %t", task, s, lives)
		}
	}
}

// TestKilled runs, is killed without a word, and runs again: no task of the first run lives on.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	all := hour(t)
	living := map[string]bool{}
	send := func(_ context.Context, events []tasks.Event) error {
		for _, e := range events {
			living[e.Task] = !e.State.Ends()
		}
		return nil
	}
	run := func(ctx context.Context, stop func(), hs []simulate.Happening, send func(context.Context, []tasks.Event) error) {
		t.Helper()
		err := Run(ctx, Config{Dir: dir, Log: slog.New(slog.DiscardHandler), Send: send,
			Happenings: func() []simulate.Happening { defer stop(); return hs }})
		if err != nil {
			t.Fatal(err)
		}
	}
	killed := errors.New("killed")
	ctx, stop := context.WithCancel(t.Context())
	sent := false
	run(ctx, func() {}, all, func(ctx context.Context, events []tasks.Event) error {
		if sent {
			return killed // the last words do not get out
		}
		sent = true
		err := send(ctx, events)
		stop()
		return err
	})
	alive := 0
	for _, l := range living {
		if l {
			alive++
		}
	}
	if alive == 0 {
		t.Fatal("no task lives when the first run is killed")
	}
	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	run(ctx, stop, nil, send)
	for task, l := range living {
		if l {
			t.Errorf("%s lives after the second run", task)
		}
	}
}
