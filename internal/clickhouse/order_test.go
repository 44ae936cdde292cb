package clickhouse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sextant/pipeline"
)

// naiveSort is what sampleColumns.sort means: a stable sort by series and time, of equal
// rows the last.
func naiveSort(s pipeline.Samples) (rows []string, duplicates int) {
	order := make([]int, len(s.Series))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case s.Series[a] < s.Series[b], s.Series[a] == s.Series[b] && s.Time[a] < s.Time[b]:
			return -1
		case s.Series[a] == s.Series[b] && s.Time[a] == s.Time[b]:
			return 0
		}
		return 1
	})
	for n, i := range order {
		if n+1 < len(order) && s.Series[order[n+1]] == s.Series[i] && s.Time[order[n+1]] == s.Time[i] {
			duplicates++
			continue
		}
		rows = append(rows, sampleText(s, i))
	}
	return rows, duplicates
}

func sampleText(s pipeline.Samples, i int) string {
	return fmt.Sprint(s.Series[i], s.Time[i], s.Value[i], s.Flags[i])
}

// samplesOf makes samples whose series and times collide often.
func samplesOf(seed uint64, n int) pipeline.Samples {
	rng := rand.New(rand.NewPCG(seed, 7))
	var s pipeline.Samples
	for i := range n {
		s.Series = append(s.Series, rng.Uint64N(4)<<uint(rng.IntN(61)))
		s.Time = append(s.Time, rng.Int64N(5)-2)
		s.Value = append(s.Value, float64(i))
		s.Flags = append(s.Flags, uint16(i))
	}
	return s
}

func checkSort(t *testing.T, c *sampleColumns, s pipeline.Samples) {
	t.Helper()
	want, wantDuplicates := naiveSort(s)
	c.reset()
	c.add(&s)
	if got := c.sort(); got != wantDuplicates {
		t.Errorf("%d duplicates, want %d", got, wantDuplicates)
	}
	var rows []string
	for i := range c.Series {
		rows = append(rows, sampleText(c.Samples, i))
	}
	if !slices.Equal(rows, want) {
		t.Errorf("sorted\n%q\nwant\n%q", rows, want)
	}
}

func TestSortEqualsNaiveSort(t *testing.T) {
	var c sampleColumns // its memory is used again, as a worker does
	for seed := range uint64(300) {
		checkSort(t, &c, samplesOf(seed, int(seed)))
	}
}

func FuzzSort(f *testing.F) {
	f.Add(uint64(1), uint16(0))
	f.Add(uint64(2), uint16(1))
	f.Add(uint64(3), uint16(1000))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) {
		checkSort(t, &sampleColumns{}, samplesOf(seed, int(n%3000)))
	})
}

func BenchmarkSort(b *testing.B) {
	m := newMix(100, t0)
	var in pipeline.Samples
	for range 66 {
		m.scrapeAll(&in)
	}
	var c sampleColumns
	b.ReportAllocs()
	for b.Loop() {
		c.reset()
		c.add(&in)
		c.sort()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(in.Series)), "ns/sample")
}
