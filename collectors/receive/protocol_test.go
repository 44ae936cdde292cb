package receive

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"

	"sextant/collectors/spool"
)

func TestNegotiation(t *testing.T) {
	now := nowMs()
	one, two := snappy.Encode(nil, encodeV1(t, sample{"__name__ a", now, 1})), snappy.Encode(nil, encodeV2(t, sample{"__name__ a", now, 1}))
	for _, c := range []struct {
		name, method, content, encoding string
		body                            []byte
		code                            int
	}{
		{"1.0", "POST", "application/x-protobuf", "snappy", one, 204},
		{"1.0 by name", "POST", "application/x-protobuf;proto=prometheus.WriteRequest", "snappy", one, 204},
		{"2.0", "POST", "application/x-protobuf;proto=io.prometheus.write.v2.Request", "snappy", two, 204},
		{"2.0 with blanks", "POST", `Application/X-Protobuf; proto="io.prometheus.write.v2.Request"`, "Snappy", two, 204},
		{"no headers", "POST", "", "", one, 204},
		{"another message", "POST", "application/x-protobuf;proto=io.prometheus.write.v3.Request", "snappy", two, 415},
		{"JSON", "POST", "application/json", "snappy", one, 415},
		{"no media type", "POST", ";;;", "snappy", one, 415},
		{"zstd of vmagent", "POST", "application/x-protobuf", "zstd", one, 415},
		{"gzip", "POST", "application/x-protobuf", "gzip", one, 415},
		{"GET", "GET", "application/x-protobuf", "snappy", nil, 405},
		{"not compressed", "POST", "application/x-protobuf", "snappy", encodeV1(t, sample{"__name__ a", now, 1}), 400},
		{"2.0 said to be 1.0", "POST", "application/x-protobuf", "snappy", two, 400},
		{"1.0 said to be 2.0", "POST", "application/x-protobuf;proto=io.prometheus.write.v2.Request", "snappy", one, 400},
		{"cut", "POST", "application/x-protobuf", "snappy", snappy.Encode(nil, encodeV1(t, sample{"__name__ a", now, 1})[:9]), 400},
		{"empty body", "POST", "application/x-protobuf", "snappy", nil, 400},
		{"empty message", "POST", "application/x-protobuf", "snappy", snappy.Encode(nil, nil), 204},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &kept{}
			h := http.Header{}
			for name, v := range map[string]string{"Content-Type": c.content, "Content-Encoding": c.encoding} {
				if v != "" {
					h.Set(name, v)
				}
			}
			w := do(newReceiver(t, k, nil), c.method, h, c.body)
			if w.Code != c.code {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			if (w.Body.Len() == 0) != (c.code == 204) {
				t.Fatalf("body %q", w.Body)
			}
			if want := c.code == 204 && c.name != "empty message"; (len(k.entries) == 1) != want {
				t.Fatalf("%d entries", len(k.entries))
			}
			if is2 := strings.Contains(c.content, messageV2); is2 != (w.Header().Get(samplesWritten) != "") {
				t.Fatalf("headers %v", w.Header())
			}
			if c.code == 405 && w.Header().Get("Allow") != "POST" {
				t.Fatalf("headers %v", w.Header())
			}
		})
	}
}

func written(t *testing.T, h http.Header, samples string) {
	t.Helper()
	for name, want := range map[string]string{samplesWritten: samples, histogramsWritten: "0", exemplarsWritten: "0"} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestPartialWrite sends good series among bad ones: the good ones are stored, and the
// answer says how many and what was wrong.
func TestPartialWrite(t *testing.T) {
	now := nowMs()
	good := []sample{{"__name__ a instance n1:9100 job j", now, 1}, {"__name__ b instance n1:9100 job j", now, 2}}
	for _, c := range []struct {
		name, want string
		bad        sample
	}{
		{"no name", "no metric name", sample{"instance n1:9100", now, 1}},
		{"no labels", "no metric name", sample{"", now, 1}},
		{"control character in node", "control character", sample{"__name__ c node a\x01b", now, 1}},
		{"long node", "node of 300 bytes", sample{"__name__ c node " + strings.Repeat("n", 300), now, 1}},
		{"long target", "target of 2", sample{"__name__ c job " + strings.Repeat("j", 2000), now, 1}},
		{"invalid UTF-8", "invalid UTF-8", sample{"__name__ c x \xff", now, 1}},
		{"long value", "bytes per label value", sample{"__name__ c x " + strings.Repeat("x", 20<<10), now, 1}},
		{"too many labels", "labels per series", sample{"__name__ c" + many(200), now, 1}},
		{"too old", "too old", sample{"__name__ c", now - 8*86400_000, 1}},
		{"time 0", "too old", sample{"__name__ c", 0, 1}},
		{"negative time", "too old", sample{"__name__ c", -1, 1}},
		{"future", "future", sample{"__name__ c", now + 3600_000, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, p protocol) {
				k := &kept{}
				r := newReceiver(t, k, nil)
				for range 3 { // planned, remembered, known
					k.entries = nil
					w := post(r, p, encode(t, p, good[0], c.bad, good[1]))
					if w.Code != 400 || !strings.Contains(w.Body.String(), "2 of 3 samples written; refused: 1 ") || !strings.Contains(w.Body.String(), c.want) {
						t.Fatalf("%d %s", w.Code, w.Body)
					}
					if p == v2 {
						written(t, w.Header(), "2")
					} else if w.Header().Get(samplesWritten) != "" {
						t.Fatalf("1.0 with headers %v", w.Header())
					}
					wantLines(t, k.lines(t), line("n1", "j/n1:9100", labelsOf(good[0].labels), now, 1), line("n1", "j/n1:9100", labelsOf(good[1].labels), now, 2))
				}
			})
		})
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " l%03d v", i)
	}
	return b.String()
}

// TestHistogramsAndExemplars are refused without the samples beside them.
func TestHistogramsAndExemplars(t *testing.T) {
	now := nowMs()
	symbols := writev2.NewSymbolTable()
	two := writev2.Request{Timeseries: []writev2.TimeSeries{
		{LabelsRefs: symbols.SymbolizeLabels(labelsOf("__name__ a"), nil), Samples: []writev2.Sample{{Timestamp: now, Value: 1, StartTimestamp: now - 5}},
			Exemplars: []writev2.Exemplar{{Value: 1, Timestamp: now}}},
		{LabelsRefs: symbols.SymbolizeLabels(labelsOf("__name__ h"), nil), Histograms: []writev2.Histogram{{Timestamp: now}, {Timestamp: now}}},
	}}
	two.Symbols = symbols.Symbols()
	name := func(n string) []prompb.Label { return []prompb.Label{{Name: "__name__", Value: n}} }
	samples := []prompb.Sample{{Timestamp: now, Value: 1}}
	exemplar := prompb.WriteRequest{Timeseries: []prompb.TimeSeries{{Labels: name("a"), Samples: samples, Exemplars: []prompb.Exemplar{{Value: 1}}}},
		Metadata: []prompb.MetricMetadata{{MetricFamilyName: "a", Help: "h"}}}
	histogram := prompb.WriteRequest{Timeseries: append(exemplar.Timeseries, prompb.TimeSeries{Labels: name("h"), Histograms: []prompb.Histogram{{Timestamp: now}, {}}})}

	for _, c := range []struct {
		name string
		p    protocol
		raw  []byte
		code int
		want string
	}{
		{"2.0", v2, marshal(t, &two), 400, "1 of 1 samples written; refused: 2 native histograms, which are not collected, 1 exemplars, which are not collected"},
		{"1.0 exemplar", v1, marshal(t, &exemplar), 204, ""},
		{"1.0 histogram", v1, marshal(t, &histogram), 400, "2 native histograms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &kept{}
			r := newReceiver(t, k, nil)
			w := post(r, c.p, c.raw)
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if c.p == v2 {
				written(t, w.Header(), "1")
			}
			wantLines(t, k.lines(t), line("self", "remote-write", labelsOf("__name__ a"), now, 1))
			if got := testutil.ToFloat64(r.metrics.refused.WithLabelValues(c.p.String(), "exemplar")); got != 1 {
				t.Fatalf("%v exemplars counted", got)
			}
		})
	}
}

// TestNotDurable: a sender must keep what the spool did not take, and hears 503 for as
// long as that is so.
func TestNotDurable(t *testing.T) {
	now := nowMs()
	both(t, func(t *testing.T, p protocol) {
		full := true
		k := &kept{fail: func(e spool.Entry) error {
			if full && e.Node == "n2" {
				return fmt.Errorf("%w: no space left", spool.ErrNotDurable)
			}
			return nil
		}}
		r := newReceiver(t, k, nil)
		raw := encode(t, p, sample{"__name__ a node n1", now, 1}, sample{"__name__ a node n2", now, 2}, sample{"__name__ a node n3", now, 3})
		w := post(r, p, raw)
		if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "no space left") {
			t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
		}
		if p == v2 {
			written(t, w.Header(), "0") // it is all sent again
		}
		full = false
		if w := post(r, p, raw); w.Code != 204 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		a := labelsOf("__name__ a")
		wantLines(t, k.lines(t), line("n1", unnamed, a, now, 1), // of the first try: the same series and time, one row
			line("n1", unnamed, a, now, 1), line("n2", unnamed, a, now, 2), line("n3", unnamed, a, now, 3))
	})
	k := &kept{fail: func(spool.Entry) error { return spool.ErrClosed }}
	if w := post(newReceiver(t, k, nil), v2, encodeV2(t, sample{"__name__ a", now, 1})); w.Code != 503 {
		t.Fatalf("closed spool: %d", w.Code)
	}
	k.fail = func(spool.Entry) error { return spool.ErrRefused }
	w := post(newReceiver(t, k, nil), v2, encodeV2(t, sample{"__name__ a", now, 1}))
	if w.Code != 400 || !strings.Contains(w.Body.String(), "1 samples that the spool refused") {
		t.Fatalf("refused by the spool: %d %s", w.Code, w.Body)
	}
	written(t, w.Header(), "0")
}

func TestLimits(t *testing.T) {
	now := nowMs()
	var series, samples []sample
	for i := range 20 {
		series = append(series, sample{fmt.Sprintf("__name__ a l v%d", i), now, 1})
		samples = append(samples, sample{"__name__ a", now - int64(i), 1})
	}
	wide := sample{"__name__ a x " + strings.Repeat("x", 8000), now, 1}
	for _, c := range []struct {
		limit   string
		change  func(*Config)
		samples []sample
	}{
		{"series", func(c *Config) { c.MaxSeries = 19 }, series},
		{"samples", func(c *Config) { c.MaxSamples = 19 }, samples},
		{"request", func(c *Config) { c.MaxRequestBytes = 1 << 10 }, []sample{wide}},
	} {
		t.Run(c.limit, func(t *testing.T) {
			both(t, func(t *testing.T, p protocol) {
				k := &kept{}
				raw := encode(t, p, c.samples...)
				if w := post(newReceiver(t, k, nil), p, raw); w.Code != 204 {
					t.Fatalf("within the limits: %d %s", w.Code, w.Body)
				}
				k.entries = nil
				r := newReceiver(t, k, c.change)
				w := post(r, p, raw)
				if w.Code != 413 || !strings.Contains(w.Body.String(), "at most") || len(k.entries) != 0 {
					t.Fatalf("%d %s, %d entries", w.Code, w.Body, len(k.entries))
				}
				if n := testutil.ToFloat64(r.metrics.limits.WithLabelValues(c.limit)); n != 1 {
					t.Fatalf("limit counted %v times", n)
				}
				if p == v2 {
					written(t, w.Header(), "0")
				}
			})
		})
	}
	t.Run("body", func(t *testing.T) {
		r := newReceiver(t, &kept{}, func(c *Config) { c.MaxBodyBytes = 1 << 10 })
		noise := make([]byte, 2000)
		for i := range noise {
			noise[i] = byte(i*i*7919>>3 + i)
		}
		h := http.Header{"Content-Type": {mediaType}}
		if w := do(r, "POST", h, noise); w.Code != 413 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		req, _ := http.NewRequest("POST", "/", struct{ *bytes.Reader }{bytes.NewReader(noise)}) // its length is not known
		if a := r.receive(req); a.code != 413 || a.limit != "body" {
			t.Fatalf("%d %v", a.code, a.err)
		}
	})
	t.Run("bomb", func(t *testing.T) {
		r := newReceiver(t, &kept{}, nil)
		if w := do(r, "POST", http.Header{}, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0}); w.Code != 413 {
			t.Fatalf("a body of 6 bytes that says it has 4 GiB: %d %s", w.Code, w.Body)
		}
	})
	t.Run("labels", func(t *testing.T) {
		r := newReceiver(t, &kept{}, func(c *Config) { c.MaxLabels = 2 })
		w := post(r, v1, encodeV1(t, sample{"__name__ a x 1 y 2", now, 1}))
		if w.Code != 400 || !strings.Contains(w.Body.String(), "3 labels per series, at most 2") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	})
}

func TestBodyThatBreaksOff(t *testing.T) {
	req, _ := http.NewRequest("POST", "/", broken{})
	if a := newReceiver(t, &kept{}, nil).receive(req); a.code != 400 || !strings.Contains(a.err.Error(), "gone") {
		t.Fatalf("%d %v", a.code, a.err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("gone") }

// TestFullShareIsToldAndSentAgain: a spool that takes no more from others is no fault of the sender's.
func TestFullShareIsToldAndSentAgain(t *testing.T) {
	k := &kept{fail: func(e spool.Entry) error {
		if e.Received {
			return spool.ErrShare
		}
		return nil
	}}
	w := post(newReceiver(t, k, nil), v2, encodeV2(t, sample{"__name__ a", nowMs(), 1}))
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "half of the spool") {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}
