package spool

import (
	"strings"
	"testing"
)

func TestMeasuresEachRowAndTheOrder(t *testing.T) {
	r, err := Run(t.Context(), Options{Dir: t.TempDir(), Entries: 40})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Order{Fresh: fresh, Backlog: 40}); r.Order != want {
		t.Errorf("order %+v, want %+v", r.Order, want)
	}
	if len(r.Rows) != 5 || r.OnDisk < 40*series {
		t.Errorf("%d rows, %d bytes on disk", len(r.Rows), r.OnDisk)
	}
	for _, row := range r.Rows {
		if row.Took <= 0 || row.Entries < 40 || row.Bytes == 0 && !strings.HasPrefix(row.Name, "open") {
			t.Errorf("row %+v", row)
		}
	}
	var text strings.Builder
	if err := r.Print(&text); err != nil || !strings.Contains(text.String(), "50 fresh entries, 0 of them behind the backlog") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if _, err := Run(t.Context(), Options{Entries: -1}); err == nil {
		t.Error("-1 entries were accepted")
	}
}

func TestOrderIsJudged(t *testing.T) {
	for _, c := range []struct {
		out  []int64
		want Order
	}{
		{[]int64{3, 4, 0, 1, 2}, Order{Fresh: 2, Backlog: 3}},
		{[]int64{0, 3, 4, 1, 2}, Order{Fresh: 2, Backlog: 3, FreshBehind: 2}},
		{[]int64{4, 3, 1, 0}, Order{Fresh: 2, Backlog: 3, Reversed: 2, Missing: 1}},
	} {
		got := Order{Fresh: 2, Backlog: 3}
		if got.judge(c.out); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.out, got, c.want)
		}
	}
}
