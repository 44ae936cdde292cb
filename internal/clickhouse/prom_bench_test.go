package clickhouse

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
)

// BenchmarkPrometheus asks as a dashboard does: a range of an hour over 1,000 series, and
// an instant over the 10,000 nodes of a cluster. read is the store's part alone.
func BenchmarkPrometheus(b *testing.B) {
	for _, c := range []struct {
		name          string
		nodes, points int
		query         string
		span          time.Duration
	}{
		{"range-1h-1000-series", 1_000, 360, "avg by (rack) (busy)", time.Hour},
		{"instant-10000-nodes", 10_000, 30, "topk(10, busy)", 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			db := openDB(b)
			sink := newSink(b, db)
			end := t0 + int64(c.points)*10_000
			fillBusy(b, sink, c.nodes, c.points)
			p := db.Prometheus(nil, promWide)
			engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{})})
			defer engine.Close()
			b.Run("query", func(b *testing.B) {
				for b.Loop() {
					ask(b, engine, p, c.query, end, c.span)
				}
				b.ReportMetric(float64(c.nodes*c.points)*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
			})
			b.Run("series", func(b *testing.B) {
				for b.Loop() {
					if list, err := p.series(b.Context(), end, []*labels.Matcher{equalTo(labels.MetricName, "busy")}); err != nil || len(list) != c.nodes {
						b.Fatal(len(list), err)
					}
				}
			})
			b.Run("read", func(b *testing.B) {
				for b.Loop() {
					list, err := p.selected(b.Context(), promSpan{t0, end}, []*labels.Matcher{equalTo(labels.MetricName, "busy")})
					if err != nil || len(list) != c.nodes {
						b.Fatal(len(list), err)
					}
				}
				b.ReportMetric(float64(c.nodes*c.points)*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
			})
		})
	}
}

// fillBusy stores one series of a metric a node, beside nine others.
func fillBusy(b *testing.B, sink *Sink, nodes, points int) {
	var all []stored
	for n := range nodes {
		node := fmt.Sprintf("n%05d", n)
		s := stored{labels: labels.FromStrings(labels.MetricName, "busy", "node", node, "rack", fmt.Sprint(n/40))}
		for i := range points {
			s.times, s.values = append(s.times, t0+int64(i)*10_000), append(s.values, float64((n*31+i*17)%1000)/1000)
		}
		all = append(all, s)
		for k := range 9 {
			all = append(all, stored{labels: labels.FromStrings(labels.MetricName, fmt.Sprintf("other_%d", k), "node", node), times: s.times[:3], values: s.values[:3]})
		}
	}
	write(b, sink, all...)
}

func ask(b *testing.B, engine *promql.Engine, q storage.Queryable, text string, end int64, span time.Duration) {
	to := time.UnixMilli(end)
	query, err := engine.NewInstantQuery(b.Context(), q, nil, text, to)
	if span > 0 {
		query, err = engine.NewRangeQuery(b.Context(), q, nil, text, to.Add(-span), to, 15*time.Second)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer query.Close()
	if res := query.Exec(b.Context()); res.Err != nil || res.Value.String() == "" {
		b.Fatal(res.Err)
	}
}
