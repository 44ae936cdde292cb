package receive

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	remoteapi "github.com/prometheus/client_golang/exp/api/remote"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/exemplar"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/storage/remote"

	"sextant/collectors/spool"
)

const (
	benchSeries  = 2000 // of a request, Prometheus' max_samples_per_send
	benchLayouts = 200
)

// BenchmarkReceive measures a whole request, from the compressed body to entries (not
// their writing), beside Prometheus' own handler with a storage that keeps nothing.
//
//	known   each request has the layout of one before
//	cut     the same series, but each request begins at another one
//	new     each request has series that never came before
//
// cpu-ns/sample is what to compare; allocs/op are those of a request of 2,000 samples.
func BenchmarkReceive(b *testing.B) {
	for _, p := range []protocol{v1, v2} {
		for _, kind := range []string{"known", "cut", "new"} {
			bodies := benchBodies(b, p, kind)
			b.Run(fmt.Sprintf("%s/%s/sextant", p, kind), func(b *testing.B) {
				run(b, newReceiver(b, discard{}, nil), p, bodies)
			})
			b.Run(fmt.Sprintf("%s/%s/prometheus", p, kind), func(b *testing.B) {
				h := remote.NewWriteHandler(quiet, prometheus.NewRegistry(), nothing{}, remoteapi.MessageTypes{remoteapi.WriteV1MessageType, remoteapi.WriteV2MessageType}, false, false)
				run(b, h, p, bodies)
			})
		}
	}
}

// benchBodies are the compressed requests of ten node exporters.
func benchBodies(b *testing.B, p protocol, kind string) [][]byte {
	now := nowMs()
	series := func(i int) sample {
		return sample{fmt.Sprintf("__name__ node_network_receive_bytes_total cluster c1 device eth%d environment production instance node-%04d.example.org:9100 job node rack r%02d zone z1",
			i, i/200%10, i/200%10), now, float64(i)}
	}
	var bodies [][]byte
	for n := range benchLayouts {
		samples := make([]sample, benchSeries)
		for i := range samples {
			switch kind {
			case "known":
				samples[i] = series(i)
			case "cut":
				samples[i] = series((i + n*37) % (benchSeries * 2))
			case "new":
				samples[i] = series(i + n*benchSeries)
			}
		}
		bodies = append(bodies, snappy.Encode(nil, encode(b, p, samples...)))
		if kind == "known" {
			break
		}
	}
	return bodies
}

func run(b *testing.B, h http.Handler, p protocol, bodies [][]byte) {
	header := http.Header{"Content-Type": {contentTypes[p]}, "Content-Encoding": {"snappy"}}
	w := &code{header: http.Header{}}
	b.ReportAllocs()
	b.ResetTimer()
	begin := cpu()
	for i := range b.N {
		body := bodies[i%len(bodies)]
		req := &http.Request{Method: "POST", Header: header.Clone(), Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}
		h.ServeHTTP(w, req.WithContext(context.Background()))
		if w.code != 204 {
			b.Fatalf("%d %s", w.code, w.text.String())
		}
	}
	b.ReportMetric(float64((cpu()-begin).Nanoseconds())/float64(b.N*benchSeries), "cpu-ns/sample")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchSeries), "ns/sample")
}

// cpu is what this process has used, the garbage collector's share included. On a machine that
// others use as well it says more than the time that passed.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// code is a ResponseWriter that keeps the status.
type code struct {
	header http.Header
	code   int
	text   strings.Builder
}

func (c *code) Header() http.Header         { return c.header }
func (c *code) WriteHeader(n int)           { c.code = n }
func (c *code) Write(b []byte) (int, error) { return c.text.Write(b) }

type discard struct{}

func (discard) Append(spool.Entry) (uint64, error) { return 1, nil }

// nothing is a storage of Prometheus that keeps nothing.
type nothing struct{}

func (nothing) AppenderV2(context.Context) storage.AppenderV2 { return nothing{} }
func (nothing) Commit() error                                 { return nil }
func (nothing) Rollback() error                               { return nil }
func (nothing) Append(storage.SeriesRef, labels.Labels, int64, int64, float64, *histogram.Histogram, *histogram.FloatHistogram, storage.AOptions) (storage.SeriesRef, error) {
	return 1, nil
}
func (nothing) AppendExemplars(storage.SeriesRef, labels.Labels, []exemplar.Exemplar) (storage.SeriesRef, error) {
	return 1, nil
}
