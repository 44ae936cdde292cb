package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"sextant/features"
	"sextant/pipeline"
	"sextant/schema/quality"
	"sextant/schema/wire"
)

var promWide = PromLimits{Series: 100_000, Samples: 10_000_000, Range: 24 * time.Hour}

// store writes samples of one series as the pipeline does.
type stored struct {
	labels labels.Labels
	times  []int64
	values []float64
	flags  uint16
}

func write(t testing.TB, sink *Sink, all ...stored) {
	t.Helper()
	b := &pipeline.Batch{Topic: "promql", First: promCommits.Add(1)}
	b.Last = b.First
	for _, s := range all {
		row := pipeline.SeriesRow{Node: s.labels.Get("node"), Name: s.labels.Get(labels.MetricName), Kind: "gauge", Unit: "ratio", FirstSeen: s.times[0]}
		text := ""
		s.labels.Range(func(l labels.Label) {
			text += l.Name + "\xff" + l.Value + "\xff"
			if l.Name != labels.MetricName {
				row.Labels = append(row.Labels, wire.Label{Name: l.Name, Value: l.Value})
			}
		})
		row.ID = pipeline.SeriesID(row.Node, []byte(text))
		b.Series = append(b.Series, row)
		for i := range s.times {
			b.Samples.Series, b.Samples.Time = append(b.Samples.Series, row.ID), append(b.Samples.Time, s.times[i])
			b.Samples.Value, b.Samples.Flags = append(b.Samples.Value, s.values[i]), append(b.Samples.Flags, s.flags)
		}
	}
	if err := sink.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// selectAll is what a selector reads, each series as its labels and points.
func selectAll(ctx context.Context, q storage.Queryable, from, to int64, ms ...*labels.Matcher) ([]string, error) {
	querier, err := q.Querier(from, to)
	if err != nil {
		return nil, err
	}
	defer querier.Close()
	set := querier.Select(ctx, true, nil, ms...)
	var out []string
	var it chunkenc.Iterator
	for set.Next() {
		line := set.At().Labels().String()
		it = set.At().Iterator(it)
		for it.Next() != chunkenc.ValNone {
			at, v := it.At()
			if value.IsStaleNaN(v) {
				line += fmt.Sprintf(" stale@%d", at-t0)
			} else {
				line += fmt.Sprintf(" %v@%d", v, at-t0)
			}
		}
		out = append(out, line)
	}
	return out, set.Err()
}

func equalTo(name, v string) *labels.Matcher {
	return labels.MustNewMatcher(labels.MatchEqual, name, v)
}

func wantLines(t *testing.T, got []string, err error, want ...string) {
	t.Helper()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("read\n%s\n(%v), want\n%s", strings.Join(got, "\n"), err, strings.Join(want, "\n"))
	}
}

// TestPrometheusReadsSamples: both ends of the range count, a stale marker keeps its bits,
// a late sample is a sample, and its late copy is not, nor is a row that says that there is
// no value.
func TestPrometheusReadsSamples(t *testing.T) {
	db := openDB(t)
	sink := newSink(t, db)
	ls := labels.FromStrings(labels.MetricName, "busy", "node", "n1")
	stale := math.Float64frombits(value.StaleNaN)
	write(t, sink, stored{ls, []int64{t0, t0 + 1, t0 + 10, t0 + 20, t0 + 21}, []float64{9, 1, 2, stale, 9}, 0})
	write(t, sink, stored{ls, []int64{t0 + 5, t0 + 10}, []float64{1.5, 77}, quality.Late})
	write(t, sink, stored{ls, []int64{t0 + 6, t0 + 7}, []float64{math.NaN(), 1e9}, quality.Blank})
	got, err := selectAll(t.Context(), db.Prometheus(nil, promWide), t0+1, t0+20, equalTo(labels.MetricName, "busy"))
	wantLines(t, got, err, `{__name__="busy", node="n1"} 1@1 1.5@5 2@10 stale@20`)
}

// TestPrometheusMatchersAgree compares what SQL and the matchers choose together with what
// the matchers choose alone, for label values and expressions that SQL may see otherwise.
func TestPrometheusMatchersAgree(t *testing.T) {
	db := openDB(t)
	sink := newSink(t, db)
	values := []string{"", "a", "b", "ab", "A", "a?b", "a'b", `a\b`, "a\nb", "ü", "Ü", "日本", "a@b", "$1", "\x00", "K", "k", "1.5", "a|b"}
	names := []string{"m", "m_total", "n:m"}
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	var all []labels.Labels
	var rows []stored
	for len(all) < 300 {
		ls := labels.NewBuilder(labels.EmptyLabels()).Set(labels.MetricName, names[r.IntN(len(names))]).
			Set("x", values[r.IntN(len(values))]).Set("node", values[r.IntN(len(values))]).Set("y z", values[r.IntN(len(values))]).Labels()
		if !seen[ls.String()] {
			seen[ls.String()] = true
			all = append(all, ls)
			rows = append(rows, stored{ls, []int64{t0}, []float64{1}, 0})
		}
	}
	write(t, sink, rows...)
	p := db.Prometheus(nil, promWide)
	exprs := []string{"", "a", "a|b", ".*", ".+", "a.*", ".*b", "(?i)a", "(?i)k", "[^a]", "[^a]+", `\w+`, `\pL+`, ".", "a.b", `a\?b`, "a?b", "(a|ab)(|b)", "ü|Ü", "(?P<q>a)b",
		"a{1,2}b", `\x00`, "[[:upper:]]", "K", `a\\b`, "[a-z]|日本", `\S+`, `[\x{80}-\x{10FFFF}]+`, "^a$", `\Aa\z`, "a$|^b"}
	for i := range 400 {
		var ms []*labels.Matcher
		for range 1 + r.IntN(2) {
			name := []string{"x", "node", "y z", labels.MetricName, "missing"}[r.IntN(5)]
			kind := labels.MatchType(r.IntN(4))
			v := values[r.IntN(len(values))]
			if kind == labels.MatchRegexp || kind == labels.MatchNotRegexp {
				v = exprs[r.IntN(len(exprs))]
			}
			if name == labels.MetricName && r.IntN(2) == 0 {
				v = names[r.IntN(len(names))]
			}
			m, err := labels.NewMatcher(kind, name, v)
			if err != nil {
				m = equalTo(name, v)
			}
			ms = append(ms, m)
		}
		var want []string
		for _, ls := range all {
			if matches(ls, ms) {
				want = append(want, ls.String())
			}
		}
		list, err := p.series(t.Context(), t0, ms)
		var got []string
		for _, s := range list {
			got = append(got, s.labels.String())
		}
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d: %v: read %q (%v), want %q", i, ms, got, err, want)
		}
	}
}

// TestPrometheusReadsFeatures: a feature is a series; NULL and an age above the TTL end it.
func TestPrometheusReadsFeatures(t *testing.T) {
	db := openDB(t)
	v := testView() // TTL 1m
	if err := db.ApplyViews(t.Context(), []*features.View{v}); err != nil {
		t.Fatal(err)
	}
	sink := newSink(t, db)
	for i, r := range []*features.Rows{testRows(v, "n1", t0+10_000, 0.5), testRows(v, "n1", t0+20_000, math.NaN()), testRows(v, "n2", t0+10_000, 0.25), testRows(v, "n2", t0+200_000, 0.75)} {
		if err := sink.Write(t.Context(), &pipeline.Batch{Topic: "rows", First: int64(i), Last: int64(i), Rows: []*features.Rows{r}}); err != nil {
			t.Fatal(err)
		}
	}
	p := db.Prometheus([]*features.View{v}, promWide)
	got, err := selectAll(t.Context(), p, t0, t0+210_000, equalTo(labels.MetricName, "feature:node_test:busy"))
	wantLines(t, got, err, `{__name__="feature:node_test:busy", node="n1"} 0.5@10000 stale@20000`,
		`{__name__="feature:node_test:busy", node="n2"} 0.25@10000 stale@70001 0.75@200000`)
	got, err = selectAll(t.Context(), p, t0, t0+60_000, equalTo("node", "n2"), labels.MustNewMatcher(labels.MatchRegexp, labels.MetricName, "feature:node_test:(kernel|up)"))
	wantLines(t, got, err, `{__name__="feature:node_test:kernel", node="n2", value="6.1"} 1@10000`, `{__name__="feature:node_test:up", node="n2"} 1@10000`)
	got, err = selectAll(t.Context(), p, t0, t0+60_000, equalTo("node", "n2"), equalTo("gpu", "0"))
	wantLines(t, got, err)
}

// TestPrometheusLabels: names and values with and without matchers, and what ended before
// the span is not in it.
func TestPrometheusLabels(t *testing.T) {
	db := openDB(t)
	sink := newSink(t, db)
	write(t, sink,
		stored{labels.FromStrings(labels.MetricName, "busy", "node", "n1", "gpu", "0"), []int64{t0}, []float64{1}, 0},
		stored{labels.FromStrings(labels.MetricName, "busy", "node", "n2"), []int64{t0, t0 + 60_000}, []float64{1, 1}, 0},
		stored{labels.FromStrings(labels.MetricName, "load", "node", "n3"), []int64{t0}, []float64{1}, 0})
	p := db.Prometheus([]*features.View{testView()}, promWide)
	busy := equalTo(labels.MetricName, "busy")
	for _, c := range []struct {
		what     string
		from, to int64
		label    string // "": names
		ms       []*labels.Matcher
		want     string
	}{
		{"names", t0, t0 + 1, "", nil, "__name__ gpu node"},
		{"names of busy", t0 + 1, t0 + 60_000, "", []*labels.Matcher{busy}, "__name__ node"},
		{"nodes", math.MinInt64, math.MaxInt64, "node", nil, "n1 n2 n3"},
		{"nodes of busy", t0, t0 + 60_000, "node", []*labels.Matcher{busy}, "n1 n2"},
		{"nodes of busy, later", t0 + 1, t0 + 60_000, "node", []*labels.Matcher{busy}, "n2"},
		{"nodes of busy, ever", math.MinInt64, math.MaxInt64, "node", []*labels.Matcher{busy}, "n1 n2"},
		{"metrics", t0, t0, labels.MetricName, nil, "busy feature:node_test:busy feature:node_test:cores feature:node_test:kernel feature:node_test:load feature:node_test:up load"},
		{"values of no label", t0, t0, "nothing", nil, ""},
	} {
		q, err := p.Querier(c.from, c.to)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if c.label == "" {
			got, _, err = q.LabelNames(t.Context(), nil, c.ms...)
		} else {
			got, _, err = q.LabelValues(t.Context(), c.label, nil, c.ms...)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q (%v), want %q", c.what, got, err, c.want)
		}
	}
}

// TestPrometheusLimits: each limit stops a query with an error that names it.
func TestPrometheusLimits(t *testing.T) {
	db := openDB(t)
	sink := newSink(t, db)
	for i := range 3 {
		write(t, sink, stored{labels.FromStrings(labels.MetricName, "busy", "node", fmt.Sprint(i)), []int64{t0, t0 + 1, t0 + 2}, []float64{1, 1, 1}, 0})
	}
	for _, c := range []struct {
		limits PromLimits
		says   string // "": no error
	}{
		{PromLimits{3, 9, time.Second}, ""},
		{PromLimits{2, 9, time.Second}, "more series than the limit of 2"},
		{PromLimits{3, 8, time.Second}, "more samples than the limit of 8"},
		{PromLimits{3, 9, time.Millisecond}, "more than the limit of 1ms"},
	} {
		got, err := selectAll(t.Context(), db.Prometheus(nil, c.limits), t0, t0+2, equalTo(labels.MetricName, "busy"))
		var limit *LimitError
		if c.says == "" && (err != nil || len(got) != 3) || c.says != "" && (!errors.As(err, &limit) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %q, %v; want %q", c.limits, got, err, c.says)
		}
	}
}
