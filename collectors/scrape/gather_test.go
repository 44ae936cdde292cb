package scrape

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"net/http/httptest"

	"sextant/schema/wire"
)

// sampler is a registry with one of each kind.
func sampler() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "c_total", Help: "h"}, []string{"x"})
	c.WithLabelValues("a b\"\n").Add(2)
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Help: "h", Buckets: []float64{1, 2.5}})
	h.Observe(2)
	s := prometheus.NewSummary(prometheus.SummaryOpts{Name: "s", Help: "h", Objectives: map[float64]float64{0.5: 0.05}})
	s.Observe(3)
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "g", Help: "h"})
	reg.MustRegister(c, h, s, g)
	return reg
}

// TestRegistryReadsAsItsPage compares the direct way with a scrape of the same registry.
func TestRegistryReadsAsItsPage(t *testing.T) {
	reg := sampler()
	b := newBench(t, targetConfig{})
	b.tg.cfg.source = &gatherer{from: reg}
	b.tg.scrape(t.Context(), b.at)
	direct := own(lines(t, b.last()))

	rec := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
	equal(t, direct, newBench(t, targetConfig{}).page(rec.Body.String())...)
	if len(direct) != 10 {
		t.Fatalf("%d series: %v", len(direct), direct)
	}
}

func TestFailingCollectorCostsItsOwnSamples(t *testing.T) {
	reg := sampler()
	reg.MustRegister(prometheus.CollectorFunc(func(ch chan<- prometheus.Metric) {
		ch <- prometheus.NewInvalidMetric(prometheus.NewDesc("bad", "h", nil, nil), errors.New("no such device"))
	}))
	b := newBench(t, targetConfig{})
	b.tg.cfg.source = &gatherer{from: reg}
	b.tg.scrape(t.Context(), b.at)
	if got := own(lines(t, b.last())); len(got) != 10 || b.last().State != wire.StatePartial {
		t.Fatalf("%v: %v", b.last().State, got)
	}
	if st := b.tg.snapshot(); !strings.Contains(st.Error, "no such device") {
		t.Fatalf("%+v", st)
	}
}

func TestHangingCollectorCostsItsScrape(t *testing.T) {
	free := make(chan struct{})
	reg := prometheus.NewRegistry()
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "g", Help: "h"}, func() float64 { <-free; return 1 }))
	b := newBench(t, targetConfig{})
	src := &gatherer{from: reg}
	b.tg.cfg.source, b.tg.cfg.timeout = src, 20*time.Millisecond
	b.tg.scrape(t.Context(), b.at)
	b.tg.scrape(t.Context(), b.at+1)
	if st := b.tg.snapshot(); st.State != "failed" || !strings.Contains(st.Error, "has not come back") {
		t.Fatalf("%+v", st)
	}
	close(free)
	b.tg.cfg.timeout = 10 * time.Second
	b.tg.scrape(t.Context(), b.at+2)
	equal(t, own(lines(t, b.last())), `g{instance="i",job="j"} 1`)
	src.close()
}

// TestLocalTargetsOfOneJob: targets of this process may share a job, as those of a
// configuration do.
func TestLocalTargetsOfOneJob(t *testing.T) {
	s, _ := newScraper(t, &memSink{})
	local := func(instances ...string) (out []Local) {
		for _, i := range instances {
			out = append(out, Local{Job: "j", Instance: i, Gatherer: sampler(), Interval: time.Hour, Timeout: time.Second})
		}
		return out
	}
	for _, want := range [][]string{{"a", "b"}, {"b", "c"}, {}} {
		if err := s.Apply(Set{Local: local(want...)}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, st := range s.Targets() {
			got = append(got, st.Labels["instance"])
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("targets %v, want %v", got, want)
		}
	}
}
