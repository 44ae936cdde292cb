package features

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestEnginesAgree has every engine find the same number of values: what is compared are
// ways to compute the same.
func TestEnginesAgree(t *testing.T) {
	r, err := Run(context.Background(), Options{Nodes: []int{4}}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != len(engines) {
		t.Fatalf("%d rows, want one for each of %d engines", len(r.Rows), len(engines))
	}
	for _, x := range r.Rows {
		if x.Values < 20 || x.Values != r.Rows[0].Values {
			t.Errorf("%s: %.1f values per node, want %.1f, and 20 at least", x.Engine, x.Values, r.Rows[0].Values)
		}
		if x.State <= 0 || x.Measured != 4 {
			t.Errorf("%s: %d bytes per node, measured on %d", x.Engine, x.State, x.Measured)
		}
	}
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	t.Log(b.String())
}

func TestFit(t *testing.T) {
	o := Options{Memory: 1 << 20, Slow: 10}
	for _, c := range []struct {
		why    string
		before Row
		want   int
	}{
		{"nothing is known", Row{}, 100},
		{"all fit", Row{Nodes: 10, Measured: 10, State: 1 << 10, Tick: 10}, 0},
		{"quick enough", Row{Nodes: 10, Measured: 10, State: 1 << 10, Tick: 1}, 100},
		{"too large for memory", Row{Nodes: 10, Measured: 10, State: 1 << 15, Tick: 1}, 32},
	} {
		if got := o.fit(100, c.before); got != c.want {
			t.Errorf("%s: %d nodes, want %d", c.why, got, c.want)
		}
	}
}
