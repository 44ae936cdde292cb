package spool

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"sextant/schema/wire"
)

const benchSeries = 1500

// scrapes are requests of a node_exporter page of 1,500 series with changing values.
func scrapes(n int) [][]byte {
	rnd := rand.New(rand.NewPCG(3, 4))
	var defs []wire.SeriesDef
	values := make([]float64, benchSeries)
	for i := range benchSeries {
		family := i / 10
		defs = append(defs, wire.SeriesDef{
			Labels: []wire.Label{
				{Name: "__name__", Value: fmt.Sprintf("node_family_%d_seconds_total", family)}, {Name: "cpu", Value: fmt.Sprint(i % 10)},
				{Name: "instance", Value: "node-17.example.com:9100"}, {Name: "job", Value: "node"},
			},
			Type: wire.TypeCounter, Unit: "seconds", Help: fmt.Sprintf("What family %d counts, in a sentence of usual length.", family),
		})
		values[i] = float64(rnd.IntN(1e9)) / 100
	}
	tmpl := wire.NewTemplate(defs)
	var out [][]byte
	for k := range n {
		for i := range values {
			values[i] += float64(rnd.IntN(1000)) / 100
		}
		out = append(out, tmpl.AppendAt(nil, int64(1_700_000_000_000+10_000*k), values))
	}
	return out
}

func reportSample(b *testing.B, bytes int64) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSeries, "ns/sample")
	b.ReportMetric(float64(bytes)/float64(b.N)/benchSeries, "B/sample")
}

// BenchmarkCodec compares what the payload of an entry could be packed with.
func BenchmarkCodec(b *testing.B) {
	pages := scrapes(16)
	fast, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	for _, c := range []struct {
		name   string
		encode func(dst, src []byte) []byte
	}{
		{"none", func(dst, src []byte) []byte { return append(dst[:0], src...) }},
		{"s2", func(dst, src []byte) []byte { return s2.Encode(dst[:cap(dst)], src) }},
		{"s2 better", func(dst, src []byte) []byte { return s2.EncodeBetter(dst[:cap(dst)], src) }},
		{"zstd fastest", func(dst, src []byte) []byte { return fast.EncodeAll(src, dst[:0]) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			bytes := int64(0)
			for n := 0; b.Loop(); n++ {
				buf = c.encode(buf, pages[n%len(pages)])
				bytes += int64(len(buf))
			}
			reportSample(b, bytes)
		})
	}
}

// BenchmarkScrape is the spool's whole share of a scrape's way: append, take, acknowledge.
func BenchmarkScrape(b *testing.B) {
	pages := scrapes(16)
	for _, policy := range []Sync{SyncNone, SyncInterval, SyncAlways} {
		b.Run(string(policy), func(b *testing.B) {
			s, err := Open(b.TempDir(), Options{Sync: policy})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if _, err := s.Append(Entry{Node: "node-17", Target: "node/node-17.example.com:9100", Payload: pages[n%len(pages)]}); err != nil {
					b.Fatal(err)
				}
				items, err := s.TakeFresh(1 << 20)
				if err != nil {
					b.Fatal(err)
				}
				s.Ack(items...)
			}
			b.StopTimer()
			s.mu.Lock()
			bytes := float64(s.segs[len(s.segs)-1].size) / float64(s.next-s.segs[len(s.segs)-1].first)
			s.mu.Unlock()
			reportSample(b, int64(bytes*float64(b.N)))
		})
	}
}

// BenchmarkBacklog reads entries back from disk.
func BenchmarkBacklog(b *testing.B) {
	s, err := Open(b.TempDir(), Options{Sync: SyncNone})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, page := range scrapes(200) {
		if _, err := s.Append(Entry{Node: "node-17", Payload: page}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		items, err := s.TakeFresh(1)
		if err != nil {
			b.Fatal(err)
		}
		if len(items) == 0 {
			s.Return(takeSpan(s, 1, 201)...)
			continue
		}
	}
	reportSample(b, 0)
}

func takeSpan(s *Spool, from, to uint64) (items []Item) {
	for n := from; n < to; n++ {
		items = append(items, Item{Agent: s.agent, Seq: n})
	}
	return items
}
