package wire

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
)

// smallPage is a scrape that a reader can check by eye in testdata.
func smallPage() []SeriesDef {
	return []SeriesDef{
		{
			Labels: []Label{{"__name__", "node_load1"}, {"job", "node"}},
			Type:   TypeGauge, Help: "1m load average.",
		},
		{
			Labels: []Label{{"__name__", "node_cpu_seconds_total"}, {"cpu", "0"}, {"job", "node"}, {"mode", "idle"}},
			Type:   TypeCounter, Unit: "seconds", Help: "Seconds the CPUs spent in each mode.",
		},
		{Labels: []Label{{"__name__", "up"}, {"job", "node"}}},
	}
}

// nodePage is a scrape of n series with the proportions of a node_exporter page: about
// ten series per family, four labels each, values of every kind.
func nodePage(n int) (series []SeriesDef, values []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		def := SeriesDef{
			Labels: []Label{
				{"__name__", fmt.Sprintf("node_family_%d_seconds_total", i/10)},
				{"cpu", fmt.Sprint(i % 10)}, {"instance", "node-17.example.com:9100"}, {"job", "node"},
			},
			Type: TypeCounter, Unit: "seconds", Help: fmt.Sprintf("What family %d counts, in a sentence of usual length.", i/10),
		}
		series = append(series, def)
		values = append(values, math.Round(r.Float64()*1e8)/100+0.01)
	}
	return series, values
}

// generated is the request that Prometheus' own code makes of the same scrape.
func generated(series []SeriesDef, ts []int64, values []float64) *writev2.Request {
	table := writev2.NewSymbolTable()
	req := &writev2.Request{}
	for i, def := range series {
		var refs []uint32
		for _, l := range def.Labels {
			refs = append(refs, table.Symbolize(l.Name), table.Symbolize(l.Value))
		}
		req.Timeseries = append(req.Timeseries, writev2.TimeSeries{
			LabelsRefs: refs,
			Samples:    []writev2.Sample{{Value: values[i], Timestamp: ts[i]}},
			Metadata: writev2.Metadata{
				Type:    writev2.Metadata_MetricType(def.Type),
				HelpRef: table.Symbolize(def.Help),
				UnitRef: table.Symbolize(def.Unit),
			},
		})
	}
	req.Symbols = table.Symbols()
	return req
}

func marshal(t testing.TB, req *writev2.Request) []byte {
	t.Helper()
	b, err := req.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unmarshal(t testing.TB, b []byte) *writev2.Request {
	t.Helper()
	var req writev2.Request
	if err := req.Unmarshal(b); err != nil {
		t.Fatalf("generated decoder: %v", err)
	}
	return &req
}
