package exposition

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// nodePage is a page of n series with the proportions of node_exporter's.
func nodePage(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range n {
		family := i / 5
		if i%5 == 0 {
			fmt.Fprintf(&b, "# HELP node_network_family_%d_total Network device statistic family_%d.\n# TYPE node_network_family_%d_total counter\n", family, family, family)
		}
		fmt.Fprintf(&b, "node_network_family_%d_total{device=\"eth%d\",queue=\"rx\"} %v\n", family, i%5, r.Uint64N(1e12))
	}
	return b.Bytes()
}

// BenchmarkScan reads a page of 1,500 series and reports ns per sample: the scan alone,
// with the look-up in a map of series texts, with the labels of every line, and the stock
// parser over the same page.
func BenchmarkScan(b *testing.B) {
	const series = 1500
	page := nodePage(series)
	report := func(b *testing.B, cpu time.Duration) {
		samples := float64(b.N) * series
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/samples, "ns/sample")
		b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/samples, "cpu-ns/sample")
	}
	b.Run("scan", func(b *testing.B) {
		var s Scanner
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			for s.Reset(page, Text); s.Next(); {
			}
		}
		report(b, cpu)
	})
	b.Run("cache", func(b *testing.B) {
		var s Scanner
		cache, hits := map[string]int{}, 0
		for s.Reset(page, Text); s.Next(); {
			cache[string(s.Series())] = len(cache)
		}
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			for s.Reset(page, Text); s.Next(); {
				hits += cache[string(s.Series())]
			}
		}
		report(b, cpu)
	})
	b.Run("labels", func(b *testing.B) {
		var s Scanner
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			for s.Reset(page, Text); s.Next(); {
				if _, err := ParseSeries(s.Series()); err != nil {
					b.Fatal(err)
				}
			}
		}
		report(b, cpu)
	})
	b.Run("textparse", func(b *testing.B) {
		table := labels.NewSymbolTable()
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			p, err := textparse.New(page, "text/plain", table, textparse.ParserOptions{})
			if err != nil {
				b.Fatal(err)
			}
			for {
				if _, err := p.Next(); err != nil {
					break
				}
			}
		}
		report(b, cpu)
	})
}

// cpuTime is the processor time that the process has used: on a machine that others use
// it is firmer than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkParseFloat(b *testing.B) {
	for _, text := range []string{"0", "417605.1", "1.081101590528e+12", "0.30000000000000004"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parseFloat([]byte(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
