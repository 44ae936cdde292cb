package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"

	"sextant/collectors/exposition"
	"sextant/schema/wire"
)

// scanned is a source whose body is at hand.
type scanned struct {
	*exporter
	text string
}

func (s scanned) read(_ context.Context, c *cache) (page, error) {
	return s.scan([]byte(s.text), exposition.Text, c)
}

func TestSeriesThatStopsEndsWithOneStaleMarker(t *testing.T) {
	b := newBench(t, targetConfig{})
	equal(t, b.page("a 1\nb{x=\"y\"} 2\n"), `a{instance="i",job="j"} 1`, `b{instance="i",job="j",x="y"} 2`)
	equal(t, b.page("a 3\n"), `a{instance="i",job="j"} 3`, `b{instance="i",job="j",x="y"} stale`)
	equal(t, b.page("a 4\n"), `a{instance="i",job="j"} 4`)
	equal(t, b.page("b{x=\"y\"} 5\na 5\n"), `a{instance="i",job="j"} 5`, `b{instance="i",job="j",x="y"} 5`)
}

func TestTargetThatFailsEndsAllItsSeriesOnce(t *testing.T) {
	b := newBench(t, targetConfig{})
	b.page("a 1\nb 2\n")
	equal(t, b.down(errors.New("refused")), `a{instance="i",job="j"} stale`, `b{instance="i",job="j"} stale`)
	if s := b.last().State; s != wire.StateFailed {
		t.Fatalf("state %v", s)
	}
	equal(t, b.down(errors.New("refused")))
	equal(t, b.page("a 3\n"), `a{instance="i",job="j"} 3`)
	equal(t, b.page("a 4\nb 4\n"), `a{instance="i",job="j"} 4`, `b{instance="i",job="j"} 4`)
}

func TestATargetThatFailsOnAndOnIsLoggedOnce(t *testing.T) {
	b := newBench(t, targetConfig{})
	var log bytes.Buffer
	b.tg.log = slog.New(slog.NewTextHandler(&log, nil))
	reset := func(port int) error {
		return &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: port}, Err: syscall.ECONNRESET}
	}
	for port := range 5 {
		b.down(reset(40000 + port))
	}
	if n := strings.Count(log.String(), "scrape failed"); n != 1 {
		t.Errorf("%d lines for one way to fail:\n%s", n, log.String())
	}
	b.down(statusError{"404 Not Found"})
	b.down(statusError{"500 Internal Server Error"})
	b.page("a 1\n")
	if n := strings.Count(log.String(), "\n"); n != 4 {
		t.Errorf("%d lines, want another for each way to fail and one for the recovery:\n%s", n, log.String())
	}
}

func TestReportTellsTheScrape(t *testing.T) {
	b := newBench(t, targetConfig{extra: true, limit: 5, rules: labelRules{relabel: rules(t, "action: drop\nsource_labels: [__name__]\nregex: b.*")}})
	b.page("a 1\nb1 2\nb2 2\n")
	equal(t, lines(t, b.last()), `a{instance="i",job="j"} 1`, `scrape_body_size_bytes{instance="i",job="j"} 14`,
		`scrape_sample_limit{instance="i",job="j"} 5`,
		`scrape_samples_post_metric_relabeling{instance="i",job="j"} 1`, `scrape_samples_scraped{instance="i",job="j"} 3`,
		`scrape_series_added{instance="i",job="j"} 1`, `scrape_timeout_seconds{instance="i",job="j"} 1`, `up{instance="i",job="j"} 1`)
	b.down(errBodyTooLarge)
	if got := lines(t, b.last()); !strings.Contains(strings.Join(got, "\n"), `up{instance="i",job="j"} 0`) {
		t.Fatalf("got %v", got)
	}
}

func TestTimesOfTheTargetAreKeptAndNotEnded(t *testing.T) {
	b := newBench(t, targetConfig{honorTime: true})
	equal(t, b.page("a 1 5\nb 2 99999999999999\nc 3\n"),
		`a{instance="i",job="j"} 1 @5`, `b{instance="i",job="j"} 2 @99999999999999`, `c{instance="i",job="j"} 3`)
	equal(t, b.page("c 4\n"), `c{instance="i",job="j"} 4`)

	b = newBench(t, targetConfig{honorTime: true, trackTime: true})
	b.page("a 1 5\n")
	equal(t, b.page("\n"), `a{instance="i",job="j"} stale`)

	b = newBench(t, targetConfig{})
	equal(t, b.page("a 1 5\n"), `a{instance="i",job="j"} 1`)
}

func TestOneSeriesAtSeveralTimes(t *testing.T) {
	b := newBench(t, targetConfig{honorTime: true})
	equal(t, b.page("a 1 5\na 2 6\na 3 7\na 4 7\na 2 6\n"), `a{instance="i",job="j"} 1 @5`, `a{instance="i",job="j"} 2 @6`)
	if b.tg.cache.counts.conflicts != 1 || b.last().State != wire.StatePartial {
		t.Fatalf("conflicts %d, state %v", b.tg.cache.counts.conflicts, b.last().State)
	}
}

func TestConflictKeepsNeitherValue(t *testing.T) {
	b := newBench(t, targetConfig{})
	equal(t, b.page("a 1\na 1\nb 1\nb 2\nc 3\n"), `a{instance="i",job="j"} 1`, `c{instance="i",job="j"} 3`)
	if b.last().State != wire.StatePartial {
		t.Fatal("a conflict must make the scrape partial")
	}
	equal(t, b.page("a 1\nb 2\nc 3\n"), `a{instance="i",job="j"} 1`, `b{instance="i",job="j"} 2`, `c{instance="i",job="j"} 3`)
	equal(t, b.page("a 1\nb 1\nb 2\nc 3\n"), `a{instance="i",job="j"} 1`, `b{instance="i",job="j"} stale`, `c{instance="i",job="j"} 3`)
}

func TestRelabellingThatMakesTwoSeriesOne(t *testing.T) {
	b := newBench(t, targetConfig{rules: labelRules{relabel: rules(t, "action: labeldrop\nregex: x")}})
	equal(t, b.page("a{x=\"1\"} 1\na{x=\"2\"} 1\nb{x=\"1\"} 1\nb{x=\"2\"} 2\n"), `a{instance="i",job="j"} 1`)
}

func TestLabelsAsPrometheusMakesThem(t *testing.T) {
	ext := labels.FromStrings("cluster", "c1", "x", "ext")
	b := newBench(t, targetConfig{rules: labelRules{external: ext}})
	equal(t, b.page("a{job=\"own\",exported_job=\"e\",x=\"y\"} 1\n"),
		`a{cluster="c1",exported_exported_job="own",exported_job="e",instance="i",job="j",x="y"} 1`)
	b = newBench(t, targetConfig{rules: labelRules{honor: true}})
	equal(t, b.page("a{job=\"own\"} 1\n"), `a{instance="i",job="own"} 1`)
	b = newBench(t, targetConfig{})
	equal(t, b.page("# TYPE h histogram\nh_bucket{le=\"1\"} 1\n# TYPE s summary\ns{quantile=\"0.50\"} 1\n# TYPE g gauge\ng{le=\"1\"} 1\n"),
		`g{instance="i",job="j",le="1"} 1`, `h_bucket{instance="i",job="j",le="1.0"} 1`, `s{instance="i",job="j",quantile="0.5"} 1`)
}

func TestExporterCannotSpeakForTheAgent(t *testing.T) {
	b := newBench(t, targetConfig{})
	b.page("up 7\na 1\n")
	if got := strings.Join(lines(t, b.last()), "\n"); !strings.Contains(got, `up{instance="i",job="j"} 1`) || strings.Contains(got, "} 7") {
		t.Fatalf("got\n%s", got)
	}
	if n := b.tg.cache.counts.refused[refusedReserved]; n != 1 {
		t.Fatalf("refused %d", n)
	}
}

func TestLimits(t *testing.T) {
	many := func(n int) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, "l%d=\"v\",", i)
		}
		return "wide{" + s.String() + "} 1\na 1\n"
	}
	for _, tc := range []struct {
		name, page, fault string
		cfg               targetConfig
		want              []string
	}{
		{"1000 labels cost their series", many(1000), "", targetConfig{}, []string{`a{instance="i",job="j"} 1`}},
		{"label_limit fails the scrape", "a{x=\"1\",y=\"1\"} 1\nb 1\n", "label_limit exceeded: metric a has 5 labels, limit 4",
			targetConfig{rules: labelRules{limits: labelLimits{count: 4}}}, nil},
		{"label_limit and 1000 labels", many(1000), "label_limit exceeded",
			targetConfig{rules: labelRules{limits: labelLimits{count: 30}}}, nil},
		{"name length", "a{abcdefghijk=\"1\"} 1\n", "label_name_length_limit exceeded: metric a, label abcdefghijk, 11 bytes, limit 10",
			targetConfig{rules: labelRules{limits: labelLimits{name: 10}}}, nil},
		{"value length", "a{b=\"123456\"} 1\n", "label_value_length_limit exceeded: metric a, label b, 6 bytes, limit 5",
			targetConfig{rules: labelRules{limits: labelLimits{value: 5}}}, nil},
		{"samples", "a 1\nb 1\nc 1\n", "sample_limit exceeded: more than 2 samples", targetConfig{limit: 2}, nil},
		{"samples after relabelling", "a 1\nb 1\nc 1\n", "", targetConfig{limit: 2, rules: labelRules{relabel: rules(t, "action: drop\nsource_labels: [__name__]\nregex: a")}},
			[]string{`b{instance="i",job="j"} 1`, `c{instance="i",job="j"} 1`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, tc.cfg)
			equal(t, b.page(tc.page), tc.want...)
			st := b.tg.snapshot()
			if (tc.fault == "") != (st.State != "failed") || !strings.Contains(st.Error, tc.fault) {
				t.Fatalf("state %s, error %q", st.State, st.Error)
			}
		})
	}
}

func TestBadLinesCostThemselves(t *testing.T) {
	text, err := os.ReadFile("testdata/broken.prom")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, targetConfig{})
	equal(t, b.page(string(text)),
		`fb_used{gpu="0",instance="i",job="j"} 70123`,
		`gpu_temp{gpu="0",instance="i",job="j"} 41`,
		`gpu_temp{gpu="1",instance="i",job="j"} NaN`,
		`gpu_temp{gpu="2",instance="i",job="j"} 43`,
		`gpu_util{gpu="1",instance="i",job="j"} 60`)
	st := b.tg.snapshot()
	if st.State != "partial" || st.BadLines != 1 || !strings.Contains(st.Error, "bad lines: 1, the first is line 4") {
		t.Fatalf("%+v", st)
	}
	if b.tg.cache.counts.conflicts != 1 {
		t.Fatal("one conflict expected")
	}
}

func TestLargeScrapeIsCutIntoWholeRequests(t *testing.T) {
	var s strings.Builder
	pad := strings.Repeat("x", 500)
	for i := range 3000 {
		fmt.Fprintf(&s, "m%d{pad=\"%s%d\"} %d\n", i, pad, i, i)
	}
	b := newBench(t, targetConfig{})
	if got := b.page(s.String()); len(got) != 3000 {
		t.Fatalf("%d samples", len(got))
	}
	es := b.sink.all()
	if len(es) < 2 {
		t.Fatalf("%d entries", len(es))
	}
	for _, e := range es {
		if len(e.Payload) > maxPayload || e.Scrape != es[0].Scrape || e.Target != "j/i" {
			t.Fatalf("%d bytes for %s at %d", len(e.Payload), e.Target, e.Scrape)
		}
	}
}

func TestIndexForgetsLabelsThatChurn(t *testing.T) {
	b := newBench(t, targetConfig{})
	for i := range 300 {
		b.page(fmt.Sprintf("a{x=\"%d\"} 1\nb 1\n", i))
	}
	if n, m := len(b.tg.cache.index.refs), len(b.tg.cache.known); n > 100 || m > 110 {
		t.Fatalf("%d texts and %d series are remembered", n, m)
	}
}

func TestSteadyScrapeAllocatesNothingPerSample(t *testing.T) {
	var s strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&s, "m%d{a=\"b\",c=\"%d\"} %d\n", i, i, i)
	}
	b := newBench(t, targetConfig{})
	body := []byte(s.String())
	run := func() {
		b.tg.cache.begin(b.at)
		if _, err := b.ex.scan(body, exposition.Text, b.tg.cache); err != nil {
			t.Fatal(err)
		}
		b.tg.buf = b.tg.cache.finish()[0].append(b.tg.buf[:0], 0)
	}
	run()
	if n := testing.AllocsPerRun(20, run); n > 5 {
		t.Fatalf("%v allocations for 1500 samples", n)
	}
}

func TestSinkThatRefusesIsCounted(t *testing.T) {
	b := newBench(t, targetConfig{})
	b.sink.err = errors.New("disk gone")
	b.tg.cfg.source = scanned{b.ex, "a 1\n"}
	b.tg.scrape(t.Context(), b.at)
	b.sink.err = nil
	equal(t, b.page("a 1\n"), `a{instance="i",job="j"} 1`)
}

func TestHeirEndsWhatTheNewRulesDoNotMake(t *testing.T) {
	b := newBench(t, targetConfig{})
	b.page("a 1\nb 1\n")
	cfg := b.tg.cfg
	cfg.rules.relabel = rules(t, "action: drop\nsource_labels: [__name__]\nregex: b")
	next := cfg.newCache()
	next.inherit(b.tg.cache)
	b.tg.cache = next
	equal(t, b.page("a 1\nb 1\n"), `a{instance="i",job="j"} 1`, `b{instance="i",job="j"} stale`)
	equal(t, b.page("a 1\nb 1\n"), `a{instance="i",job="j"} 1`)
}

func rules(t testing.TB, text string) []*relabel.Config {
	t.Helper()
	c := jobConfig(t, "job_name: j\nmetric_relabel_configs:\n- "+strings.ReplaceAll(text, "\n", "\n  "))
	return c.MetricRelabelConfigs
}

func BenchmarkScrape(b *testing.B) {
	var s strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&s, "node_metric_%d{device=\"sda%d\",mode=\"idle\"} %d.5\n", i%200, i, i*12345)
	}
	x := newBench(b, targetConfig{})
	body := []byte(s.String())
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		x.tg.cache.begin(x.at)
		if _, err := x.ex.scan(body, exposition.Text, x.tg.cache); err != nil {
			b.Fatal(err)
		}
		x.tg.buf = x.tg.cache.finish()[0].append(x.tg.buf[:0], 0)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1500, "ns/sample")
}

// TestNewestOfTwoStandsWhereTimesAreNotHonoured: the kubelet has a container that was started
// again twice on its page, told apart by their times alone.
func TestNewestOfTwoStandsWhereTimesAreNotHonoured(t *testing.T) {
	for _, page := range []string{"a 1 5\na 2 7\na 1 6\n", "a 2 7\na 1 5\n", "a 1 5\na 3 5\na 2 7\n"} {
		b := newBench(t, targetConfig{})
		equal(t, b.page(page), `a{instance="i",job="j"} 2`)
		if n := b.tg.cache.counts.conflicts; n != 0 || b.last().State != wire.StateOK {
			t.Errorf("%q: %d conflicts, state %v", page, n, b.last().State)
		}
	}
	b := newBench(t, targetConfig{})
	equal(t, b.page("a 1 5\na 2 7\na 3 7\nb 1 5\nb 2\nc 1\n"), `c{instance="i",job="j"} 1`)
	if n := b.tg.cache.counts.conflicts; n != 2 {
		t.Errorf("%d conflicts, want that of a at 7 and that of b, whose second value tells no time", n)
	}
}
