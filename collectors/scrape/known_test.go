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

// TestIndexStaysInStep takes the map away: what is still found was found by its place.
func TestIndexStaysInStep(t *testing.T) {
	x := newIndex()
	for _, raw := range []string{"a", "b", "c", "d", "e"} {
		r := &ref{raw: raw}
		x.insert(r)
		x.saw(r)
	}
	x.turn()
	find := func(raw string) {
		t.Helper()
		r := x.find([]byte(raw))
		if r == nil || r.raw != raw {
			t.Fatalf("%s is not found where it is expected", raw)
		}
		x.saw(r)
	}
	find("a")
	find("c") // b has gone: one look into the map
	x.refs = nil
	find("d")
	find("e")
	x.turn()
	for _, raw := range []string{"a", "c", "d", "e"} {
		find(raw)
	}
}

func TestSeriesThatGoesKeepsTheLayoutForItsMarker(t *testing.T) {
	b := newBench(t, targetConfig{})
	b.page("a 1\nb 1\n")
	first := b.tg.cache.full
	b.page("b 1\n")
	if b.tg.cache.full != first {
		t.Fatal("the layout changed with the stale marker, and again behind it")
	}
	b.page("b 1\n")
	if second := b.tg.cache.full; second == first || len(second.series) != len(first.series)-1 {
		t.Fatal("the series that went is still in the layout")
	}
}
