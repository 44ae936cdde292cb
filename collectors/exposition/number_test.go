package exposition

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestParseFloat(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "-0": math.Copysign(0, -1), "1": 1, "+1": 1, "-1.5": -1.5, "1.": 1, ".5": 0.5,
		"417605.1": 417605.1, "1.081101590528e+12": 1.081101590528e12, "1.7672256051234e+09": 1767225605.1234,
		"9007199254740991": 1<<53 - 1, "9007199254740993": 1 << 53, "9223372036854775792": 1 << 63, "9223372036854775795": 1 << 63,
		"1e22": 1e22, "1e23": 1e23, "1e-22": 1e-22, "1e-23": 1e-23, "123456789012345678901234567890": 123456789012345678901234567890,
		"18446744073709551617": 18446744073709551617, "0.30000000000000004": 0.30000000000000004, "1e308": 1e308, "5e-324": 5e-324, "1e-400": 0, "0e999": 0, "00012": 12,
		"+Inf": math.Inf(1), "-Inf": math.Inf(-1), "inf": math.Inf(1), "Infinity": math.Inf(1), "NaN": math.NaN(), "nan": math.NaN(), "Nan": math.NaN(),
	} {
		got, err := parseFloat([]byte(text))
		if err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%s: %v (%x), error %v", text, got, math.Float64bits(got), err)
		}
	}
	if got, _ := parseFloat([]byte("NaN")); math.Float64bits(got) != 0x7ff8000000000001 {
		t.Errorf("NaN has bits %x", math.Float64bits(got))
	}
	for _, text := range []string{"", "-", "+", ".", "e5", "1e", "1e+", "1e1e1", "1_000", "0x10", "0x1p4", "1e400", "-1e400", "1,5", "1 ", "--1", "١", strings.Repeat("z", 500)} {
		if got, err := parseFloat([]byte(text)); err == nil || len(err.Error()) > 200 {
			t.Errorf("%q: %v, error %v", text, got, err)
		}
	}
}

func TestParseTime(t *testing.T) {
	for _, c := range []struct {
		text   string
		format Format
		want   int64
	}{
		{"1767225600841", Text, 1767225600841}, {"1606402000", Text, 1606402000}, {"-1", Text, -1}, {"0", Text, 0},
		{"1767225600.5", OpenMetrics, 1767225600500}, {"1767225599.9", OpenMetrics, 1767225599900},
		{"1767225600", OpenMetrics, 1767225600000}, {"-0.001", OpenMetrics, -1}, {"1.7672256e9", OpenMetrics, 1767225600000},
	} {
		if got, err := parseTime([]byte(c.text), c.format); err != nil || got != c.want {
			t.Errorf("%s: %d, error %v", c.text, got, err)
		}
	}
	for _, c := range []struct {
		text   string
		format Format
	}{
		{"1767225600.5", Text}, {"1e3", Text}, {"99999999999999999999", Text}, {"x", Text},
		{"NaN", OpenMetrics}, {"+Inf", OpenMetrics}, {"1e300", OpenMetrics}, {"9.3e15", OpenMetrics}, {"x", OpenMetrics},
	} {
		if got, err := parseTime([]byte(c.text), c.format); err == nil {
			t.Errorf("%s: %d, want an error", c.text, got)
		}
	}
}

// FuzzParseFloat wants the bits of strconv.ParseFloat for every text that both take, and
// the same texts taken but for hexadecimal numbers and underscores.
func FuzzParseFloat(f *testing.F) {
	for _, text := range []string{"0", "-1.5", "417605.1", "1.081101590528e+12", "9007199254740993", "1e22", "1e-23", "NaN", "+Inf", "0x1p4", "1_0", "1e400"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseFloat([]byte(text))
		want, wantErr := strconv.ParseFloat(text, 64)
		if strings.ContainsAny(text, "pP_xX") {
			if err == nil {
				t.Fatalf("%q is taken as %v", text, got)
			}
			return
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: error %v, strconv: %v", text, err, wantErr)
		}
		if err == nil && math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q: %v, strconv: %v", text, got, want)
		}
	})
}

// FuzzDecimal drives the short way with numbers as exporters print them.
func FuzzDecimal(f *testing.F) {
	f.Add(uint64(4176051), -1)
	f.Add(uint64(1081101590528), 3)
	f.Fuzz(func(t *testing.T, bits uint64, precision int) {
		v := math.Float64frombits(bits)
		if v != v || precision < -1 || precision > 30 {
			return
		}
		for _, format := range []byte("efg") {
			text := strconv.FormatFloat(v, format, precision, 64)
			got, err := parseFloat([]byte(text))
			want, wantErr := strconv.ParseFloat(text, 64)
			if (err == nil) != (wantErr == nil) || err == nil && math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s: %v, strconv: %v", text, got, want)
			}
		}
	})
}
