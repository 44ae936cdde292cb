package receive

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
	"go.uber.org/goleak"

	"sextant/collectors/spool"
	"sextant/schema/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// kept is a sink in memory.
type kept struct {
	mu      sync.Mutex
	entries []spool.Entry
	fail    func(e spool.Entry) error // nil: takes all
}

func (k *kept) Append(e spool.Entry) (uint64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		if err := k.fail(e); err != nil {
			return 0, err
		}
	}
	e.Payload = bytes.Clone(e.Payload)
	k.entries = append(k.entries, e)
	return uint64(len(k.entries)), nil
}

// all are the entries so far.
func (k *kept) all() []spool.Entry {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.entries)
}

// lines is what was stored, a line per sample: "node target name{labels} time value".
func (k *kept) lines(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, e := range k.all() {
		out = append(out, linesOf(t, e.Node, e.Target, e.Payload)...)
	}
	return out
}

// linesOf reads a payload with the wire decoder and with the generated one.
func linesOf(t testing.TB, node, target string, payload []byte) []string {
	t.Helper()
	var d wire.Decoder
	if err := d.Scan(payload); err != nil {
		t.Fatalf("payload of %s %s: %v", node, target, err)
	}
	var req writev2.Request
	if err := req.Unmarshal(payload); err != nil {
		t.Fatalf("payload of %s %s: generated decoder: %v", node, target, err)
	}
	var out []string
	b := labels.NewScratchBuilder(0)
	for _, ts := range req.Timeseries {
		ls, err := ts.ToLabels(&b, req.Symbols)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range ts.Samples {
			out = append(out, line(node, target, ls, s.Timestamp, s.Value))
		}
	}
	if len(out) != len(d.Values) {
		t.Fatalf("the generated decoder reads %d samples, the wire decoder %d", len(out), len(d.Values))
	}
	return out
}

func line(node, target string, ls labels.Labels, ms int64, v float64) string {
	return fmt.Sprintf("%s %s %s %d %x", node, target, ls, ms, math.Float64bits(v))
}

func newReceiver(t testing.TB, sink Sink, change func(*Config)) *Receiver {
	t.Helper()
	cfg := Defaults()
	cfg.Listen = "127.0.0.1:0"
	if change != nil {
		change(&cfg)
	}
	if err := cfg.Check("receive"); err != nil {
		t.Fatal(err)
	}
	r, err := New(cfg, options(sink))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func options(sink Sink) Options {
	return Options{Node: "self", Sink: sink, Log: quiet, Register: prometheus.NewRegistry()}
}

// sample is one sample of a test request.
type sample struct {
	labels string // name value name value …
	time   int64
	value  float64
}

func labelsOf(text string) labels.Labels { return labels.FromStrings(strings.Fields(text)...) }

// request groups samples into series in the order of their first appearance.
func group(samples []sample) (order []string, by map[string][]sample) {
	by = map[string][]sample{}
	for _, s := range samples {
		if _, ok := by[s.labels]; !ok {
			order = append(order, s.labels)
		}
		by[s.labels] = append(by[s.labels], s)
	}
	return order, by
}

func encodeV1(t testing.TB, samples ...sample) []byte {
	t.Helper()
	var req prompb.WriteRequest
	order, by := group(samples)
	for _, text := range order {
		ts := prompb.TimeSeries{}
		f := strings.Fields(text) // as written, which need not be sorted
		for i := 0; i+1 < len(f); i += 2 {
			ts.Labels = append(ts.Labels, prompb.Label{Name: f[i], Value: f[i+1]})
		}
		for _, s := range by[text] {
			ts.Samples = append(ts.Samples, prompb.Sample{Timestamp: s.time, Value: s.value})
		}
		req.Timeseries = append(req.Timeseries, ts)
	}
	return marshal(t, &req)
}

func encodeV2(t testing.TB, samples ...sample) []byte {
	t.Helper()
	symbols := writev2.NewSymbolTable()
	var req writev2.Request
	order, by := group(samples)
	for _, text := range order {
		ts := writev2.TimeSeries{LabelsRefs: symbols.SymbolizeLabels(labelsOf(text), nil)}
		for _, s := range by[text] {
			ts.Samples = append(ts.Samples, writev2.Sample{Timestamp: s.time, Value: s.value})
		}
		req.Timeseries = append(req.Timeseries, ts)
	}
	req.Symbols = symbols.Symbols()
	return marshal(t, &req)
}

func encode(t testing.TB, p protocol, samples ...sample) []byte {
	if p == v1 {
		return encodeV1(t, samples...)
	}
	return encodeV2(t, samples...)
}

func marshal(t testing.TB, m interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	b, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var contentTypes = map[protocol]string{v1: mediaType, v2: mediaType + ";proto=" + messageV2}

// post sends a raw request as a sender does.
func post(r http.Handler, p protocol, raw []byte) *httptest.ResponseRecorder {
	return do(r, http.MethodPost, http.Header{"Content-Type": {contentTypes[p]}, "Content-Encoding": {"snappy"}}, snappy.Encode(nil, raw))
}

func do(r http.Handler, method string, h http.Header, body []byte) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, "/api/v1/write", bytes.NewReader(body))
	maps.Copy(req.Header, h)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

func wantLines(t testing.TB, got []string, want ...string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("stored\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func nowMs() int64 { return time.Now().UnixMilli() }

// both runs a test with each protocol.
func both(t *testing.T, f func(t *testing.T, p protocol)) {
	for _, p := range []protocol{v1, v2} {
		t.Run(p.String(), func(t *testing.T) { f(t, p) })
	}
}
