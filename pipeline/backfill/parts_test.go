package backfill

import (
	"testing"
	"time"
)

// TestPartsNameTheirNodes: what is done is remembered by the name of a part, so a group that
// gained a node in its middle must not have the name of the group before.
func TestPartsNameTheirNodes(t *testing.T) {
	c := Config{Interval: 10 * time.Second, Segment: time.Hour, GroupSize: 32, To: 2 * time.Hour.Milliseconds()}
	names := map[string]bool{}
	for _, nodes := range [][]string{{"a", "c"}, {"a", "b", "c"}, {"a", "bc"}, {"ab", "c"}} {
		parts := c.parts(nodes)
		if len(parts) != 2 {
			t.Fatalf("%d parts of two hours, want 2", len(parts))
		}
		for _, p := range parts {
			if names[p.name] {
				t.Errorf("%q is the name of two parts", p.name)
			}
			names[p.name] = true
		}
	}
	if again := c.parts([]string{"a", "c"}); !names[again[0].name] {
		t.Errorf("%q is a new name of the same part", again[0].name)
	}
}
