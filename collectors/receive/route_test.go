package receive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/prompb"

	"sextant/internal/config"
	"sextant/schema/wire"
)

func TestNodeAndTarget(t *testing.T) {
	now := nowMs()
	for _, c := range []struct {
		name, labels, node, target, kept string
		nodeLabels                       []string
	}{
		{name: "label node", labels: "__name__ a instance h:1 job j node n1", node: "n1", target: "j/h:1", kept: "__name__ a instance h:1 job j"},
		{name: "host of instance", labels: "__name__ a instance h.example:9100 job j", node: "h.example", target: "j/h.example:9100"},
		{name: "bare host", labels: "__name__ a instance h", node: "h", target: "/h"},
		{name: "IPv6", labels: "__name__ a instance [fd00::1]:9100", node: "fd00::1", target: "/[fd00::1]:9100"},
		{name: "IPv6 without port", labels: "__name__ a instance fd00::1", node: "fd00::1", target: "/fd00::1"},
		{name: "URL", labels: "__name__ a instance https://h:8443/x", node: "h", target: "/https://h:8443/x"},
		{name: "URL that is none", labels: "__name__ a instance http://[x", node: "self", target: "/http://[x"},
		{name: "loopback", labels: "__name__ a instance 127.0.0.1:9100 job j", node: "self", target: "j/127.0.0.1:9100"},
		{name: "IPv6 loopback", labels: "__name__ a instance [::1]:9100", node: "self", target: "/[::1]:9100"},
		{name: "localhost", labels: "__name__ a instance localhost:9100", node: "self", target: "/localhost:9100"},
		{name: "unspecified", labels: "__name__ a instance 0.0.0.0:1", node: "self", target: "/0.0.0.0:1"},
		{name: "job alone", labels: "__name__ a job rules", node: "self", target: "rules/"},
		{name: "nothing", labels: "__name__ a", node: "self", target: "remote-write"},
		{name: "another label", labels: "__name__ a instance h:1 kube_node k node n", nodeLabels: []string{"kube_node", "node"}, node: "k", target: "/h:1"},
		{name: "no rule", labels: "__name__ a instance h:1 node n", nodeLabels: []string{}, node: "self", target: "/h:1"},
		{name: "only instance", labels: "__name__ a instance h:1 node n", nodeLabels: []string{"instance"}, node: "h", target: "/h:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, p protocol) {
				k := &kept{}
				r := newReceiver(t, k, func(cfg *Config) {
					if c.nodeLabels != nil {
						cfg.NodeLabels = c.nodeLabels
					}
				})
				if w := post(r, p, encode(t, p, sample{c.labels, now, 1})); w.Code != 204 {
					t.Fatalf("%d %s", w.Code, w.Body)
				}
				kept := c.kept
				if kept == "" {
					kept = c.labels
				}
				wantLines(t, k.lines(t), line(c.node, c.target, labelsOf(kept), now, 1))
			})
		})
	}
}

func TestRelabelling(t *testing.T) {
	now := nowMs()
	var cfg Config
	if err := config.Decode("t", []byte(`
relabel_configs:
- {source_labels: [kubernetes_node], regex: (.+), target_label: node}
- {source_labels: [__name__], regex: go_.*, action: drop}
- {regex: replica|pod, action: labeldrop}
`), &cfg); err != nil {
		t.Fatal(err)
	}
	both(t, func(t *testing.T, p protocol) {
		k := &kept{}
		r := newReceiver(t, k, func(c *Config) { c.Relabel = cfg.Relabel })
		raw := encode(t, p, sample{"__name__ a kubernetes_node n1 replica r1", now, 1}, sample{"__name__ go_threads", now, 2}, sample{"__name__ b node n2", now, 3})
		for range 3 {
			k.entries = nil
			w := post(r, p, raw)
			if w.Code != 204 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if p == v2 {
				written(t, w.Header(), "3") // dropped by this receiver's own rule: nothing that the sender could mend
			}
			wantLines(t, k.lines(t), line("n1", unnamed, labelsOf("__name__ a kubernetes_node n1"), now, 1), line("n2", unnamed, labelsOf("__name__ b"), now, 3))
		}
	})
}

// TestSeriesThatBecomeOne: what a rule makes equal is one series of the entry, because a
// record that holds a series twice loses one of them in the pipeline.
func TestSeriesThatBecomeOne(t *testing.T) {
	now := nowMs()
	var cfg Config
	if err := config.Decode("t", []byte("relabel_configs: [{regex: pod, action: labeldrop}]"), &cfg); err != nil {
		t.Fatal(err)
	}
	a := labelsOf("__name__ a")
	both(t, func(t *testing.T, p protocol) {
		k := &kept{}
		r := newReceiver(t, k, func(c *Config) { c.Relabel = cfg.Relabel })
		w := post(r, p, encode(t, p, sample{"__name__ a pod 1", now, 1}, sample{"__name__ a pod 2", now - 1, 2}, sample{"__name__ a pod 3", now, 1}))
		if w.Code != 204 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if p == v2 {
			written(t, w.Header(), "3") // the sample that came twice as well
		}
		wantLines(t, k.lines(t), line("self", unnamed, a, now, 1), line("self", unnamed, a, now-1, 2))
		once(t, k)

		k.entries = nil
		w = post(r, p, encode(t, p, sample{"__name__ a pod 1", now, 1}, sample{"__name__ a pod 2", now, 2}))
		if w.Code != 400 || !strings.Contains(w.Body.String(), "1 of 2 samples written; refused: 1 samples with another value for the same time; first: series 0: 1 and 2 at") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		wantLines(t, k.lines(t), line("self", unnamed, a, now, 1))
	})
}

// once checks that no entry holds a series twice.
func once(t *testing.T, k *kept) {
	t.Helper()
	for _, e := range k.entries {
		var d wire.Decoder
		if err := d.Scan(e.Payload); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i := range d.NumSeries {
			var text strings.Builder
			if err := d.Labels(i, func(n, v []byte) bool { fmt.Fprintf(&text, "%s=%q ", n, v); return true }); err != nil {
				t.Fatal(err)
			}
			if seen[text.String()] {
				t.Fatalf("%s stands twice in an entry", text.String())
			}
			seen[text.String()] = true
		}
	}
}

// TestEntriesByTime: the time of an entry is that of its samples, because the pipeline
// falls back to it for what comes very late.
func TestEntriesByTime(t *testing.T) {
	now := nowMs()
	both(t, func(t *testing.T, p protocol) {
		k := &kept{}
		r := newReceiver(t, k, nil)
		old := now - 3*3600_000
		w := post(r, p, encode(t, p, sample{"__name__ a", now, 1}, sample{"__name__ a", old, 2}, sample{"__name__ b", old, 3}, sample{"__name__ b", now + 30_000, 4}))
		if w.Code != 204 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		var got []string
		for _, e := range k.entries {
			got = append(got, fmt.Sprintf("%d:%d", e.Scrape, len(linesOf(t, e.Node, e.Target, e.Payload))))
		}
		last := k.entries[len(k.entries)-1].Scrape // not later than this clock
		want := []string{fmt.Sprintf("%d:2", old), fmt.Sprintf("%d:1", now), fmt.Sprintf("%d:1", last)}
		if !slices.Equal(got, want) || last < now || last >= now+30_000 {
			t.Fatalf("entries %v, want %v", got, want)
		}
	})
	// An exporter that stamps every series would make an entry of each.
	k := &kept{}
	var samples []sample
	for i := range 100 {
		samples = append(samples, sample{fmt.Sprintf("__name__ a i v%d", i), now - int64(i), float64(i)})
	}
	if w := post(newReceiver(t, k, nil), v2, encodeV2(t, samples...)); w.Code != 204 || len(k.entries) != 1 || k.entries[0].Scrape != now {
		t.Fatalf("%d, %d entries", w.Code, len(k.entries))
	}
}

// TestLargeEntriesAreCut: no entry is larger than a broker takes.
func TestLargeEntriesAreCut(t *testing.T) {
	now := nowMs()
	var samples []sample
	for i := range 1500 {
		samples = append(samples, sample{fmt.Sprintf("__name__ a x %04d%s", i, strings.Repeat("x", 2000)), now, float64(i)})
	}
	for i := range 90_000 {
		samples = append(samples, sample{"__name__ long", now - int64(i), float64(i)})
	}
	both(t, func(t *testing.T, p protocol) {
		k := &kept{}
		if w := post(newReceiver(t, k, nil), p, encode(t, p, samples...)); w.Code != 204 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for _, e := range k.entries {
			if len(e.Payload) > 1<<20 {
				t.Fatalf("an entry of %d bytes", len(e.Payload))
			}
		}
		if n := len(k.lines(t)); n != len(samples) || len(k.entries) < 5 {
			t.Fatalf("%d samples in %d entries", n, len(k.entries))
		}
	})
}

func TestMetadata(t *testing.T) {
	now := nowMs()
	k := &kept{}
	r := newReceiver(t, k, nil)
	tmpl := wire.NewTemplate([]wire.SeriesDef{
		{Labels: []wire.Label{{Name: "__name__", Value: "a"}, {Name: "node", Value: "n1"}}, Type: wire.TypeCounter, Unit: "seconds", Help: "Time."},
		{Labels: []wire.Label{{Name: "__name__", Value: "b"}, {Name: "node", Value: "n1"}}, Help: "Time."},
		{Labels: []wire.Label{{Name: "__name__", Value: "c"}, {Name: "node", Value: "n1"}}},
		{Labels: []wire.Label{{Name: "__name__", Value: "d"}, {Name: "node", Value: "n1"}}, Type: wire.TypeGauge},
	})
	for range 3 {
		k.entries = nil
		if w := post(r, v2, tmpl.AppendAt(nil, now, []float64{0, 2, math.Inf(1), 4})); w.Code != 204 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		var d wire.Decoder
		if err := d.Scan(k.entries[0].Payload); err != nil {
			t.Fatal(err)
		}
		got := ""
		for i := range d.NumSeries {
			typ, unit, help := d.Meta(i)
			got += fmt.Sprintf("%d %q %q; ", typ, unit, help)
		}
		if got != `1 "seconds" "Time."; 0 "" "Time."; 0 "" ""; 2 "" ""; ` {
			t.Fatal(got)
		}
	}
}

// TestMetadataChanges: the same series with other metadata is the same series, and goes on
// with what is known of it last.
func TestMetadataChanges(t *testing.T) {
	k := &kept{}
	r := newReceiver(t, k, nil)
	for i, c := range []struct{ sent, want wire.SeriesDef }{
		{wire.SeriesDef{}, wire.SeriesDef{}},
		{wire.SeriesDef{Type: wire.TypeGauge, Unit: "s", Help: "a"}, wire.SeriesDef{Type: wire.TypeGauge, Unit: "s", Help: "a"}},
		{wire.SeriesDef{Type: wire.TypeCounter, Unit: "s", Help: "b"}, wire.SeriesDef{Type: wire.TypeCounter, Unit: "s", Help: "b"}},
		{wire.SeriesDef{Type: wire.TypeCounter, Unit: "m", Help: "b"}, wire.SeriesDef{Type: wire.TypeCounter, Unit: "m", Help: "b"}},
	} {
		c.sent.Labels = []wire.Label{{Name: "__name__", Value: "a"}}
		if w := post(r, v2, wire.NewTemplate([]wire.SeriesDef{c.sent}).AppendAt(nil, nowMs(), []float64{1})); w.Code != 204 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		var d wire.Decoder
		if err := d.Scan(k.entries[i].Payload); err != nil {
			t.Fatal(err)
		}
		if typ, unit, help := d.Meta(0); typ != c.want.Type || unit != c.want.Unit || help != c.want.Help {
			t.Fatalf("request %d: %d %q %q", i, typ, unit, help)
		}
	}
}

// TestLabelsBehindSamples: a 1.0 message may have its fields in any order. The series are
// still known by their labels alone.
func TestLabelsBehindSamples(t *testing.T) {
	now := nowMs()
	k := &kept{}
	r := newReceiver(t, k, nil)
	for turn := range 3 {
		k.entries = nil
		var raw []byte
		var want []string
		for _, x := range []string{"1", "2"} {
			name := prompb.TimeSeries{Labels: []prompb.Label{{Name: "__name__", Value: "a"}}, Samples: []prompb.Sample{{Timestamp: now, Value: float64(turn + 1)}}}
			rest := prompb.TimeSeries{Labels: []prompb.Label{{Name: "x", Value: x}}}
			series := append(marshal(t, &name), marshal(t, &rest)...) // protobuf merges what is put together
			raw = append(append(raw, tagSeriesV1, byte(len(series))), series...)
			want = append(want, line("self", unnamed, labelsOf("__name__ a x "+x), now, float64(turn+1)))
		}
		if w := post(r, v1, raw); w.Code != 204 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		wantLines(t, k.lines(t), want...)
		if len(r.router.known) != 2 {
			t.Fatalf("%d series are known", len(r.router.known))
		}
	}
}

// TestAnyRequest sends random requests in both protocols and compares what is stored with
// what a reader of the rules would store. The same requests come again and again, and the
// memory is lost now and then.
func TestAnyRequest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	now := nowMs()
	k := &kept{}
	rec := newReceiver(t, k, nil)
	var old [][]sample
	for round := range 600 {
		var samples []sample
		if len(old) > 0 && r.IntN(2) == 0 {
			samples = slices.Clone(old[r.IntN(len(old))])
			for i := range samples {
				samples[i].value = r.Float64()
			}
		} else {
			samples = randomSamples(r, now)
			old = append(old, samples)
		}
		if round%97 == 0 {
			rec.router.forget()
		}
		p := protocol(r.IntN(2))
		k.entries = nil
		if w := post(rec, p, encode(t, p, samples...)); w.Code != 204 {
			t.Fatalf("round %d: %d %s", round, w.Code, w.Body)
		}
		var want []string
		for _, s := range samples {
			want = append(want, expected(s))
		}
		wantLines(t, k.lines(t), want...)
		once(t, k)
	}
	for _, known := range []string{"true", "false"} {
		if n := testutil.ToFloat64(rec.metrics.plans.WithLabelValues(known)); n < 50 {
			t.Fatalf("layouts known=%s only %v times: the test does not reach it", known, n)
		}
	}
}

func randomSamples(r *rand.Rand, now int64) []sample {
	var out []sample
	times := []int64{now}
	for range r.IntN(3) {
		times = append(times, now-int64(r.IntN(100_000)))
	}
	for i := range 1 + r.IntN(30) {
		text := fmt.Sprintf("__name__ m%d instance h%d:9100 job j", i, r.IntN(4))
		if r.IntN(3) == 0 {
			text += fmt.Sprintf(" node n%d", r.IntN(3))
		}
		used := map[int64]bool{}
		for range 1 + r.IntN(2)*r.IntN(4) {
			at := times[r.IntN(len(times))]
			if r.IntN(20) == 0 {
				at = now - int64(r.IntN(1_000_000))
			}
			if used[at] {
				continue
			}
			used[at] = true
			v := r.NormFloat64()
			if r.IntN(5) == 0 {
				v = []float64{0, math.NaN(), math.Float64frombits(value.StaleNaN), math.Inf(-1)}[r.IntN(4)]
			}
			out = append(out, sample{text, at, v})
		}
	}
	return out
}

// expected is the rule in its plainest form.
func expected(s sample) string {
	ls := labelsOf(s.labels)
	node := ls.Get("node")
	if node == "" {
		node, _, _ = strings.Cut(ls.Get("instance"), ":")
	}
	target := ls.Get("job") + "/" + ls.Get("instance")
	return line(node, target, labels.NewBuilder(ls).Del("node").Labels(), s.time, s.value)
}

// TestConcurrentSenders share what is remembered.
func TestConcurrentSenders(t *testing.T) {
	now := nowMs()
	k := &kept{}
	rec := newReceiver(t, k, nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var want []string // guarded by mu
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g%4), 9)) // two of each: the same requests at a time
			for range 30 {
				samples := randomSamples(r, now)
				p := protocol(r.IntN(2))
				if w := post(rec, p, encode(t, p, samples...)); w.Code != 204 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				mu.Lock()
				for _, s := range samples {
					want = append(want, expected(s))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	wantLines(t, k.lines(t), want...)
}

// TestWideSeries have references of more bytes than one length byte says.
func TestWideSeries(t *testing.T) {
	now := nowMs()
	for _, labels := range []int{30, 31, 32, 62, 63, 64, 120} {
		both(t, func(t *testing.T, p protocol) {
			k := &kept{}
			rec := newReceiver(t, k, nil)
			var samples []sample
			var want []string
			for i := range 5 {
				var text strings.Builder
				fmt.Fprintf(&text, "__name__ m%d", i)
				for l := range labels {
					fmt.Fprintf(&text, " l%03d%d v%d%d", l, i, l, i)
				}
				samples = append(samples, sample{text.String(), now, float64(i)})
				want = append(want, line("self", unnamed, labelsOf(text.String()), now, float64(i)))
			}
			if w := post(rec, p, encode(t, p, samples...)); w.Code != 204 {
				t.Fatalf("%d labels: %d %s", labels, w.Code, w.Body)
			}
			wantLines(t, k.lines(t), want...)
		})
	}
}

// TestSharedSymbols: a request whose series all refer to the same large texts is small, and
// must not cost more than its limits say.
func TestSharedSymbols(t *testing.T) {
	now := nowMs()
	var samples []sample
	for i := range 3000 {
		samples = append(samples, sample{fmt.Sprintf("__name__ m%d a %s b %s c %s", i, strings.Repeat("x", 16_000), strings.Repeat("y", 16_000), strings.Repeat("z", 16_000)), now, 1})
	}
	raw := encodeV2(t, samples...)
	if len(raw) > 1<<18 {
		t.Fatalf("the request has %d bytes", len(raw))
	}
	k := &kept{}
	w := post(newReceiver(t, k, nil), v2, raw)
	most := labelBudget/48_000 + 1
	if w.Code != 400 || !strings.Contains(w.Body.String(), "bytes of labels") || len(k.lines(t)) > most || len(k.lines(t)) < most-100 {
		t.Fatalf("%d, %d samples of at most %d: %s", w.Code, len(k.lines(t)), most, w.Body)
	}
	w = post(newReceiver(t, k, nil), v2, encodeV2(t, sample{fmt.Sprintf("__name__ m%s", many(100)) + fmt.Sprintf(" y0 %[1]s y1 %[1]s y2 %[1]s y3 %[1]s y4 %[1]s", strings.Repeat("y", 16_000)), now, 1}))
	if w.Code != 400 || !strings.Contains(w.Body.String(), "more than 65536 bytes of labels") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

func TestExternalLabelsAreAddedWhereTheyAreAskedFor(t *testing.T) {
	now := nowMs()
	sent := []sample{{"__name__ a node n1 zone own", now, 1}, {"__name__ b node n1", now, 2}}
	for asked, want := range map[bool][2]string{true: {"__name__ a cluster c1 zone own", "__name__ b cluster c1 zone z1"}, false: {"__name__ a zone own", "__name__ b"}} {
		both(t, func(t *testing.T, p protocol) {
			k := &kept{}
			cfg := Defaults()
			cfg.Listen, cfg.External = "127.0.0.1:0", asked
			o := options(k)
			o.External = labels.FromStrings("cluster", "c1", "zone", "z1")
			r, err := New(cfg, o)
			if err != nil {
				t.Fatal(err)
			}
			if w := post(r, p, encode(t, p, sent...)); w.Code != 204 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			wantLines(t, k.lines(t), line("n1", unnamed, labelsOf(want[0]), now, 1), line("n1", unnamed, labelsOf(want[1]), now, 2))
		})
	}
}
