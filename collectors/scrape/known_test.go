package scrape

import (
	"testing"

	"github.com/prometheus/prometheus/model/labels"
)

func TestKnownTellsSeriesOfOneHashApart(t *testing.T) {
	k := known{}
	a, b, c := &series{labels: labels.FromStrings("a", "1")}, &series{labels: labels.FromStrings("b", "1")}, &series{labels: labels.FromStrings("c", "1")}
	h := a.labels.Hash()
	k[h], a.next, b.next = a, b, c // as if their hashes were equal
	if k.find(a.labels) != a || k.find(labels.FromStrings("d", "1")) != nil {
		t.Fatal("find")
	}
	k.keep(func(s *series) bool { return s != b })
	if len(k) != 1 || k[h] != c || c.next != a || a.next != nil {
		t.Fatalf("after keep: %+v", k[h])
	}
	k.keep(func(*series) bool { return false })
	if len(k) != 0 {
		t.Fatalf("%d left", len(k))
	}
}
