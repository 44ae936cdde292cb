package window

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
)

// page is series that are scraped together, and what each was given.
type page struct {
	st     *Store
	series []*Series
	sets   []map[int64]float64
}

func newPage(t *testing.T, n int) *page {
	p := &page{st: newStore(t, `rate(a[1m]) + rate(b[5m]) + c`)}
	for i := range n {
		s := p.st.NewSeries("n", labels.FromStrings("__name__", []string{"a", "b", "c"}[i%3], "i", fmt.Sprint(i), "node", "n"))
		p.series, p.sets = append(p.series, s), append(p.sets, map[int64]float64{})
	}
	p.st.Buffers(p.series, 10_000)
	return p
}

func (p *page) add(t *testing.T, i int, at int64, v float64) {
	t.Helper()
	_, had := p.sets[i][at]
	if got := p.series[i].Has(at); got != had {
		t.Fatalf("series %d has %d: %v, want %v", i, at, got, had)
	}
	if p.series[i].Add(p.st, at, v) == had {
		t.Fatalf("series %d: added %d: %v, want %v", i, at, had, !had)
	}
	if !had {
		p.sets[i][at] = v
	}
}

// compare looks at the windows of all series at once.
func (p *page) compare(t *testing.T, lo, hi int64) {
	t.Helper()
	var listed []*Series
	for _, s := range p.series {
		if s.Listed() {
			listed = append(listed, s)
		}
	}
	got := make([]Span, len(listed))
	Windows(got, listed, lo, hi)
	for k, s := range listed {
		i := slices.Index(p.series, s)
		low := max(lo, p.st.next-s.kind.keep) // older points may be gone, and may be there
		var want []point
		for at, v := range p.sets[i] {
			if at >= low && at <= hi && !value.IsStaleNaN(v) {
				want = append(want, point{at, v})
			}
		}
		slices.SortFunc(want, func(a, b point) int { return int(a.t - b.t) })
		have := pointsOf(got[k])
		rising := slices.IsSortedFunc(have, func(a, b point) int { return cmp.Compare(a.v, b.v) })
		if got[k].Rising && !rising {
			t.Fatalf("series %d in [%d, %d] is said to rise: %v", i, lo, hi, have)
		}
		for len(have) > 0 && have[0].t < low {
			have = have[1:]
		}
		if !slices.Equal(have, want) {
			t.Fatalf("series %d in [%d, %d]: got %v, want %v", i, lo, hi, have, want)
		}
	}
}

// columns counts the columns of times.
func (p *page) columns() int {
	seen := map[*column]int{}
	for _, s := range p.series {
		seen[s.column]++
	}
	return len(seen)
}

// TestPageAgainstSets scrapes a page whose series miss samples, come late, have times of
// their own, are silent for long and return.
func TestPageAgainstSets(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := newPage(t, 6)
		now := int64(1_000_000)
		silent := make([]int64, 6) // until then
		for range 400 {
			now += 10_000
			if r.IntN(100) == 0 {
				now += 30 * 24 * 3_600_000
			}
			p.st.SetNext(now)
			at, odd := now-10_000+622, r.IntN(20)
			if odd == 0 {
				at -= 1_000 + int64(r.IntN(18_000)) // a late page
			}
			for i := range p.series {
				v := float64(r.IntN(3))
				switch {
				case silent[i] > now:
					continue
				case odd == 1 && r.IntN(2) == 0:
					continue // a gap
				case odd == 2:
					v = math.Float64frombits(value.StaleNaN)
				case odd == 3:
					p.add(t, i, at-int64(r.IntN(300)), v)
					continue
				case odd == 4 && r.IntN(3) == 0:
					silent[i] = now + int64(r.IntN(600_000))
				}
				p.add(t, i, at, v)
				if r.IntN(50) == 0 {
					p.add(t, i, at, v+1) // twice
				}
			}
			if r.IntN(6) == 0 {
				p.st.Sweep()
			}
			lo := now - int64(r.IntN(300_000))
			p.compare(t, lo, lo+int64(r.IntN(300_000)))
		}
	}
}

// TestSharedColumns says what parts a series from its page, and what brings it back.
func TestSharedColumns(t *testing.T) {
	p := newPage(t, 6)
	now := int64(1_000_000)
	scrape := func(late int64, series ...int) {
		for _, i := range series {
			p.add(t, i, now-10_000-late, 1)
		}
		now += 10_000
		p.st.SetNext(now)
		p.compare(t, now-300_000, now)
	}
	check := func(why string, want int) {
		t.Helper()
		if n := p.columns(); n != want || n != len(p.series[0].node.columns) {
			t.Errorf("%s: %d columns of times, want %d; the node has %d", why, n, want, len(p.series[0].node.columns))
		}
	}
	all := []int{0, 1, 2, 3, 4, 5}
	for range 100 {
		scrape(0, all...)
	}
	check("a page without gaps", 1)
	if c := p.series[0].column; cap(c.times) > 60 {
		t.Errorf("a column of %d times for a range of 5 min", cap(c.times))
	}
	scrape(0, 0, 2, 3, 5)
	scrape(0, all...)
	check("two series missed a scrape", 2)
	for range 40 {
		scrape(0, all...)
	}
	check("the scrape that was missed is long ago", 1)
	scrape(0, all...)
	scrape(15_000, all...)
	for range 10 {
		scrape(0, all...)
	}
	check("a late page", 1)
	for range 10 {
		scrape(0, 0, 1, 2)
		scrape(1, 3, 4, 5)
	}
	check("two pages that looked like one", 2)
	now += 3_600_000
	p.st.SetNext(now)
	p.st.Sweep()
	if n := len(p.series[0].node.columns); p.st.Len() != 0 || n != 0 {
		t.Fatalf("%d series and %d columns are left after an hour", p.st.Len(), n)
	}
	scrape(0, all...)
	check("all were gone and came back", 1)
}
