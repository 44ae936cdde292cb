package wire

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
)

func TestDecoderReadsTheGeneratedEncoder(t *testing.T) {
	var d Decoder // one for all: state of an earlier request must not show
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		req := randomRequest(r)
		if err := d.Scan(marshal(t, req)); err != nil {
			t.Fatalf("%v: %v", req, err)
		}
		if refused := requireEqual(t, &d, req); refused != 0 {
			t.Fatalf("%d series refused of %v", refused, req)
		}
	}
}

// randomRequest has series with no, one and many samples, histograms and exemplars.
func randomRequest(r *rand.Rand) *writev2.Request {
	series, values := nodePage(r.IntN(40))
	ts := make([]int64, len(series))
	for i := range ts {
		ts[i] = now + r.Int64N(1000)
	}
	req := generated(series, ts, values)
	for i := range req.Timeseries {
		s := &req.Timeseries[i]
		switch r.IntN(12) {
		case 0:
			s.Samples = nil
			s.Histograms = []writev2.Histogram{{Sum: 4, Timestamp: now, PositiveDeltas: []int64{1, -2}}}
		case 1:
			s.Samples = append(s.Samples, writev2.Sample{Value: r.NormFloat64(), Timestamp: r.Int64()})
		case 2:
			s.Exemplars = []writev2.Exemplar{{LabelsRefs: []uint32{0, 0}, Value: 1, Timestamp: now}}
		case 3:
			s.Samples[0] = writev2.Sample{} // all defaults: an empty message
		case 4:
			s.Samples[0].StartTimestamp = now - 5
		case 5:
			s.Metadata = writev2.Metadata{}
		case 6:
			s.Samples[0].Timestamp = -s.Samples[0].Timestamp
		}
	}
	return req
}

func TestLayoutTellsSeriesApart(t *testing.T) {
	series, values := nodePage(20)
	for _, ms := range []int64{now, 5} { // samples of usual and of other length
		testLayout(t, series, slices.Repeat([]int64{ms}, len(series)), values)
	}
}

func testLayout(t *testing.T, series []SeriesDef, ts []int64, values []float64) {
	base := func() *writev2.Request { return generated(series, ts, values) }
	layout := func(req *writev2.Request) [2]uint64 {
		var d Decoder
		if err := d.Scan(marshal(t, req)); err != nil {
			t.Fatal(err)
		}
		return d.Layout
	}
	want := layout(base())

	same := map[string]func(*writev2.Request){
		"values": func(r *writev2.Request) {
			for i := range r.Timeseries {
				r.Timeseries[i].Samples[0] = writev2.Sample{Value: math.Inf(1), Timestamp: int64(i) << 40, StartTimestamp: 3}
			}
		},
		"exemplars": func(r *writev2.Request) {
			r.Timeseries[3].Exemplars = []writev2.Exemplar{{LabelsRefs: []uint32{0, 0}, Value: 1}}
		},
		"histograms": func(r *writev2.Request) { r.Timeseries[3].Histograms = []writev2.Histogram{{Sum: 1}} },
	}
	for name, change := range same {
		req := base()
		change(req)
		if layout(req) != want {
			t.Errorf("other %s: the layout changed", name)
		}
	}

	seen := map[[2]uint64]string{want: "unchanged"}
	for name, change := range map[string]func(*writev2.Request){
		"a symbol":        func(r *writev2.Request) { r.Symbols[4] += "x" },
		"another symbol":  func(r *writev2.Request) { r.Symbols = append(r.Symbols, "more") },
		"a reference":     func(r *writev2.Request) { r.Timeseries[7].LabelsRefs[1] = 3 },
		"a type":          func(r *writev2.Request) { r.Timeseries[7].Metadata.Type++ },
		"a unit":          func(r *writev2.Request) { r.Timeseries[7].Metadata.UnitRef++ },
		"one series less": func(r *writev2.Request) { r.Timeseries = r.Timeseries[:19] },
		"one sample more": func(r *writev2.Request) { s := &r.Timeseries[7]; s.Samples = append(s.Samples, s.Samples[0]) },
		"one sample less": func(r *writev2.Request) { r.Timeseries[7].Samples = nil },
		"other order":     func(r *writev2.Request) { s := r.Timeseries; s[3], s[4] = s[4], s[3] },
		"sample elsewhere": func(r *writev2.Request) {
			s := r.Timeseries
			s[3].Samples, s[4].Samples = nil, append(s[4].Samples, s[3].Samples...)
		},
	} {
		req := base()
		change(req)
		got := layout(req)
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s have the same layout", name, other)
		}
		seen[got] = name
	}
}

func TestSeedChangesTheLayout(t *testing.T) {
	b := NewTemplate(smallPage()).AppendAt(nil, now, []float64{1, 2, 3})
	plain, seeded := Decoder{}, Decoder{Seed: 42}
	if err := plain.Scan(b); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the seed outlives a scan
		if err := seeded.Scan(b); err != nil {
			t.Fatal(err)
		}
		if plain.Layout == seeded.Layout {
			t.Fatal("the seed has no effect")
		}
	}
}

// TestLayoutBordersOfSeries has two requests that give the same bytes if nothing marks
// where a series ends: the number of samples, 10, looks like the tag of references.
func TestLayoutBordersOfSeries(t *testing.T) {
	refs := []uint32{1, 1, 1, 1, 1, 1, 1, 1}
	samples := make([]writev2.Sample, 10)
	var layouts [2][2]uint64
	for i, series := range [][]writev2.TimeSeries{
		{{Samples: samples}, {LabelsRefs: refs, Samples: samples[:1]}, {Samples: samples[:3]}},
		{{LabelsRefs: append(append([]uint32{8}, refs...), 1), Samples: samples[:3]}},
	} {
		var d Decoder
		if err := d.Scan(marshal(t, &writev2.Request{Symbols: []string{""}, Timeseries: series})); err != nil {
			t.Fatal(err)
		}
		layouts[i] = d.Layout
	}
	if layouts[0] == layouts[1] {
		t.Fatal("three series and one have the same layout")
	}
}

// TestLayoutOfWideSeries: references beyond the 32 bytes that are moved at once count too,
// and what an earlier request left in the buffer does not.
func TestLayoutOfWideSeries(t *testing.T) {
	wide := SeriesDef{Type: TypeGauge, Help: "h"}
	for i := range 40 {
		wide.Labels = append(wide.Labels, Label{fmt.Sprintf("l%02d", i), fmt.Sprint(i)})
	}
	req := generated([]SeriesDef{wide}, []int64{now}, []float64{1})
	plain := marshal(t, req)
	refs := req.Timeseries[0].LabelsRefs
	refs[77], refs[79] = refs[79], refs[77]
	swapped := marshal(t, req)

	var d Decoder
	var layouts [][2]uint64
	for _, b := range [][]byte{plain, swapped, plain, swapped} {
		if err := d.Scan(b); err != nil {
			t.Fatal(err)
		}
		layouts = append(layouts, d.Layout)
	}
	if layouts[0] == layouts[1] || layouts[0] != layouts[2] || layouts[1] != layouts[3] {
		t.Fatalf("layouts %x", layouts)
	}
}

// message is a field of wire type 2 around its parts.
func message(tag byte, parts ...string) string {
	body := strings.Join(parts, "")
	return string(appendUvarint([]byte{tag}, uint64(len(body)))) + body
}

// TestOtherEncoders has what protobuf allows and the two encoders here never write.
func TestOtherEncoders(t *testing.T) {
	const (
		value = "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f"
		refs  = "\x0a\x02\x01\x02"
		five  = "\x10\x05"
	)
	symbols := message(tagSymbol) + message(tagSymbol, "a") + message(tagSymbol, "b")
	usual := "\x10" + string(appendUvarint(nil, now))
	series := func(parts ...string) string { return message(tagTimeSeries, parts...) }
	for _, stamp := range []string{five, usual, "\x10\xac\x02\x18\x80\x80\x01", "\x10\x81\x80\x80\x80\x80\x80\x00"} {
		sample := message(tagSample, value, stamp)
		for name, b := range map[string]string{
			"plain":                      symbols + series(refs, sample),
			"references one by one":      symbols + series("\x08\x01\x08\x02", sample),
			"references in two lists":    symbols + series("\x0a\x01\x01", "\x0a\x01\x02", sample),
			"references behind":          symbols + series(sample, refs),
			"references twice":           symbols + series("\x0a\x01\x01", sample, "\x0a\x01\x02"),
			"symbols behind the series":  series(refs, sample) + symbols,
			"symbols in two runs":        message(tagSymbol) + message(tagSymbol, "a") + series(refs, sample) + message(tagSymbol, "b"),
			"unknown fields":             symbols + series(sample, refs, "\x38\x07", "\x42\x01x", "\x4d1234") + "\xf8\x01\x05",
			"an unknown field at last":   symbols + series(refs, sample, "\x38\x07"),
			"timestamp before the value": symbols + series(refs, message(tagSample, stamp, value)),
			"a long length":              symbols + "\x2a\x91\x00" + (refs + message(tagSample, value, five)),
			"a tag of two bytes":         symbols + series(refs, "\x92\x00"+sample[1:]),
			"metadata first":             symbols + series("\x2a\x02\x08\x01", refs, sample),
			"metadata in two parts":      symbols + series(refs, sample, "\x2a\x02\x08\x01", "\x2a\x02\x18\x02"),
			"metadata and an exemplar":   symbols + series(refs, sample, "\x2a\x02\x08\x01", "\x22\x00"),
			"metadata of many bytes":     symbols + series(refs, sample, message(tagMetadata, strings.Repeat("\x08\x01", 70))),
			"many references":            symbols + series(message(tagRefs, strings.Repeat("\x01\x80\x00", 70)), sample),
		} {
			var d Decoder
			if err := d.Scan([]byte(b)); err != nil {
				t.Errorf("%s, time %x: %v", name, stamp, err)
				continue
			}
			if refused := requireEqual(t, &d, unmarshal(t, []byte(b))); refused != 0 && name != "many references" {
				t.Errorf("%s, time %x: refused", name, stamp)
			}
			if len(d.Values) != 1 || d.Values[0] != 1 {
				t.Errorf("%s, time %x: values %v at %v", name, stamp, d.Values, d.Times)
			}
		}
	}
}

func TestScanFaults(t *testing.T) {
	for _, c := range []struct{ name, b, want string }{
		{"remote write 1.0", "\x0a\x02\x0a\x00", "request byte 0: fields 1 to 3 are reserved"},
		{"text", "# HELP up\n", "request byte 0: "},
		{"no empty symbol", "\x22\x01a", "request byte 0: the first symbol is not the empty string"},
		{"cut symbol", "\x22\x00\x22\x05ab", "request byte 2: ends in the middle"},
		{"cut series", "\x22\x00\x2a\x05\x0a", "request byte 2: ends in the middle"},
		{"cut sample", "\x22\x00\x2a\x04\x12\x05\x09\x00", "request byte 4: ends in the middle"},
		{"cut value", "\x22\x00\x2a\x04\x12\x02\x09\x00", "request byte 4: ends in the middle"},
		{"cut timestamp", "\x22\x00\x2a\x04\x12\x02\x10\x80", "request byte 4: ends in the middle"},
		{"endless varint", "\x22\x00\x2a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "request byte 2: varint of more"},
		{"huge length", "\x22\x00\x2a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "request byte 2: ends in the middle"},
		{"padded symbol tag", "\x22\x00\xa2\x00\x01a", "request byte 2: field tag is padded"},
		{"symbol as varint", "\x20\x01", "request byte 0: wire type does not fit"},
		{"value as varint", "\x22\x00\x2a\x04\x12\x02\x08\x01", "request byte 4: wire type does not fit"},
		{"sample as varint", "\x22\x00\x2a\x02\x10\x01", "request byte 4: wire type does not fit"},
		{"a group", "\x22\x00\x3b\x3c", "request byte 2: groups are not supported"},
		{"field 0", "\x02\x00", "request byte 0: field number 0"},
	} {
		d := Decoder{Times: []int64{1}, Values: []float64{1}, NumSeries: 1}
		err := d.Scan([]byte(c.b))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		if d.NumSeries != 0 || len(d.Times) != 0 || len(d.Values) != 0 {
			t.Errorf("%s: the decoder still holds %d series", c.name, d.NumSeries)
		}
	}
}

// TestEveryCutIsSeen cuts a request at every byte: it is an error, or a whole number of
// leading fields.
func TestEveryCutIsSeen(t *testing.T) {
	b := NewTemplate(smallPage()).AppendAt(nil, now, []float64{1, 2, 3})
	var d Decoder
	for n := range b {
		cut := b[:n:n]
		var req writev2.Request
		ours, theirs := d.Scan(cut), req.Unmarshal(cut)
		if (ours == nil) != (theirs == nil) {
			t.Errorf("cut at %d: %v, generated decoder: %v", n, ours, theirs)
		}
		if ours == nil {
			requireEqual(t, &d, &req)
		}
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	series, values := nodePage(150)
	b := NewTemplate(series).AppendAt(nil, now, values)
	multi := generated(series, make([]int64, len(series)), values)
	multi.Timeseries[80].Samples = append(multi.Timeseries[80].Samples, writev2.Sample{Value: 1, Timestamp: now})
	b2 := marshal(t, multi)
	var d Decoder
	scan := func() {
		if d.Scan(b) != nil || d.Scan(b2) != nil {
			t.Fatal("scan failed")
		}
	}
	if n := testing.AllocsPerRun(100, scan); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// TestSeriesWithoutSamples: an index of length 0 is not the nil that says "one sample
// each".
func TestSeriesWithoutSamples(t *testing.T) {
	var d Decoder
	if err := d.Scan([]byte("\x22\x00\x22\x01a\x2a\x04\x0a\x02\x01\x01")); err != nil {
		t.Fatal(err)
	}
	if d.NumSeries != 1 || len(d.Values) != 0 || d.Series == nil {
		t.Fatalf("series %d, values %v, index %v", d.NumSeries, d.Values, d.Series)
	}
}
