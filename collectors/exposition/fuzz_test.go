package exposition

import (
	"bytes"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"
)

// stockQuirk finds what the stock parser reads in its own way: it ends a page at a zero
// byte, takes blanks in front of a line into the name, lets a quote in a comment swallow
// the lines that follow, and rewrites the bounds of buckets and quantiles.
var stockQuirk = regexp.MustCompile(`(?m)\x00|^[ \t]|^#.*"|histogram|summary`)

// FuzzScanner reads any page. What Prometheus' parser and this package both take without
// a complaint must be equal. And lines are independent: a bad line in front of the page
// costs one bad line and changes nothing else.
func FuzzScanner(f *testing.F) {
	for file, format := range validPages {
		f.Add(testdata(f, file), format == OpenMetrics)
	}
	f.Add(testdata(f, "broken.prom"), false)
	f.Add([]byte("a{x=\"\\\n\"} 1\n"), false)
	f.Add([]byte("a 1\r\n\r# EOF"), true)
	f.Fuzz(func(t *testing.T, page []byte, om bool) {
		format := Text
		if om {
			format = OpenMetrics
		}
		got, stats := ours(page, format)
		if stats.Samples != len(got) || stats.Samples+stats.BadLines > stats.Lines || stats.Lines > len(page) {
			t.Fatalf("%d samples read, %+v", len(got), stats)
		}
		if bad := stats.FirstBad; (bad.Reason != nil) != (stats.BadLines > 0) || !utf8.ValidString(bad.Text) {
			t.Fatalf("%+v", stats)
		}
		for _, l := range got {
			if isNaN := l.bits&^(1<<63) > 0x7ff<<52; isNaN && l.bits != 0x7ff8000000000001 {
				t.Fatalf("NaN with bits %x", l.bits)
			}
		}
		worse, more := ours(append([]byte("a{b=\"c\"d\"} 5\n"), page...), format)
		if !slices.Equal(got, worse) || more.BadLines != stats.BadLines+1 || more.Truncated != stats.Truncated {
			t.Fatalf("a bad line in front: %d samples, not %d; %+v, before %+v", len(worse), len(got), more, stats)
		}
		if stats.Partial() || stockQuirk.Match(page) {
			return
		}
		if want, err := stock(page, format); err == nil {
			if d := difference(got, want); d != "" {
				t.Fatal(d)
			}
		}
	})
}

// FuzzParseSeries wants that what is accepted can be written in the plain form, and
// reads the same again.
func FuzzParseSeries(f *testing.F) {
	for _, text := range []string{`up`, `a{b="c",d="e\n\"\\"}`, `{"hw.x","y.z"="1"}`, `a{}`, `a { b = "c" , }`, "a{\xff}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		labels, err := ParseSeries(raw)
		if err != nil {
			return
		}
		text := "{"
		for _, l := range labels {
			if l.Name == "__name__" {
				text += quote(l.Value) + ","
			} else {
				text += quote(l.Name) + "=" + quote(l.Value) + ","
			}
		}
		again, err := ParseSeries([]byte(text + "}"))
		if err != nil || !slices.Equal(labels, again) {
			t.Fatalf("%q reads as %q, written again as %q: %q, error %v", raw, labels, text, again, err)
		}
	})
}

func quote(text string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; c {
		case '\n':
			b.WriteString(`\n`)
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
