package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
)

// scanSymbols scans a request of one series with the given references into symbols.
func scanSymbols(t *testing.T, symbols []string, refs ...uint32) *Decoder {
	t.Helper()
	var d Decoder
	if err := d.Scan(marshal(t, &writev2.Request{
		Symbols:    symbols,
		Timeseries: []writev2.TimeSeries{{LabelsRefs: refs, Samples: []writev2.Sample{{Value: 1}}}},
	})); err != nil {
		t.Fatal(err)
	}
	return &d
}

func readLabels(d *Decoder, i int) (labels []Label, err error) {
	err = d.Labels(i, func(name, value []byte) bool {
		labels = append(labels, Label{string(name), string(value)})
		return true
	})
	return labels, err
}

func TestLabels(t *testing.T) {
	d := scanSymbols(t, []string{"", "__name__", "up", "job", "node", "zone"}, 1, 2, 3, 4, 5, 0)
	got, err := readLabels(d, 0)
	if want := []Label{{"__name__", "up"}, {"job", "node"}}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("labels %q, error %v; the empty zone must be left out", got, err)
	}
	calls := 0
	if err := d.Labels(0, func(_, _ []byte) bool { calls++; return false }); err != nil || calls != 1 {
		t.Fatalf("%d calls, error %v: yield said stop", calls, err)
	}
}

func TestLabelFaults(t *testing.T) {
	long := strings.Repeat("x", MaxLabelValue+1)
	for _, c := range []struct {
		name    string
		symbols []string
		refs    []uint32
		want    string
	}{
		{"out of range", []string{"", "a"}, []uint32{1, 2}, "series 0: request byte 7: reference 2, but there are 2 symbols"},
		{"odd", []string{"", "a"}, []uint32{1}, "series 0: request byte 7: 1 label references, want pairs"},
		{"empty name", []string{"", "a"}, []uint32{0, 1}, "series 0: a label has an empty name"},
		{"twice", []string{"", "a", "b"}, []uint32{1, 2, 1, 2}, `series 0: label name "a" is given twice`},
		{"order", []string{"", "a", "b"}, []uint32{2, 1, 1, 1}, `series 0: label name "a" follows "b"`},
		{"UTF-8", []string{"", "a", "\xff"}, []uint32{1, 2}, `series 0: label "a": invalid UTF-8`},
		{"long name", []string{"", long[:MaxLabelName+1], "b"}, []uint32{1, 2}, "series 0: 1025 bytes per label name, at most 1024"},
		{"long value", []string{"", "a", long}, []uint32{1, 2}, "series 0: 16385 bytes per label value, at most 16384"},
	} {
		_, err := readLabels(scanSymbols(t, c.symbols, c.refs...), 0)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

// TestThousandLabels: a series beyond the limit costs itself, not its request.
func TestThousandLabels(t *testing.T) {
	many := SeriesDef{}
	for i := range 1000 {
		many.Labels = append(many.Labels, Label{fmt.Sprintf("l%04d", i), "v"})
	}
	var limit *LimitError
	if err := CheckLabels(many.Labels); !errors.As(err, &limit) || limit.Limit != LimitLabels || limit.Got != 1000 {
		t.Fatalf("CheckLabels: %v", err)
	}
	var d Decoder
	if err := d.Scan(NewTemplate([]SeriesDef{many, smallPage()[2]}).AppendAt(nil, now, []float64{1, 2})); err != nil {
		t.Fatal(err)
	}
	if _, err := readLabels(&d, 0); !errors.As(err, &limit) || limit.Limit != LimitLabels {
		t.Fatalf("series of 1,000 labels: %v", err)
	}
	if got, err := readLabels(&d, 1); err != nil || len(got) != 2 {
		t.Fatalf("its neighbour: %q, %v", got, err)
	}
}

func TestCheckLabels(t *testing.T) {
	if err := CheckLabels(smallPage()[1].Labels); err != nil {
		t.Fatal(err)
	}
	for want, labels := range map[string][]Label{
		"empty name":     {{"", "x"}},
		"is given twice": {{"a", "x"}, {"a", "y"}},
		"must ascend":    {{"b", "x"}, {"a", "y"}},
		"label name":     {{strings.Repeat("n", MaxLabelName+1), "x"}},
		"label value":    {{"n", strings.Repeat("n", MaxLabelValue+1)}},
	} {
		if err := CheckLabels(labels); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestRequestLimits(t *testing.T) {
	for limit, b := range map[Limit][]byte{
		LimitRequest: make([]byte, MaxRequest+1),
		LimitSymbols: []byte(strings.Repeat("\x22\x00", MaxSymbols+1)),
		LimitSeries:  []byte("\x22\x00" + strings.Repeat("\x2a\x00", MaxSeries+1)),
		LimitSamples: manySamples(MaxSamples + 1),
	} {
		var d Decoder
		var got *LimitError
		if err := d.Scan(b); !errors.As(err, &got) || got.Limit != limit || got.Got != got.Max+1 {
			t.Errorf("%s: error %v", limit, err)
		}
	}
	for name, b := range map[string][]byte{
		"symbols": []byte(strings.Repeat("\x22\x00", MaxSymbols)),
		"series":  []byte("\x22\x00" + strings.Repeat("\x2a\x00", MaxSeries)),
		"samples": manySamples(MaxSamples),
	} {
		var d Decoder
		if err := d.Scan(b); err != nil {
			t.Errorf("%s at the limit: %v", name, err)
		}
	}
}

// manySamples is one series of n empty samples.
func manySamples(n int) []byte {
	b := append([]byte("\x22\x00"), tagTimeSeries)
	b = appendUvarint(b, uint64(2*n))
	return append(b, strings.Repeat("\x12\x00", n)...)
}

func TestMetaOfBadReferencesIsEmpty(t *testing.T) {
	var d Decoder
	if err := d.Scan(marshal(t, &writev2.Request{
		Symbols: []string{"", "\xff", "bytes"},
		Timeseries: []writev2.TimeSeries{
			{Metadata: writev2.Metadata{Type: 99, HelpRef: 1, UnitRef: 2}},
			{Metadata: writev2.Metadata{Type: 1, HelpRef: 3, UnitRef: 2}},
		},
	})); err != nil {
		t.Fatal(err)
	}
	for i, want := range []MetricType{TypeUnknown, TypeCounter} {
		if typ, unit, help := d.Meta(i); typ != want || unit != "bytes" || help != "" {
			t.Errorf("series %d: type %d, unit %q, help %q", i, typ, unit, help)
		}
	}
}
