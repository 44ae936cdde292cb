package snapshot

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"sextant/features"
	"sextant/features/online"
)

// benchNodes times 64 features of five views is the cluster that the benchmarks serve.
const benchNodes = 100_000

// static is a source that answers with one Rows of each view.
type static map[*features.View]*features.Rows

func (s static) LatestRows(_ context.Context, v *features.View, _ int64) (*features.Rows, error) {
	return s[v], nil
}

// cluster is a server over nodes with 64 features of five views.
func cluster(b *testing.B, nodes int) (*Server, *plan) {
	b.Helper()
	w, r := &world{set: &features.Set{}, rows: map[*features.View][]row{}}, rand.New(rand.NewPCG(1, 1))
	at := start.UnixMilli()
	w.at(start.Add(8 * time.Second))
	source := static{}
	left := 64
	for i, width := range []int{5, 19, 10, 22, 8} {
		var names []string
		for f := range width {
			names = append(names, fmt.Sprintf("f%d_%d", i, f))
		}
		left -= width
		v := viewOf(fmt.Sprintf("v%d", i), time.Minute, []string{"node"}, names...)
		w.set.Views = append(w.set.Views, v)
		rows := &features.Rows{View: v, Tick: make([]int64, nodes), Known: make([]int64, nodes), Keys: [][]string{make([]string, nodes)}, Cols: make([]features.Column, width)}
		for n := range nodes { // by key as clickhouse answers, and behind that nodes that came later
			place := n
			if last := nodes - nodes/100; n >= last {
				place = (n - last) * 100
			} else {
				place += n/99 + 1
			}
			rows.Tick[n], rows.Known[n], rows.Keys[0][n] = at, at, fmt.Sprintf("node-%06d", place)
		}
		for f := range rows.Cols {
			for range nodes {
				rows.Cols[f].Num = append(rows.Cols[f].Num, r.Float64())
			}
		}
		source[v] = rows
	}
	w.set.Services = []*features.Service{serviceOf("wide", []string{"node"}, w.set.Views...)}
	store, err := online.New(source, w.set.Views, online.Options{Now: w.clock, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	if err := store.Refresh(b.Context()); err != nil {
		b.Fatal(err)
	}
	s, err := New(store, w.set, w, Options{Now: w.clock, Log: slog.New(slog.DiscardHandler)})
	if err != nil || left != 0 {
		b.Fatal(err, left)
	}
	s.publish(momentAt(w.clock().UnixMilli(), s.opts.Settle))
	p := s.plans.byRef["wide@v1"]
	x, err := s.matrix(s.current.Load(), p)
	if err != nil || x.ents.n != nodes || x.status[0] != 1 {
		b.Fatal(err)
	}
	return s, p
}

// BenchmarkBuildMatrix is what a version costs when nodes stay the same: the columns are copied
// into the flat file.
func BenchmarkBuildMatrix(b *testing.B) {
	s, p := cluster(b, benchNodes)
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		e := s.hold(s.current.Load().Moment)
		x, err := s.matrix(e, p)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(x.file)))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(benchNodes*64), "ns/value")
}

// BenchmarkAlign is what it costs beside that when a node came or went.
func BenchmarkAlign(b *testing.B) {
	s, p := cluster(b, benchNodes)
	rows := rowsOfEdition(s, p)
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		(&aligner{plan: p}).align(rows, make([]int64, len(rows)))
	}
}

func BenchmarkEncodeArrow(b *testing.B) {
	s, p := cluster(b, benchNodes)
	x, err := s.matrix(s.current.Load(), p)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(x.file)))
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		if _, err := x.encodeArrow(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemcpy is the bare limit of the ones before: the same bytes into fresh memory.
func BenchmarkMemcpy(b *testing.B) {
	s, p := cluster(b, benchNodes)
	x, err := s.matrix(s.current.Load(), p)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(x.file)))
	defer reportCPU(b)()
	for b.Loop() {
		sink = append([]byte(nil), x.file...)
	}
}

var sink []byte

// cpu is the time that the processors have worked for this process.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reportCPU says, when it is called in the end, what an operation cost the processors: that is
// firmer than its time where others use them too.
func reportCPU(b *testing.B) func() {
	began := cpu()
	return func() { b.ReportMetric(float64((cpu()-began).Microseconds())/1000/float64(b.N), "cpu-ms/op") }
}

func BenchmarkChange(b *testing.B) {
	s, p := cluster(b, benchNodes)
	x, err := s.matrix(s.current.Load(), p)
	if err != nil {
		b.Fatal(err)
	}
	next := build(p, x.ents, rowsOfEdition(s, p), nil, Moment{x.header.Tick + stepMillis, x.header.Known + stepMillis})
	for i := range 1000 {
		next.values[i*64*97] = 7
	}
	b.SetBytes(int64(len(x.file)))
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		if c := changeBetween(x, next); c.rows.ents.n != 1000 {
			b.Fatal(c.rows.ents.n)
		}
	}
}

func rowsOfEdition(s *Server, p *plan) []*features.Rows {
	var rows []*features.Rows
	for _, v := range p.views {
		rows = append(rows, &s.current.Load().held[v].rows.Rows)
	}
	return rows
}

// BenchmarkSnapshot is a whole request over loopback, the client included, which reads all of the
// answer. "first" is the one that builds the version, alignment known.
func BenchmarkSnapshot(b *testing.B) {
	s, _ := cluster(b, benchNodes)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	buf := make([]byte, 1<<20)
	for _, format := range []string{formatArrow, formatRaw} {
		for _, who := range []string{"first", "next"} {
			b.Run(format+"/"+who, func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					if who == "first" {
						s.current.Store(s.hold(s.current.Load().Moment))
					}
					began := time.Now()
					req, err := http.NewRequestWithContext(b.Context(), "GET", server.URL+"/v1/snapshot?service=wide&format="+format, nil)
					if err != nil {
						b.Fatal(err)
					}
					req.Header.Set("Accept-Encoding", "identity")
					res, err := http.DefaultClient.Do(req)
					if err != nil {
						b.Fatal(err)
					}
					n := int64(0)
					for {
						m, err := res.Body.Read(buf)
						n += int64(m)
						if err == io.EOF {
							break
						}
						if err != nil {
							b.Fatal(err)
						}
					}
					res.Body.Close()
					took = append(took, time.Since(began))
					b.SetBytes(n)
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
