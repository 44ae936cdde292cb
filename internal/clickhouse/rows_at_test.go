package clickhouse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sextant/features"
)

// TestRowsAtAgainstOracle: RowsAt has of every entity the row that the oracle of AsOf finds, and
// no entity of which it finds none; by key.
func TestRowsAtAgainstOracle(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db, func(c *SinkConfig) { c.MaxDelay = time.Millisecond })
	rows := 0
	for keys := 1; keys <= 3; keys += 2 {
		v := testView()
		v.Name, v.Keys = fmt.Sprintf("whole_by_%d", keys), []string{"node", "uid", "slice"}[:keys]
		if err := db.ApplyViews(t.Context(), []*features.View{v}); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(9, uint64(keys)))
		h := randomHistory(r, v, "")
		for len(h.rows) < 200 {
			h.rows = append(h.rows, randomHistory(r, v, "").rows...)
		}
		writeHistories(t, s, v, []*history{h})
		for _, row := range h.rows[:40] {
			v := *v
			v.TTL = time.Duration(1+r.IntN(40)) * 10 * time.Second
			at := []int64{row.Tick[0], row.Known[0], row.Tick[0] + v.Memory().Milliseconds()}[r.IntN(3)] + int64(r.IntN(3)-1)
			got, err := db.RowsAt(t.Context(), &v, at)
			if err != nil {
				t.Fatal(err)
			}
			rows += len(got.Tick)
			compareRowsAt(t, h, &v, got, at)
		}
	}
	if rows < 100 {
		t.Errorf("%d rows compared", rows)
	}
}

func compareRowsAt(t *testing.T, h *history, v *features.View, got *features.Rows, at int64) {
	t.Helper()
	answered := map[string]int{}
	var order []string
	for i := range got.Tick {
		id := ""
		for k := range got.Keys {
			id += got.Keys[k][i] + "\x00"
		}
		answered[id] = i
		order = append(order, id)
	}
	if !slices.IsSorted(order) || len(answered) != len(order) {
		t.Errorf("entities %q: want each once, by key", order)
	}
	seen := map[string]bool{}
	for _, row := range h.rows {
		asks := &features.Asks{Keys: row.Keys, At: []int64{at}}
		id := ""
		for k := range row.Keys {
			id += row.Keys[k][0] + "\x00"
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		state := "NOT_FOUND"
		if i, ok := answered[id]; ok {
			if st := v.RowStatus(true, got.Tick[i], at); st != features.Present {
				state = st.String()
			} else {
				state = describeRow(got, i)
			}
		}
		if want := h.oracle(v, asks, 0); state != want {
			t.Errorf("%q at t0%+d, ttl %v:\ngot  %s\nwant %s", id, at-t0, v.TTL, state, want)
		}
	}
}
