package clickhouse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sextant/features"
	"sextant/pipeline"
)

// history is rows of entities of its own as they were written, each a Rows of one.
type history struct {
	prefix string // of its entities
	rows   []*features.Rows
}

// corrected is added to the tick of a corrected row, so that it comes behind the row that it
// corrects and before the next tick.
const corrected = 1

// oracle looks at every row for every ask. A later write of the same entity and tick
// replaces an earlier one that was not known later: that is what the store keeps.
func (h *history) oracle(v *features.View, asks *features.Asks, i int) string {
	type kept struct {
		known int64
		row   *features.Rows
	}
	stored := map[int64]kept{}
	for _, r := range h.rows {
		same := true
		for k := range v.Keys {
			same = same && r.Keys[k][0] == asks.Keys[k][i]
		}
		at := r.Tick[0]
		if r.Origin == features.Repair {
			if !asks.AsCorrected {
				continue // nobody was served it
			}
			at += corrected
		}
		if old, ok := stored[at]; same && (!ok || r.Known[0] >= old.known) {
			stored[at] = kept{r.Known[0], r}
		}
	}
	var best *features.Rows
	at := asks.At[i]
	first := int64(-1)
	for id, k := range stored {
		if k.row.Tick[0] > at || !asks.AsCorrected && k.known > at {
			continue
		}
		if id > first {
			best, first = k.row, id
		}
	}
	switch {
	case best == nil || at-best.Tick[0] > v.Memory().Milliseconds():
		return "NOT_FOUND"
	case at-best.Tick[0] > v.TTL.Milliseconds():
		return "OUTSIDE_MAX_AGE"
	}
	return describeRow(best, 0)
}

func describeRow(r *features.Rows, row int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d", r.Tick[row], r.Known[row])
	for c := range r.Cols {
		switch col := &r.Cols[c]; {
		case col.Null(row):
			b.WriteString(" NULL")
		case col.Str != nil:
			b.WriteString(" " + col.Str[row])
		default:
			fmt.Fprintf(&b, " %v", float32(col.Num[row]))
		}
	}
	return b.String()
}

func describeAnswer(a *features.Answers, asks *features.Asks, i int) string {
	if st := a.Status(i, asks.At[i]); st != features.Present {
		return st.String()
	}
	return describeRow(a.Rows, int(a.Row[i]))
}

// randomHistory writes ticks of a few entities: gaps, values that are missing, rows that
// were known late and out of order, and rows that were written again.
func randomHistory(r *rand.Rand, v *features.View, prefix string) *history {
	h := &history{prefix: prefix}
	for range 10 + r.IntN(60) {
		tick := t0 + int64(r.IntN(30))*10_000
		known := tick + []int64{0, 1, 5_000, 5_000, 5_000, 15_000, 61_000, 200_000}[r.IntN(8)]
		row := &features.Rows{View: v, Tick: []int64{tick}, Known: []int64{known}, Origin: features.Origin(r.IntN(3)), Cols: make([]features.Column, len(v.Features))}
		for range v.Keys {
			row.Keys = append(row.Keys, []string{h.randomKey(r)})
		}
		for c := range v.Features {
			missing := r.IntN(4) == 0
			switch {
			case v.Features[c].DType == features.String && missing:
				row.Cols[c].Str = []string{""}
			case v.Features[c].DType == features.String:
				row.Cols[c].Str = []string{fmt.Sprint("s", r.IntN(9))}
			case missing:
				row.Cols[c].Num = []float64{math.NaN()}
			case v.Features[c].DType == features.Bool:
				row.Cols[c].Num = []float64{float64(r.IntN(2))}
			default:
				row.Cols[c].Num = []float64{float64(r.IntN(1000))}
			}
		}
		h.rows = append(h.rows, row)
	}
	return h
}

func (h *history) randomKey(r *rand.Rand) string {
	return h.prefix + []string{"a", "b", "ä", "a\n", ""}[r.IntN(5)]
}

// randomAsks asks at the edges: of ticks, known times, TTL and memory, and a ms beside each.
func randomAsks(r *rand.Rand, v *features.View, h *history) *features.Asks {
	asks := &features.Asks{Keys: make([][]string, len(v.Keys)), AsCorrected: r.IntN(3) == 0}
	for range r.IntN(80) {
		row := h.rows[r.IntN(len(h.rows))]
		at := []int64{row.Tick[0], row.Known[0], row.Tick[0] + v.TTL.Milliseconds(), row.Tick[0] + v.Memory().Milliseconds(), t0 + r.Int64N(400_000)}[r.IntN(5)]
		asks.At = append(asks.At, at+int64(r.IntN(3)-1))
		for k := range v.Keys {
			key := h.randomKey(r)
			if r.IntN(3) > 0 {
				key = row.Keys[k][0]
			}
			asks.Keys[k] = append(asks.Keys[k], key)
		}
		if n := len(asks.At); n > 1 && r.IntN(5) == 0 { // the same question again
			asks.At = append(asks.At, asks.At[n-1])
			for k := range v.Keys {
				asks.Keys[k] = append(asks.Keys[k], asks.Keys[k][n-1])
			}
		}
	}
	return asks
}

// TestAsOfAgainstOracle compares the join with a loop over everything, on random histories.
func TestAsOfAgainstOracle(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db, func(c *SinkConfig) { c.MaxDelay = time.Millisecond })
	for keys := 1; keys <= 3; keys++ {
		v := testView()
		v.Name, v.Keys = fmt.Sprintf("keyed_by_%d", keys), []string{"node", "uid", "slice"}[:keys]
		if err := db.ApplyViews(t.Context(), []*features.View{v}); err != nil {
			t.Fatal(err)
		}
		histories := make([]*history, 15)
		for seed := range histories {
			histories[seed] = randomHistory(rand.New(rand.NewPCG(uint64(seed), uint64(keys))), v, fmt.Sprintf("%d/", seed))
		}
		writeHistories(t, s, v, histories)
		for seed, h := range histories {
			r := rand.New(rand.NewPCG(uint64(seed), 4))
			v := *v
			v.TTL = time.Duration(1+r.IntN(40)) * 10 * time.Second
			asks := randomAsks(r, &v, h)
			got, err := db.AsOf(t.Context(), &v, asks)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for i := range asks.At {
				if g, want := describeAnswer(got, asks, i), h.oracle(&v, asks, i); g != want {
					t.Fatalf("seed %d ask %d of %q at t0%+d, as corrected %v, ttl %v:\ngot  %s\nwant %s", seed, i, asks.Keys[0][i], asks.At[i]-t0, asks.AsCorrected, v.TTL, g, want)
				}
			}
		}
	}
}

// writeHistories writes all rows in a few batches, each with one row of an entity and tick
// at most, in the order of the histories.
func writeHistories(t *testing.T, s *Sink, v *features.View, histories []*history) {
	t.Helper()
	var batches [][]*features.Rows
	for _, h := range histories {
		copies := map[string]int{}
		for _, row := range h.rows {
			id := fmt.Sprint(row.Keys, row.Tick, row.Origin == features.Repair)
			if copies[id] == len(batches) {
				batches = append(batches, nil)
			}
			batches[copies[id]] = append(batches[copies[id]], row)
			copies[id]++
		}
	}
	for i, rows := range batches {
		if err := s.Write(t.Context(), &pipeline.Batch{Topic: v.Name, First: int64(i), Last: int64(i), Rows: rows}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAsOfNothing: no asks and no rows are no error.
func TestAsOfNothing(t *testing.T) {
	db := openDB(t)
	v := testView()
	if err := db.ApplyViews(t.Context(), []*features.View{v}); err != nil {
		t.Fatal(err)
	}
	a, err := db.AsOf(t.Context(), v, &features.Asks{Keys: [][]string{{}}})
	if err != nil || len(a.Row) != 0 {
		t.Errorf("no asks: %+v, %v", a, err)
	}
	a, err = db.AsOf(t.Context(), v, &features.Asks{Keys: [][]string{{"x", "x"}}, At: []int64{t0, t0}})
	if err != nil || !slices.Equal(a.Row, []int32{-1, -1}) {
		t.Errorf("empty table: %+v, %v", a, err)
	}
}
