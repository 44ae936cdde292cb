package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	schema "sextant/schema/inventory"
	"sextant/schema/wire"
)

// record is a document of a node, at an offset.
func record(t testing.TB, node string, offset int64) wire.Record {
	t.Helper()
	d := &schema.Document{Node: node, Since: 1000 + offset, Collected: 1000 + offset}
	if err := d.Seal(); err != nil {
		t.Fatal(err)
	}
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return wire.Record{Partition: 3, Offset: offset, Ingest: 5000, Key: []byte(node), Value: b}
}

// topic is a partition with a committed offset. A crash is a call that fails: the step-th
// of all fetches, writes and commits.
type topic struct {
	t         testing.TB
	records   []wire.Record
	committed int64

	at      int64
	rows    map[string]int64 // what the store has: node and since, to the offset that wrote it last
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

func (p *topic) WriteInventory(_ context.Context, rows []Row) error {
	if err := p.crash(); err != nil {
		return err
	}
	p.writes++
	for _, r := range rows {
		if r.Document == nil {
			p.rows[r.Node+" gone"] = r.Offset
			continue
		}
		p.rows[fmt.Sprintf("%s %d", r.Node, r.Document.Since)] = r.Offset
	}
	return p.crash() // after the rows are there, before anybody knows
}

func (p *topic) Commit(_ context.Context, next int64) error {
	for i := range next {
		r := p.records[i]
		if row, err := Decode(&r); err != nil {
			if p.dead[i] == "" {
				p.t.Errorf("commit %d before dead letter %d was kept", next, i)
			}
		} else if row.Document != nil && p.rows[fmt.Sprintf("%s %d", row.Node, row.Document.Since)] != i {
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
	p := &topic{t: t, rows: map[string]int64{}, dead: map[int64]string{}}
	for i := range int64(7) {
		p.records = append(p.records, record(t, fmt.Sprintf("n%d", i%3), i))
	}
	p.records[2].Value = []byte(`{"version":9}`)
	p.records[4].Value = nil // the node is gone
	p.records[5].Key = []byte("other")
	return p
}

var wantRows = []string{"n0 1000", "n0 1003", "n0 1006", "n1 1001", "n1 gone"}

func (p *topic) check(what string) {
	p.t.Helper()
	var got []string
	for r := range p.rows {
		got = append(got, r)
	}
	slices.Sort(got)
	if !slices.Equal(got, wantRows) || p.committed != 7 {
		p.t.Errorf("%s: rows %q committed %d, want %q and 7", what, got, p.committed, wantRows)
	}
	if len(p.dead) != 2 || !strings.Contains(p.dead[2], "version 9") || !strings.Contains(p.dead[5], `document of node "n2" under the key "other"`) {
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

// Documents that come one by one share a write.
func TestDocumentsAreGathered(t *testing.T) {
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

func TestDecode(t *testing.T) {
	good := record(t, "n1", 0)
	row, err := Decode(&good)
	if err != nil || row.Node != "n1" || row.Partition != 3 || row.Text != string(good.Value) {
		t.Fatalf("%+v, %v", row, err)
	}
	for i := range good.Value {
		good.Value[i] = 'x' // the record is gone with the next fetch
	}
	if !strings.HasPrefix(row.Text, `{"version":1`) {
		t.Error("the row holds the record's bytes")
	}
	for _, key := range []string{"", "a\x00", strings.Repeat("n", 256)} {
		if _, err := Decode(&wire.Record{Key: []byte(key)}); err == nil {
			t.Errorf("key %q was taken", key)
		}
	}
}

func FuzzDecode(f *testing.F) {
	r := record(f, "n1", 0)
	f.Add([]byte("n1"), r.Value)
	f.Add([]byte("n1"), []byte(nil))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		row, err := Decode(&wire.Record{Key: key, Value: value})
		if err == nil && (row.Node != string(key) || row.Document != nil && row.Document.Node != row.Node) {
			t.Errorf("%+v", row)
		}
	})
}
