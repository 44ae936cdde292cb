package scrape

import (
	"slices"
	"sort"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestNextStartIsAligned(t *testing.T) {
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	for _, c := range []struct {
		now, interval, offset, want int64
	}{
		{100_000, 10_000, 3_000, 103_000},
		{103_000, 10_000, 3_000, 113_000}, // strictly after
		{102_999, 10_000, 3_000, 103_000},
		{1_700_000_001_234, 10_000, 1_000, 1_700_000_011_000},
		{1_700_000_001_234, 15_000, 0, 1_700_000_010_000},
	} {
		got := nextStart(at(c.now), time.Duration(c.interval)*time.Millisecond, time.Duration(c.offset)*time.Millisecond).UnixMilli()
		if got != c.want {
			t.Errorf("after %d: got %d, want %d", c.now, got, c.want)
		}
	}
}

func TestPhasesAreSpreadAndStable(t *testing.T) {
	for _, n := range []int{2, 3, 5, 10, 100} {
		p := phases{node: "n"}
		var at []float64
		for i := range n {
			at = append(at, p.at(p.take(string(rune('a'+i)))))
		}
		before := slices.Clone(at)
		sort.Float64s(at)
		widest := 1 - at[n-1] + at[0]
		for i := 1; i < n; i++ {
			widest = max(widest, at[i]-at[i-1])
		}
		if widest > 2/float64(n) {
			t.Errorf("%d targets: the widest gap is %.3f of the interval", n, widest)
		}
		p.take("another")
		for i := range n {
			if p.at(i) != before[i] {
				t.Errorf("target %d moved from %v to %v", i, before[i], p.at(i))
			}
		}
	}
	p := phases{node: "n"}
	first := p.take("a")
	p.take("b")
	p.free(first)
	if p.take("c") != first {
		t.Error("a freed place is not used again")
	}
	a, b := phases{node: "n1"}, phases{node: "n2"}
	if a.at(a.take("x")) == b.at(b.take("x")) {
		t.Error("two nodes scrape in step")
	}
}

// inProcess returns the gauges that a registry would.
func inProcess(t *testing.T, every time.Duration, slow *time.Duration) (*memSink, *Scraper) {
	t.Helper()
	sink := newSink()
	s, _ := newScraper(t, sink)
	reg := prometheus.NewRegistry()
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "g", Help: "h"}, func() float64 {
		if slow != nil {
			time.Sleep(*slow)
		}
		return 1
	}))
	if err := s.Apply(Set{Local: []Local{{Job: "j", Instance: "i", Gatherer: reg, Interval: every, Timeout: every}}}); err != nil {
		t.Fatal(err)
	}
	return sink, s
}

func TestSamplesCarryTheAlignedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := 700 * time.Millisecond
		began := time.Now().UnixMilli()
		sink, s := inProcess(t, 10*time.Second, &slow)
		time.Sleep(61 * time.Second)
		s.Close()
		es := sink.all()
		if len(es) != 7 || es[0].Scrape != began {
			t.Fatalf("%d scrapes in a minute, the first at %d", len(es), es[0].Scrape)
		}
		es = es[1:] // behind the one at the start
		for i, e := range es {
			if i > 0 && e.Scrape-es[i-1].Scrape != 10_000 {
				t.Fatalf("scrape at %d after %d", e.Scrape, es[i-1].Scrape)
			}
			equal(t, own(lines(t, e)), `g{instance="i",job="j"} 1`)
		}
	})
}

func TestSlowScrapeSkipsAndStaysAligned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := 25 * time.Second
		sink, s := inProcess(t, 10*time.Second, &slow)
		time.Sleep(3 * time.Minute)
		s.Close()
		time.Sleep(time.Minute) // until the last collector has come back
		phase := int64(-1)
		for _, e := range sink.all()[1:] {
			if phase < 0 {
				phase = e.Scrape % 10_000
			}
			if e.Scrape%10_000 != phase {
				t.Fatalf("scrape at %d is not at %d of the interval", e.Scrape, phase)
			}
		}
		if n := len(sink.all()); n < 17 {
			t.Fatalf("%d scrapes in 3 minutes: a target that takes its whole timeout loses its turns", n)
		}
	})
}

func TestRestartKeepsThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var phases []int64
		for range 2 {
			sink, s := inProcess(t, 10*time.Second, nil)
			time.Sleep(27 * time.Second)
			s.Close()
			phases = append(phases, sink.all()[2].Scrape%10_000)
		}
		if phases[0] != phases[1] {
			t.Fatalf("scraped at %v of the interval", phases)
		}
	})
}

func TestCloseDoesNotMarkStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink, s := inProcess(t, 10*time.Second, nil)
		time.Sleep(15 * time.Second)
		n := len(sink.all())
		s.Close()
		s.Close()
		if len(sink.all()) != n || n == 0 {
			t.Fatalf("%d entries before the end, %d after", n, len(sink.all()))
		}
	})
}
