package online

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sextant/features"
)

// load is one entity's load, or NaN where the entity is unknown.
func load(s *Snapshot, node string) float64 {
	if r := s.Find(nil, [][]string{{node}})[0]; r >= 0 {
		return s.Cols[0].Num[r]
	}
	return math.NaN()
}

func merged(t *testing.T, s *Snapshot, cutoff int64, rows ...row) *Snapshot {
	t.Helper()
	n, err := s.merge(columns(s.View, rows...), cutoff)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMergeKeepsTheLatestRow(t *testing.T) {
	first := merged(t, newSnapshot(testView()), 0, row{"a", 20, 25, 1, "x"}, row{"b", 10, 15, 2, "y"})
	if first.Len() != 2 || first.Newest != 20 || load(first, "a") != 1 || load(first, "b") != 2 {
		t.Fatalf("first load: %+v", first)
	}
	tests := []struct {
		name string
		row  row
		want float64
	}{
		{"a later tick", row{"a", 30, 35, 3, "x"}, 3},
		{"an earlier tick", row{"a", 10, 99, 3, "x"}, 1},
		{"the same row", row{"a", 20, 25, 1, "x"}, 1},
		{"the same tick, known later", row{"a", 20, 26, 3, "x"}, 3},
		{"the same tick, known earlier", row{"a", 20, 24, 3, "x"}, 1},
	}
	for _, tt := range tests {
		next := merged(t, first, 0, tt.row)
		if got := load(next, "a"); got != tt.want {
			t.Errorf("%s: load %v, want %v", tt.name, got, tt.want)
		}
		if changed := next != first; changed != (tt.want != 1) {
			t.Errorf("%s: copied: %v", tt.name, changed)
		}
		if load(first, "a") != 1 || first.Len() != 2 {
			t.Fatalf("%s: changed a snapshot that readers hold", tt.name)
		}
	}
}

func TestMergeTakesTheLatestOfSeveralRowsOfOneEntity(t *testing.T) {
	s := merged(t, newSnapshot(testView()), 0, row{"a", 20, 1, 2, ""}, row{"a", 30, 1, 3, ""}, row{"a", 10, 1, 1, ""})
	if s.Len() != 1 || load(s, "a") != 3 {
		t.Errorf("new entity: %d rows, load %v", s.Len(), load(s, "a"))
	}
	s = merged(t, s, 0, row{"a", 50, 1, 5, ""}, row{"a", 40, 1, 4, ""})
	if s.Len() != 1 || load(s, "a") != 5 {
		t.Errorf("known entity: %d rows, load %v", s.Len(), load(s, "a"))
	}
}

func TestMergeForgetsOldRows(t *testing.T) {
	old := merged(t, newSnapshot(testView()), 0, row{"a", 10, 1, 1, "x"}, row{"b", 20, 1, 2, "y"}, row{"c", 30, 1, 3, "z"})
	s := merged(t, old, 20, row{"d", 19, 1, 4, ""})
	if s.Len() != 2 || !math.IsNaN(load(s, "a")) || load(s, "b") != 2 || load(s, "c") != 3 || !math.IsNaN(load(s, "d")) {
		t.Errorf("after: %+v", s)
	}
	if r := s.Find(nil, [][]string{{"c"}})[0]; s.Cols[1].Str[r] != "z" || s.Tick[r] != 30 {
		t.Errorf("columns slipped: %+v", s)
	}
	if old.Len() != 3 || load(old, "a") != 1 || load(old, "c") != 3 {
		t.Errorf("changed a snapshot that readers hold: %+v", old)
	}
}

func TestStatus(t *testing.T) {
	s := merged(t, newSnapshot(testView()), 0, row{"a", 1000, 1, 1, ""}, row{"b", 1000, 1, math.NaN(), "x"})
	ttl := time.Minute.Milliseconds()
	tests := []struct {
		node string
		col  int
		now  int64
		want features.Status
	}{
		{"a", 0, 1000, features.Present},
		{"a", 0, 0, features.Present}, // a tick ahead of this clock is not old
		{"a", 0, 1000 + ttl, features.Present},
		{"a", 0, 1001 + ttl, features.OutsideMaxAge},
		{"a", 1, 1000, features.NullValue},
		{"b", 0, 1000, features.NullValue},
		{"b", 0, 1001 + ttl, features.OutsideMaxAge},
		{"b", 1, 1000, features.Present},
		{"c", 0, 1000, features.NotFound},
	}
	for _, tt := range tests {
		r := s.Find(nil, [][]string{{tt.node}})[0]
		if got := s.Cols[tt.col].Status(int(r), s.RowStatus(r, tt.now)); got != tt.want {
			t.Errorf("%s column %d at %d: %s, want %s", tt.node, tt.col, tt.now, got, tt.want)
		}
	}
}

func TestFindByTwoKeys(t *testing.T) {
	v := testView()
	v.Keys = []string{"node", "gpu"}
	rows := columns(v, row{"ab", 1, 1, 1, ""}, row{"a", 1, 1, 2, ""})
	rows.Keys = append(rows.Keys, []string{"c", "bc"})
	s, err := newSnapshot(v).merge(rows, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Find(nil, [][]string{{"a", "ab", "a", ""}, {"bc", "c", "c", "abc"}})
	if fmt.Sprint(got) != "[1 0 -1 -1]" {
		t.Errorf("rows %v", got)
	}
}

func TestMergeRefusesAnotherShape(t *testing.T) {
	for name, spoil := range map[string]func(*features.Rows){
		"known":   func(r *features.Rows) { r.Known = nil },
		"no key":  func(r *features.Rows) { r.Keys = nil },
		"key":     func(r *features.Rows) { r.Keys[0] = nil },
		"columns": func(r *features.Rows) { r.Cols = r.Cols[:1] },
		"number":  func(r *features.Rows) { r.Cols[0].Num = nil },
		"string":  func(r *features.Rows) { r.Cols[1].Str = nil },
	} {
		rows := columns(testView(), row{"a", 1, 1, 1, "x"})
		spoil(rows)
		if _, err := newSnapshot(testView()).merge(rows, 0); err == nil || !strings.Contains(err.Error(), "another shape") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A map of the latest rows is what a snapshot must be equal to, whatever comes in.
func TestMergeEqualsAMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s, want := newSnapshot(testView()), map[string]row{}
	for step := range int64(400) {
		cutoff := step * 10
		var batch []row
		for range rnd.IntN(20) {
			r := row{fmt.Sprint("n", rnd.IntN(40)), cutoff - 50 + rnd.Int64N(600), rnd.Int64N(3), rnd.Float64(), fmt.Sprint(rnd.IntN(9))}
			batch = append(batch, r)
			if old, ok := want[r.node]; r.tick >= cutoff && (!ok || later(r.tick, r.known, old.tick, old.known)) {
				want[r.node] = r
			}
		}
		for node, r := range want {
			if r.tick < cutoff {
				delete(want, node)
			}
		}
		s = merged(t, s, cutoff, batch...)
		compare(t, s, want)
	}
}

func compare(t *testing.T, s *Snapshot, want map[string]row) {
	t.Helper()
	newest := int64(0)
	for node, w := range want {
		newest = max(newest, w.tick)
		r := s.Find(nil, [][]string{{node}})[0]
		if r < 0 {
			t.Fatalf("%s is missing", node)
		}
		if got := (row{s.Keys[0][r], s.Tick[r], s.Known[r], s.Cols[0].Num[r], s.Cols[1].Str[r]}); got != w {
			t.Fatalf("got %+v, want %+v", got, w)
		}
	}
	if s.Len() != len(want) || len(s.index) != len(want) || s.Newest != newest {
		t.Fatalf("%d rows, %d in the index, newest %d; want %d, %d", s.Len(), len(s.index), s.Newest, len(want), newest)
	}
}

func BenchmarkMerge(b *testing.B) {
	v := testView()
	for len(v.Features) < 40 {
		v.Features = append(v.Features, features.Feature{Name: fmt.Sprint("f", len(v.Features))})
	}
	const nodes = 10_000
	rowsAt := func(tick int64) *features.Rows {
		rows := &features.Rows{Keys: make([][]string, 1), Cols: make([]features.Column, len(v.Features))}
		for i := range nodes {
			rows.Tick, rows.Known = append(rows.Tick, tick), append(rows.Known, tick)
			rows.Keys[0] = append(rows.Keys[0], fmt.Sprintf("node-%05d", i))
		}
		for f := range rows.Cols {
			rows.Cols[f].Num = make([]float64, nodes)
		}
		rows.Cols[1] = features.Column{Str: make([]string, nodes)}
		return rows
	}
	first, _ := newSnapshot(v).merge(rowsAt(1), 0)
	for name, rows := range map[string]*features.Rows{"changed": rowsAt(2), "unchanged": rowsAt(1)} {
		b.Run(fmt.Sprintf("%s/%dx%d", name, nodes, len(v.Features)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := first.merge(rows, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
