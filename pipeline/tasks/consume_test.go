package tasks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	schema "sextant/schema/tasks"
	"sextant/schema/wire"
)

const now = 1_772_366_400_000 // 2026-03-01T12:00:00Z

func record(t testing.TB, id string, offset int64) wire.Record {
	t.Helper()
	e := &schema.Event{ID: id, Task: "t1", Cluster: "c", State: schema.Queued, Time: now, Source: "test"}
	b, err := e.Encode(now)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Record{Partition: 3, Offset: offset, Ingest: now, Key: e.Key(), Value: b}
}

// topic is a partition with a committed offset. A crash is a call that fails: the step-th
// of all fetches, writes and commits.
type topic struct {
	t         testing.TB
	records   []wire.Record
	committed int64

	at      int64
	rows    map[string]bool // ids of the events that the store has
	dead    map[int64]string
	writes  int
	step    int
	crashes int // the step that fails; 0: none
}

var errCrash = errors.New("crash")

func (p *topic) crash() error {
	if p.step++; p.step == p.crashes {
		return errCrash
	}
	return nil
}

func (p *topic) Fetch(ctx context.Context) ([]wire.Record, error) {
	if err := p.crash(); err != nil {
		return nil, err
	}
	from := max(p.at, p.committed)
	end := min(from+2, int64(len(p.records)))
	if from >= end {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(250 * time.Millisecond):
			return nil, nil
		}
	}
	p.at = end
	return p.records[from:end], nil
}

func (p *topic) WriteTasks(_ context.Context, rows []Row) error {
	if err := p.crash(); err != nil {
		return err
	}
	p.writes++
	for _, r := range rows {
		p.rows[r.Event.ID] = true
	}
	return p.crash() // after the rows are there, before anybody knows
}

func (p *topic) Commit(_ context.Context, next int64) error {
	for i := range next {
		if row, err := Decode(&p.records[i]); err != nil {
			if p.dead[i] == "" {
				p.t.Errorf("commit %d before dead letter %d was kept", next, i)
			}
		} else if !p.rows[row.Event.ID] {
			p.t.Errorf("commit %d before offset %d was stored", next, i)
		}
	}
	if err := p.crash(); err != nil {
		return err
	}
	p.committed = next
	return p.crash()
}

func (p *topic) keep(_ context.Context, dead []DeadLetter) error {
	for _, d := range dead {
		p.dead[d.Record.Offset] = d.Reason
	}
	return p.crash()
}

// run is one life of the consumer.
func (p *topic) run(ctx context.Context, rows int) error {
	p.at = 0
	return Run(ctx, p, p, Config{Dead: p.keep, MaxRows: rows, MaxDelay: time.Second})
}

func newTopic(t testing.TB) *topic {
	p := &topic{t: t, rows: map[string]bool{}, dead: map[int64]string{}}
	for i := range int64(7) {
		p.records = append(p.records, record(t, fmt.Sprintf("e%d", i), i))
	}
	p.records[2].Value = []byte(`{"version":9}`)
	p.records[4].Value = nil
	p.records[5].Ingest = now - 3600_000 // the event lies in the future
	return p
}

func (p *topic) check(what string) {
	p.t.Helper()
	got, want := slices.Sorted(maps.Keys(p.rows)), []string{"e0", "e1", "e3", "e6"}
	if !slices.Equal(got, want) || p.committed != 7 {
		p.t.Errorf("%s: rows %q committed %d, want %q and 7", what, got, p.committed, want)
	}
	if len(p.dead) != 3 || !strings.Contains(p.dead[2], "version: 9") || !strings.Contains(p.dead[4], "no value") || !strings.Contains(p.dead[5], "time: is 1h0m0s ahead") {
		p.t.Errorf("%s: dead letters %v", what, p.dead)
	}
}

// The consumer dies at every step, is started again with another batch size, and leaves
// the same rows.
func TestCrashAtEveryStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crashed := 0
		for step := 1; step < 60; step++ {
			p := newTopic(t)
			p.crashes = step
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			err := p.run(ctx, 1+step%4)
			cancel()
			if errors.Is(err, errCrash) {
				crashed++
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				_ = p.run(ctx, 1+step%3)
				cancel()
			}
			p.check(fmt.Sprintf("crash at step %d", step))
		}
		if crashed < 20 {
			t.Errorf("only %d crashes: the steps are not reached", crashed)
		}
	})
}

// Events that come one by one share a write.
func TestEventsAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTopic(t)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := p.run(ctx, 100); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		p.check("all at once")
		if p.writes != 1 {
			t.Errorf("%d writes, want 1", p.writes)
		}
	})
}

func TestDecodeHoldsNothingOfTheRecord(t *testing.T) {
	good := record(t, "e1", 0)
	want := string(good.Value)
	row, err := Decode(&good)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good.Value {
		good.Value[i] = 'x' // the record is gone with the next fetch
	}
	if row.Event.ID != "e1" || row.Partition != 3 || row.Text != want {
		t.Errorf("%+v", row)
	}
}

func FuzzDecode(f *testing.F) {
	r := record(f, "e1", 0)
	f.Add(r.Value)
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, value []byte) {
		row, err := Decode(&wire.Record{Ingest: now, Value: value})
		if err == nil && (row.Event.ID == "" || row.Text == "") {
			t.Errorf("%+v", row)
		}
	})
}
