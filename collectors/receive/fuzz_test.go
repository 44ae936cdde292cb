package receive

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/prompb"

	"sextant/schema/wire"
)

// FuzzV1 reads any bytes with this decoder and the generated one: what both take must be
// equal. Ours refuses the fields of a 2.0 request and what passes its limits.
func FuzzV1(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		f.Add(encodeV1(f, few(randomSamples(r, 1700000000000))...))
	}
	f.Add(marshalV1(prompb.WriteRequest{Timeseries: []prompb.TimeSeries{{Labels: []prompb.Label{{Name: "b", Value: "1"}, {Name: "a"}},
		Samples: []prompb.Sample{{}, {Value: 1, Timestamp: -1}}, Exemplars: []prompb.Exemplar{{}}, Histograms: []prompb.Histogram{{}}}},
		Metadata: []prompb.MetricMetadata{{Help: "h"}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d decoderV1
		if d.scan(b) != nil {
			return
		}
		layout := d.layout
		var req prompb.WriteRequest
		if req.Unmarshal(b) == nil {
			equalV1(t, &d, &req)
		}
		for i := range d.series {
			_ = d.Labels(i, func(name, value []byte) bool { return len(name) > 0 && len(value) > 0 })
		}
		if err := d.scan(b); err != nil || d.layout != layout {
			t.Fatalf("a second scan gives layout %x, not %x; error %v", d.layout, layout, err)
		}
	})
}

// few keeps a seed small, which makes the fuzzing fast.
func few(s []sample) []sample { return s[:min(len(s), 5)] }

func marshalV1(req prompb.WriteRequest) []byte {
	b, err := req.Marshal()
	if err != nil {
		panic(err)
	}
	return b
}

func equalV1(t *testing.T, d *decoderV1, req *prompb.WriteRequest) {
	if len(d.series) != len(req.Timeseries) || d.metadata != len(req.Metadata) {
		t.Fatalf("%d series and %d metadata, want %d and %d", len(d.series), d.metadata, len(req.Timeseries), len(req.Metadata))
	}
	k, histograms, exemplars := 0, 0, 0
	for i, ts := range req.Timeseries {
		for _, s := range ts.Samples {
			owner := k
			if d.index != nil {
				owner = int(d.index[k])
			}
			if owner != i || d.times[k] != s.Timestamp || math.Float64bits(d.values[k]) != math.Float64bits(s.Value) {
				t.Fatalf("sample %d of series %d is %v of %d at %d, want %v", k, i, d.values[k], owner, d.times[k], s)
			}
			k++
		}
		histograms += len(ts.Histograms)
		exemplars += len(ts.Exemplars)
		var got []prompb.Label
		if d.Labels(i, func(name, value []byte) bool {
			got = append(got, prompb.Label{Name: string(name), Value: string(value)})
			return true
		}) != nil {
			continue // the generated decoder checks nothing
		}
		want := slices.DeleteFunc(slices.Clone(ts.Labels), func(l prompb.Label) bool { return l.Value == "" })
		slices.SortFunc(want, func(a, b prompb.Label) int { return strings.Compare(a.Name, b.Name) })
		if !slices.EqualFunc(got, want, func(a, b prompb.Label) bool { return a.Name == b.Name && a.Value == b.Value }) {
			t.Fatalf("series %d has labels %v, want %v", i, got, want)
		}
	}
	if k != len(d.values) || histograms != d.histograms || exemplars != d.exemplars {
		t.Fatalf("%d samples, %d histograms, %d exemplars, want %d, %d, %d", len(d.values), d.histograms, d.exemplars, k, histograms, exemplars)
	}
}

// FuzzRequest sends any bytes in both protocols, three times each: nothing panics, every
// entry can be read, what is answered as written is stored, and a layout that is
// remembered gives what the first time gave.
func FuzzRequest(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	now := nowMs()
	for range 4 {
		s := few(randomSamples(r, now))
		f.Add(encodeV1(f, s...))
		f.Add(encodeV2(f, s...))
	}
	f.Add(wire.NewTemplate([]wire.SeriesDef{{Labels: []wire.Label{{Name: "__name__", Value: "a"}}, Type: 1, Unit: "s", Help: "h"}}).AppendAt(nil, now, []float64{0}))
	k := &kept{}
	rec := newReceiver(f, k, nil)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, p := range []protocol{v1, v2} {
			rec.router = newRouter(rec.router.rules, rec.router.seed)
			var first []string
			for turn := range 3 {
				k.entries = nil
				w := post(rec, p, raw)
				if w.Code != 204 && w.Code != 400 && w.Code != 413 || w.Code == 400 && w.Body.Len() == 0 {
					t.Fatalf("%s: %d %s", p, w.Code, w.Body)
				}
				got := k.lines(t)
				once(t, k)
				if turn == 0 {
					first = got
				} else if !slices.Equal(got, first) {
					t.Fatalf("%s: turn %d gives\n%s\nthe first gave\n%s", p, turn, strings.Join(got, "\n"), strings.Join(first, "\n"))
				}
			}
		}
	})
}
