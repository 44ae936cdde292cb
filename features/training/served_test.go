package training_test

import (
	"fmt"
	"testing"
	"time"

	"sextant/features"
	"sextant/features/online"
)

// TestSameAsServed: what the online store answers at a moment, the join answers for that
// moment: value, status, and age at the edges of the TTL and of memory.
func TestSameAsServed(t *testing.T) {
	v := *pointView
	v.Name = "served"
	db := openStore(t, "same_as_served", &v)
	// The store reads back from its clock, so the rows lie around now.
	t0 := time.Now().UTC().Truncate(time.Hour).UnixMilli()
	row := func(entity string, at int64, busy float64) *features.Rows {
		return &features.Rows{View: &v, Keys: [][]string{{entity}}, Tick: []int64{t0 + at}, Known: []int64{t0 + at},
			Cols: []features.Column{{Num: []float64{busy}}, {Num: []float64{1}}, {Num: []float64{2}}}}
	}
	entities := []string{"A", "B", "C"}
	for at := int64(0); at <= 60_000; at += 10_000 {
		write(t, db, row("A", at, float64(at)))
		if at == 0 {
			write(t, db, row("B", at, 0.5))
		}
		for _, later := range []int64{0, 9_999, v.TTL.Milliseconds(), v.TTL.Milliseconds() + 1, v.Memory().Milliseconds(), v.Memory().Milliseconds() + 1} {
			now := t0 + at + later
			s, err := online.New(db, []*features.View{&v}, online.Options{Now: func() time.Time { return time.UnixMilli(now) }})
			if err == nil {
				err = s.Refresh(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			asks := &features.Asks{Keys: [][]string{entities}, At: []int64{now, now, now}}
			a, err := db.AsOf(t.Context(), &v, asks)
			if err != nil {
				t.Fatal(err)
			}
			snap := s.Snapshot(&v)
			rows := snap.Find(nil, asks.Keys)
			for i, e := range entities {
				served := describe(&snap.Rows, rows[i], snap.RowStatus(rows[i], now))
				if got := describe(a.Rows, a.Row[i], a.Status(i, now)); got != served {
					t.Errorf("%s at +%d ms after %d ms: trained on %s, served %s", e, at, later, got, served)
				}
			}
		}
	}
}

func describe(r *features.Rows, row int32, st features.Status) string {
	if st != features.Present {
		return st.String()
	}
	return fmt.Sprint(r.Tick[row], " ", r.Cols[0].Num[row], " ", r.Cols[0].Status(int(row), st))
}
