package pipeline_test

import (
	"context"
	"fmt"
	"testing"

	"sextant/features"
	"sextant/pipeline"
)

func newMachine(t testing.TB, c pipeline.Checkpoint) *pipeline.Machine {
	t.Helper()
	return machineOf(t, streamViews(), c)
}

func machineOf(t testing.TB, views []*features.View, c pipeline.Checkpoint) *pipeline.Machine {
	t.Helper()
	m, err := pipeline.NewMachine(pipeline.Config{Topic: "t", Views: views, Lookback: testLookback, GroupSize: 3}, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// live runs the events through one machine without a fault.
func live(t *testing.T, events []event, to *table, batch int) {
	t.Helper()
	p := &process{t: t, events: events, store: to, batch: batch, crash: -1}
	p.run(pipeline.Checkpoint{})
}

// process is one life of a pipeline, which may end at any step.
type process struct {
	t      *testing.T
	events []event
	store  *table
	views  []*features.View // nil: streamViews
	batch  int              // records per batch
	crash  int              // the step after which it ends; -1: never
	step   int

	committed pipeline.Checkpoint
}

// ends takes one step and reports whether it was the last.
func (p *process) ends() bool {
	p.step++
	return p.step == p.crash
}

// run reports whether it came to the end of the events.
func (p *process) run(from pipeline.Checkpoint) bool {
	if p.views == nil {
		p.views = streamViews()
	}
	m := machineOf(p.t, p.views, from)
	p.committed = from
	records := 0
	for _, e := range p.events {
		if e.idle != 0 {
			m.Idle(e.idle)
		} else if e.record.Offset >= from.Offset {
			if err := m.Add(e.record); (err != nil) != e.dead {
				p.t.Fatalf("offset %d: %v", e.record.Offset, err)
			}
			records++
		}
		if p.ends() {
			return false
		}
		if records >= p.batch {
			records = 0
			if !p.flush(m) {
				return false
			}
		}
	}
	return p.flush(m)
}

// flush writes and commits, with a chance to crash between any two steps.
func (p *process) flush(m *pipeline.Machine) bool {
	b := m.Take()
	if b == nil {
		return true
	}
	if p.ends() {
		return false
	}
	if err := p.store.Write(context.Background(), b); err != nil {
		p.t.Fatal(err)
	}
	if p.ends() {
		return false
	}
	c, err := pipeline.ParseCheckpoint(b.Next.Offset, b.Next.String())
	if err != nil {
		p.t.Fatal(err)
	}
	if c.Written < p.committed.Written || c.Watermark < p.committed.Watermark || c.Offset < p.committed.Offset {
		p.t.Fatalf("commit goes back from %+v to %+v", p.committed, c)
	}
	p.committed = c
	m.Recycle(b)
	return !p.ends()
}

// TestCrashAtEveryStep ends a pipeline after each of its steps, restarts it with another
// batch size, and wants the store to hold what it holds after a life without a crash.
func TestCrashAtEveryStep(t *testing.T) {
	for seed := range uint64(2) {
		events := stream(seed, 120)
		want := newTable()
		live(t, events, want, 10)
		for step := 1; ; step++ {
			got := newTable()
			first := &process{t: t, events: events, store: got, batch: 7, crash: step}
			if first.run(pipeline.Checkpoint{}) {
				break
			}
			// The next one crashes too, soon after, so that replays are replayed.
			second := &process{t: t, events: after(events, first.committed), store: got, batch: 3, crash: 1 + step%17}
			c := first.committed
			if !second.run(c) {
				c = second.committed
				third := &process{t: t, events: after(events, c), store: got, batch: 1 + step%5, crash: -1}
				third.run(c)
			}
			if d := got.diff(want); d != "" {
				t.Fatalf("seed %d, crash after step %d, restart from %+v:\n%s", seed, step, c, d)
			}
		}
	}
}

// after is what a restarted pipeline lives through: the records from the checkpoint on.
// A silence that was over is not lived again.
func after(events []event, c pipeline.Checkpoint) []event {
	var out []event
	for _, e := range events {
		if e.idle == 0 && e.record.Offset >= c.Offset {
			out = append(out, e)
		}
	}
	return out
}

// TestBatchesDoNotMatter wants the same store whatever the size of batches.
func TestBatchesDoNotMatter(t *testing.T) {
	for seed := range uint64(5) {
		events := stream(100+seed, 300)
		want := newTable()
		live(t, events, want, 1_000_000)
		for _, batch := range []int{1, 2, 13, 100} {
			t.Run(fmt.Sprint(seed, "/", batch), func(t *testing.T) {
				got := newTable()
				live(t, events, got, batch)
				if d := got.diff(want); d != "" {
					t.Error(d)
				}
			})
		}
	}
}
