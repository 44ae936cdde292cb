package clickhouse

import (
	"slices"
	"testing"

	"sextant/features"
)

// TestCorrectedRowsStandApart: what a late sample changed is read under a name of its own.
// What was known in time, and what is served, stay as they were.
func TestCorrectedRowsStandApart(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	v := testView()
	apply(t, db, v)
	writeRows(t, s, testRows(v, "n1", t0, 0.1), testRows(v, "n1", t0+10_000, 0.2), testRows(v, "n2", t0, 0.3))
	repaired := testRows(v, "n1", t0+10_000, 0.9)
	repaired.Known[0], repaired.Origin = t0+3_600_000, features.Repair
	writeRows(t, s, repaired)

	const columns = "node, toString(tick), toString(busy), toString(origin)"
	first, second := dateText(t0), dateText(t0+10_000)
	for _, c := range []struct {
		from string
		want []string
	}{
		{"node_test", []string{"n1 " + first + " 0.1 live", "n1 " + second + " 0.2 live", "n2 " + first + " 0.3 live"}},
		{"node_test_corrected", []string{"n1 " + first + " 0.1 live", "n1 " + second + " 0.9 repair", "n2 " + first + " 0.3 live"}},
	} {
		if got := text(t, db, columns, "{db}."+c.from+" ORDER BY node, tick"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.from, got, c.want)
		}
	}
	r, err := db.LatestRows(t.Context(), v, 0)
	if err != nil || len(r.Tick) != 2 || float32(r.Cols[0].Num[0]) != 0.2 {
		t.Errorf("served: %+v, %v", r, err)
	}

	again := testRows(v, "n1", t0+10_000, 0.95) // more came late: the newest correction stands
	again.Known[0], again.Origin = t0+7_200_000, features.Repair
	writeRows(t, s, again)
	if got, want := text(t, db, "busy", "{db}.node_test_corrected WHERE node = 'n1' AND tick = '"+second+"'"), []string{"0.95"}; !slices.Equal(got, want) {
		t.Errorf("corrected twice: %q, want %q", got, want)
	}
}

// TestBackfilledRowsAreMarked: a backfilled row with the known time of a live one takes its
// place, since it is that row with more in it; one that would have been known earlier does not.
func TestBackfilledRowsAreMarked(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	v := testView()
	apply(t, db, v)
	writeRows(t, s, testRows(v, "n1", t0, 0.1), testRows(v, "n1", t0+10_000, 0.2))
	same, earlier, fresh := testRows(v, "n1", t0, 0.5), testRows(v, "n1", t0+10_000, 0.6), testRows(v, "n1", t0+20_000, 0.7)
	earlier.Known[0]--
	for _, r := range []*features.Rows{same, earlier, fresh} {
		r.Origin = features.Backfill
	}
	writeRows(t, s, same, earlier, fresh)
	if got, want := text(t, db, "busy, toString(origin)", "{db}.node_test ORDER BY tick"), []string{"0.5 backfill", "0.2 live", "0.7 backfill"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
