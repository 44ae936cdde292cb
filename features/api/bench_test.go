package api

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sextant/features"
	"sextant/features/online"
)

// BenchmarkGetOnlineFeatures is a whole request without the network: decode, look up,
// encode, over 10,000 entities in memory.
func BenchmarkGetOnlineFeatures(b *testing.B) {
	const nodes, columns = 10_000, 50
	h := benchServer(b, nodes, columns)
	for _, n := range []int{1, 100, 1000} {
		body := benchRequest(n, columns)
		b.Run(fmt.Sprintf("%dx%d", n, columns), func(b *testing.B) {
			b.ReportAllocs()
			reader := strings.NewReader(body)
			r := httptest.NewRequest("POST", "/get-online-features", nil)
			w := &discard{header: http.Header{}}
			for b.Loop() {
				reader.Reset(body)
				r.Body = io.NopCloser(reader)
				w.bytes = 0
				h.ServeHTTP(w, r)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*columns), "ns/value")
			b.ReportMetric(float64(w.bytes), "B/answer")
		})
	}
}

// benchStore holds one view of columns features, each of nodes entities.
func benchStore(b testing.TB, nodes, columns int) ([]*features.View, *online.Store) {
	b.Helper()
	v := view("wide", 1, []string{"node"})
	rs := &features.Rows{Keys: make([][]string, 1)}
	rnd := rand.New(rand.NewPCG(1, 1))
	for c := range columns {
		v.Features = append(v.Features, features.Feature{Name: fmt.Sprintf("f%d", c)})
		rs.Cols = append(rs.Cols, features.Column{})
		for range nodes {
			rs.Cols[c].Num = append(rs.Cols[c].Num, float64(rnd.Float32()))
		}
	}
	for i := range nodes {
		rs.Tick, rs.Known = append(rs.Tick, start.UnixMilli()), append(rs.Known, start.UnixMilli())
		rs.Keys[0] = append(rs.Keys[0], fmt.Sprintf("node-%05d", i))
	}
	now := func() time.Time { return start }
	views := []*features.View{v}
	store, err := online.New(rows{v.Ref(): rs}, views, online.Options{Now: now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	if err := store.Refresh(b.Context()); err != nil {
		b.Fatal(err)
	}
	return views, store
}

func benchServer(b testing.TB, nodes, columns int) http.Handler {
	b.Helper()
	views, store := benchStore(b, nodes, columns)
	h, err := New(store, &features.Set{Views: views}, Options{Now: func() time.Time { return start }})
	if err != nil {
		b.Fatal(err)
	}
	probe := httptest.NewRecorder()
	h.ServeHTTP(probe, httptest.NewRequest("POST", "/get-online-features", strings.NewReader(`{"features":["wide:f1"],"entities":{"node":["node-00007"]}}`)))
	if !bytes.Contains(probe.Body.Bytes(), []byte(`"PRESENT"`)) || probe.Code != 200 {
		b.Fatalf("%d %s", probe.Code, probe.Body)
	}
	return h
}

type discard struct {
	header http.Header
	bytes  int
}

func (w *discard) Header() http.Header { return w.header }
func (w *discard) WriteHeader(int)     {}
func (w *discard) Write(b []byte) (int, error) {
	w.bytes += len(b)
	return len(b), nil
}
