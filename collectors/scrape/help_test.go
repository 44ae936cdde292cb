package scrape

import (
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/value"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v2"

	"sextant/collectors/promconfig"
	"sextant/collectors/spool"
	"sextant/schema/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memSink keeps what was scraped, and reads it back with the wire's decoder.
type memSink struct {
	mu      sync.Mutex
	entries []spool.Entry // guarded by mu
	err     error         // guarded by mu
	arrived chan struct{}
}

func newSink() *memSink { return &memSink{arrived: make(chan struct{}, 1)} }

func (m *memSink) Append(e spool.Entry) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return 0, m.err
	}
	e.Payload = slices.Clone(e.Payload)
	m.entries = append(m.entries, e)
	select {
	case m.arrived <- struct{}{}:
	default:
	}
	return uint64(len(m.entries)), nil
}

func (m *memSink) all() []spool.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.entries)
}

// until waits for an entry that satisfies ok, for at most ten seconds.
func (m *memSink) until(t *testing.T, what string, ok func(spool.Entry) bool) spool.Entry {
	t.Helper()
	deadline := time.After(10 * time.Second)
	seen := 0
	for {
		es := m.all()
		for _, e := range es[seen:] {
			if ok(e) {
				return e
			}
		}
		seen = len(es)
		select {
		case <-m.arrived:
		case <-deadline:
			t.Fatalf("no %s among %d entries", what, len(es))
		}
	}
}

// lines writes the samples of a payload as text, sorted: name{labels} value @time.
// Stale markers read "stale"; times equal to the scrape's are left out. The series of
// the report whose values depend on the clock are left out too.
func lines(t testing.TB, e spool.Entry) []string {
	t.Helper()
	var d wire.Decoder
	if err := d.Scan(e.Payload); err != nil {
		t.Fatalf("the payload of %s is not a request: %v", e.Target, err)
	}
	var out []string
	for i, v := range d.Values {
		s := i
		if d.Series != nil {
			s = int(d.Series[i])
		}
		var name string
		var labels []string
		err := d.Labels(s, func(n, v []byte) bool {
			if string(n) == "__name__" {
				name = string(v)
			} else {
				labels = append(labels, fmt.Sprintf("%s=%q", n, v))
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if name == "scrape_duration_seconds" && !value.IsStaleNaN(v) {
			continue
		}
		text := fmt.Sprintf("%s{%s} %v", name, strings.Join(labels, ","), v)
		if value.IsStaleNaN(v) {
			text = fmt.Sprintf("%s{%s} stale", name, strings.Join(labels, ","))
		}
		if d.Times[i] != e.Scrape {
			text += fmt.Sprintf(" @%d", d.Times[i])
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

// own drops the report series.
func own(ls []string) []string {
	return slices.DeleteFunc(ls, func(l string) bool { return strings.HasPrefix(l, "scrape_") || strings.HasPrefix(l, "up{") })
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// bench is a target whose pages the test hands over, without clock or network.
type bench struct {
	t    testing.TB
	sink *memSink
	tg   *target
	ex   *exporter
	at   int64
}

func newBench(t testing.TB, cfg targetConfig) *bench {
	t.Helper()
	if cfg.rules.target.IsEmpty() {
		cfg.rules.target = localLabels("j", "i")
	}
	cfg.job, cfg.interval, cfg.timeout = "j", 10*time.Second, time.Second
	b := &bench{t: t, sink: newSink(), ex: &exporter{}, at: 1_000_000_000_000}
	m := newMetrics(prometheus.NewRegistry())
	b.tg = &target{cfg: cfg, name: cfg.name(), node: "n", sink: b.sink, log: slog.New(slog.DiscardHandler), metrics: m, job: m.of("j")}
	b.tg.cache = cfg.newCache()
	return b
}

// page scrapes the text and returns what was sent, without the report.
func (b *bench) page(text string) []string {
	b.t.Helper()
	b.tg.cfg.source = scanned{b.ex, text}
	before := len(b.sink.all())
	b.tg.scrape(b.t.Context(), b.at)
	b.at += 10_000
	var out []string
	for _, e := range b.sink.all()[before:] {
		out = append(out, lines(b.t, e)...)
	}
	return own(out)
}

// down scrapes a target that does not answer.
func (b *bench) down(err error) []string {
	b.t.Helper()
	b.tg.cfg.source = forced{err}
	before := len(b.sink.all())
	b.tg.scrape(b.t.Context(), b.at)
	b.at += 10_000
	return own(lines(b.t, b.sink.all()[before]))
}

func (b *bench) last() spool.Entry { es := b.sink.all(); return es[len(es)-1] }

// jobConfig reads one scrape configuration as Prometheus does.
func jobConfig(t testing.TB, text string) *promconfig.ScrapeConfig {
	t.Helper()
	var c promconfig.ScrapeConfig
	if err := yaml.UnmarshalStrict([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	g := promconfig.DefaultGlobalConfig
	if err := c.Validate(g); err != nil {
		t.Fatal(err)
	}
	return &c
}

// serve answers with text as Prometheus' format.
func serve(t testing.TB, text string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

func host(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }

func newScraper(t testing.TB, sink Sink) (*Scraper, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	s, err := New(Options{Node: "n", Sink: sink, Log: slog.New(slog.DiscardHandler), Register: reg})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, reg
}

// metric returns the value of a counter or gauge with the given labels, "a=b" each.
func metric(t testing.TB, reg prometheus.Gatherer, name string, labels ...string) float64 {
	t.Helper()
	fs, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		if f.GetName() != name {
			continue
		}
	next:
		for _, m := range f.Metric {
			for _, l := range labels {
				k, v, _ := strings.Cut(l, "=")
				found := false
				for _, p := range m.Label {
					found = found || p.GetName() == k && p.GetValue() == v
				}
				if !found {
					continue next
				}
			}
			if m.Counter != nil {
				return m.Counter.GetValue()
			}
			return m.Gauge.GetValue()
		}
	}
	return math.NaN()
}
