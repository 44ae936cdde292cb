package scrape

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// oracle says what must be sent, slowly and plainly: it keeps which series were sent with
// a number and not ended since.
type oracle struct{ live map[string]bool }

func (o *oracle) page(lines []line) []string {
	seen := map[string][]int{}
	for _, l := range lines {
		if !slices.Contains(seen[l.series()], l.value) {
			seen[l.series()] = append(seen[l.series()], l.value)
		}
	}
	var out []string
	for s := range o.live {
		if len(seen[s]) != 1 {
			out = append(out, s+" stale")
		}
	}
	o.live = map[string]bool{}
	for s, values := range seen {
		if len(values) == 1 {
			out = append(out, fmt.Sprint(s, " ", values[0]))
			o.live[s] = true
		}
	}
	slices.Sort(out)
	return out
}

// line is one line of a page. Swapped writes the labels the other way round: another text
// of the same series.
type line struct {
	id, value int
	swapped   bool
}

func (l line) series() string {
	return fmt.Sprintf(`m{a="%d",b="x",instance="i",job="j"}`, l.id)
}

func (l line) String() string {
	if l.swapped {
		return fmt.Sprintf("m{b=\"x\",a=\"%d\"} %d\n", l.id, l.value)
	}
	return fmt.Sprintf("m{a=\"%d\",b=\"x\"} %d\n", l.id, l.value)
}

func FuzzScrapesAgainstOracle(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { compare(t, seed, 40) })
}

func TestScrapesAgainstOracle(t *testing.T) {
	for seed := range uint64(60) {
		compare(t, seed+1000, 60)
	}
}

// compare plays pages whose series come, go, repeat and contradict each other.
func compare(t *testing.T, seed uint64, pages int) {
	r := rand.New(rand.NewPCG(seed, 1))
	b, o := newBench(t, targetConfig{}), oracle{live: map[string]bool{}}
	var ids []int
	for range 12 {
		ids = append(ids, r.IntN(1000))
	}
	for n := range pages {
		if r.IntN(8) == 0 {
			got := b.down(errors.New("away"))
			if want := o.page(nil); !slices.Equal(got, want) {
				t.Fatalf("seed %d, page %d, away: got\n%s\nwant\n%s", seed, n, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			continue
		}
		var page []line
		var text strings.Builder
		churn := r.IntN(3)
		for _, id := range ids {
			switch r.IntN(10) {
			case 0:
				if churn > 0 {
					continue
				}
			case 1:
				if churn > 1 {
					page = append(page, line{id, r.IntN(2), r.IntN(2) == 0})
				}
			}
			page = append(page, line{id, r.IntN(2), r.IntN(6) == 0})
		}
		if churn > 1 {
			page = append(page, line{1000 + r.IntN(100000), 1, false})
			r.Shuffle(len(page), func(i, j int) { page[i], page[j] = page[j], page[i] })
		}
		for _, l := range page {
			text.WriteString(l.String())
		}
		got, want := b.page(text.String()), o.page(page)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, page %d:\n%s\ngot\n%s\nwant\n%s", seed, n, text.String(), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
