package wire

import (
	"syscall"
	"testing"
	"time"

	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
)

// The benchmarks measure one request of 150 samples and report ns, CPU ns and bytes per
// sample, beside Prometheus' generated codec. On a machine that others use, the CPU time
// is the firmer figure; it has the garbage collector's share in it.
const benchSeries = 150

func perSample(b *testing.B, cpu time.Duration, size int) {
	samples := float64(b.N) * benchSeries
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/samples, "ns/sample")
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/samples, "cpu-ns/sample")
	b.ReportMetric(float64(size)/benchSeries, "B/sample")
}

// cpuTime is the processor time that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkDecode(b *testing.B) {
	series, values := nodePage(benchSeries)
	request := NewTemplate(series).AppendAt(nil, now, values)

	b.Run("scan", func(b *testing.B) {
		var d Decoder
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			if err := d.Scan(request); err != nil {
				b.Fatal(err)
			}
		}
		perSample(b, cpu, len(request))
	})
	b.Run("scan+labels", func(b *testing.B) {
		var d Decoder
		n := 0
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			if err := d.Scan(request); err != nil {
				b.Fatal(err)
			}
			for i := range d.NumSeries {
				if err := d.Labels(i, func(name, _ []byte) bool { n += len(name); return true }); err != nil {
					b.Fatal(err)
				}
			}
		}
		perSample(b, cpu, len(request))
	})
	b.Run("generated", func(b *testing.B) {
		var req writev2.Request
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			req.Reset()
			if err := req.Unmarshal(request); err != nil {
				b.Fatal(err)
			}
		}
		perSample(b, cpu, len(request))
	})
}

func BenchmarkEncode(b *testing.B) {
	series, values := nodePage(benchSeries)
	ts := make([]int64, len(series))
	for i := range ts {
		ts[i] = now
	}
	tmpl := NewTemplate(series)
	var buf []byte
	b.Run("template", func(b *testing.B) {
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			buf = tmpl.Append(buf[:0], ts, values)
		}
		perSample(b, cpu, len(buf))
	})
	b.Run("template, one time", func(b *testing.B) {
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			buf = tmpl.AppendAt(buf[:0], now, values)
		}
		perSample(b, cpu, len(buf))
	})
	b.Run("new template", func(b *testing.B) {
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			buf = NewTemplate(series).AppendAt(buf[:0], now, values)
		}
		perSample(b, cpu, len(buf))
	})
	b.Run("generated", func(b *testing.B) { // from a request that stands ready: no symbolizing
		req := generated(series, ts, values)
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			for i := range req.Timeseries {
				req.Timeseries[i].Samples[0] = writev2.Sample{Value: values[i], Timestamp: now}
			}
			var err error
			if buf, err = req.OptimizedMarshal(buf[:cap(buf)]); err != nil {
				b.Fatal(err)
			}
		}
		perSample(b, cpu, len(buf))
	})
}
