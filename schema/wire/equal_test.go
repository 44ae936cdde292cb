package wire

import (
	"math"
	"testing"

	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
)

// requireEqual compares what d scanned with what the generated decoder read from the
// same bytes: samples, labels and metadata of every series. Series whose labels d
// refuses are compared in their samples only, and returned.
func requireEqual(t *testing.T, d *Decoder, req *writev2.Request) (refused int) {
	t.Helper()
	if d.NumSeries != len(req.Timeseries) {
		t.Fatalf("%d series, want %d", d.NumSeries, len(req.Timeseries))
	}
	if len(d.Times) != len(d.Values) || d.Series != nil && len(d.Series) != len(d.Values) {
		t.Fatalf("columns differ: %d times, %d values, %d series", len(d.Times), len(d.Values), len(d.Series))
	}
	k, histograms, exemplars := 0, 0, 0
	for i, ts := range req.Timeseries {
		for _, s := range ts.Samples {
			if owner(d, k) != i {
				t.Fatalf("sample %d belongs to series %d, want %d", k, owner(d, k), i)
			}
			if d.Times[k] != s.Timestamp || math.Float64bits(d.Values[k]) != math.Float64bits(s.Value) {
				t.Fatalf("sample %d is %x at %d, want %x at %d", k,
					math.Float64bits(d.Values[k]), d.Times[k], math.Float64bits(s.Value), s.Timestamp)
			}
			k++
		}
		histograms += len(ts.Histograms)
		exemplars += len(ts.Exemplars)
		if !equalSeries(t, d, i, req) {
			refused++
		}
	}
	if k != len(d.Values) || histograms != d.Histograms || exemplars != d.Exemplars {
		t.Fatalf("%d samples, %d histograms, %d exemplars, want %d, %d, %d",
			len(d.Values), d.Histograms, d.Exemplars, k, histograms, exemplars)
	}
	return refused
}

func owner(d *Decoder, sample int) int {
	if d.Series == nil {
		return sample
	}
	return int(d.Series[sample])
}

func equalSeries(t *testing.T, d *Decoder, i int, req *writev2.Request) (accepted bool) {
	t.Helper()
	var got []Label
	err := d.Labels(i, func(name, value []byte) bool {
		got = append(got, Label{string(name), string(value)})
		return true
	})
	if err != nil {
		return false
	}
	ts, n := &req.Timeseries[i], 0
	for k := 0; k+1 < len(ts.LabelsRefs); k += 2 {
		want := Label{req.Symbols[ts.LabelsRefs[k]], req.Symbols[ts.LabelsRefs[k+1]]}
		if want.Value == "" {
			continue
		}
		if n >= len(got) || got[n] != want {
			t.Fatalf("series %d has labels %q, want %q at %d", i, got, want, n)
		}
		n++
	}
	if n != len(got) {
		t.Fatalf("series %d has labels %q, want %d of them", i, got, n)
	}
	m := ts.Metadata
	typ, unit, help := d.Meta(i)
	if m.Type <= writev2.Metadata_METRIC_TYPE_STATESET && int(typ) != int(m.Type) {
		t.Fatalf("series %d has type %d, want %d", i, typ, m.Type)
	}
	if int(m.UnitRef) < len(req.Symbols) && int(m.HelpRef) < len(req.Symbols) &&
		(unit != req.Symbols[m.UnitRef] && unit != "" || help != req.Symbols[m.HelpRef] && help != "") {
		t.Fatalf("series %d has unit %q and help %q, want %q and %q", i, unit, help, req.Symbols[m.UnitRef], req.Symbols[m.HelpRef])
	}
	return true
}
