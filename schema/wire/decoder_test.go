package wire

import (
	"math"
	"math/rand/v2"
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
	ts := make([]int64, 20)
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

// TestOtherEncoders has what protobuf allows and the two encoders here never write.
func TestOtherEncoders(t *testing.T) {
	symbols := "\x22\x00\x22\x01a\x22\x01b"
	sample := "\x12\x0b\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x05"
	for name, b := range map[string]string{
		"references one by one":      symbols + "\x2a\x11\x08\x01\x08\x02" + sample,
		"references in two lists":    symbols + "\x2a\x13\x0a\x01\x01\x0a\x01\x02" + sample,
		"symbols behind the series":  "\x2a\x11\x0a\x02\x01\x02" + sample + symbols,
		"symbols in two runs":        "\x22\x00\x22\x01a" + "\x2a\x11\x0a\x02\x01\x02" + sample + "\x22\x01b",
		"sample before references":   symbols + "\x2a\x11" + sample + "\x0a\x02\x01\x02",
		"unknown fields":             symbols + "\x2a\x1b" + sample + "\x0a\x02\x01\x02" + "\x38\x07\x42\x01x\x4d1234" + "\xf8\x01\x05",
		"timestamp before the value": symbols + "\x2a\x11\x0a\x02\x01\x02\x12\x0b\x10\x05\x09\x00\x00\x00\x00\x00\x00\xf0\x3f",
		"a tag of two bytes":         symbols + "\x2a\x12\x0a\x02\x01\x02\x92\x00" + sample[1:],
		"a long length":              symbols + "\x2a\x91\x00\x0a\x02\x01\x02" + sample,
		"metadata in two parts":      symbols + "\x2a\x19\x0a\x02\x01\x02" + sample + "\x2a\x02\x08\x01\x2a\x02\x18\x02",
	} {
		var d Decoder
		if err := d.Scan([]byte(b)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if refused := requireEqual(t, &d, unmarshal(t, []byte(b))); refused != 0 {
			t.Errorf("%s: refused", name)
		}
		if len(d.Values) != 1 || d.Values[0] != 1 || d.Times[0] != 5 {
			t.Errorf("%s: values %v at %v", name, d.Values, d.Times)
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
