package exposition

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sextant/schema/wire"
)

// scrapeTime stands for the time of samples that have none of their own.
const scrapeTime = 1_767_225_605_000

// line is one sample of a page.
type line struct {
	series string // canonical
	bits   uint64 // of the value
	ms     int64
}

// String is `name{label="value"} value@ms`, without @ms at scrapeTime.
func (l line) String() string {
	text := fmt.Sprintf("%s %v", l.series, math.Float64frombits(l.bits))
	if l.ms != scrapeTime {
		text += fmt.Sprintf("@%d", l.ms)
	}
	return text
}

// read reads a page with s, labels and all.
func read(s *Scanner, page []byte, format Format) (lines []line) {
	for s.Reset(page, format); s.Next(); {
		labels, err := ParseSeries(s.Series())
		if err != nil {
			s.Reject(err)
			continue
		}
		l := line{canonical(labels), math.Float64bits(s.Value()), scrapeTime}
		if ms, ok := s.Time(); ok {
			l.ms = ms
		}
		lines = append(lines, l)
	}
	return lines
}

func texts(lines []line) (all []string) {
	for _, l := range lines {
		all = append(all, l.String())
	}
	return all
}

// canonical writes labels in one way: sorted, the name in front.
func canonical(labels []wire.Label) string {
	var name string
	var rest []string
	for _, l := range labels {
		if l.Name == "__name__" {
			name = l.Value
		} else {
			rest = append(rest, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
	}
	if len(rest) == 0 {
		return name
	}
	return name + "{" + strings.Join(rest, ",") + "}"
}

func testdata(t testing.TB, file string) []byte {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestBrokenPage: an unescaped quote, a second TYPE line, a space behind a value and a cut
// end, all on one page. Each costs itself. The series with two values shows up twice.
func TestBrokenPage(t *testing.T) {
	var s Scanner
	for round := range 2 { // the page before must not show
		got := texts(read(&s, testdata(t, "broken.prom"), Text))
		want := []string{
			`DCGM_FI_DEV_GPU_TEMP{gpu="0",hostname="rack9-a"} 41`,
			`DCGM_FI_DEV_GPU_TEMP{gpu="1",hostname="rack9-a"} NaN`,
			`DCGM_FI_DEV_GPU_UTIL{gpu="1",hostname="rack9-a"} 60`,
			`DCGM_FI_DEV_NVSWITCH_TEMP_CELSIUS{hostname="rack9-a",nvswitch="nvswitch0"} 40`,
			`DCGM_FI_DEV_NVSWITCH_TEMP_CELSIUS{hostname="rack9-a",nvswitch="nvswitch0"} 39`,
			`DCGM_FI_DEV_GPU_TEMP{gpu="2",hostname="rack9-a"} 43`,
			`DCGM_FI_DEV_FB_USED{gpu="0",hostname="rack9-a"} 70123`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("round %d: read\n%s\nwant\n%s", round, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		stats := s.Stats()
		if stats.BadLines != 1 || !stats.Truncated || !stats.Partial() || stats.Samples != 7 || stats.Lines != 14 {
			t.Errorf("round %d: %+v", round, stats)
		}
		if got := stats.FirstBad.String(); !strings.HasPrefix(got, `line 5: column 62: want , or }: "DCGM_FI_DEV_GPU_UTIL{gpu=`) {
			t.Errorf("round %d: %s", round, got)
		}
	}
}

func TestNaNHasPlainBits(t *testing.T) {
	var s Scanner
	for _, l := range read(&s, []byte("a NaN\na nan\na +NaN\n"), Text) {
		if l.bits != 0x7ff8000000000001 {
			t.Errorf("NaN has bits %x", l.bits)
		}
	}
	if s.Stats().Samples != 2 { // +NaN is no number to strconv
		t.Errorf("%+v", s.Stats())
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, page string
		want       string // samples, separated by |
		bad        string // part of the first bad line's text
		badLines   int
		truncated  bool
	}{
		{name: "empty"},
		{name: "only a comment", page: "# x\n"},
		{name: "blank lines", page: "\n \t\n\r\na 1\n\n", want: "a 1"},
		{name: "CRLF", page: "# TYPE a gauge\r\na 1\r\nb{x=\"1\"} 2 5\r\n", want: `a 1|b{x="1"} 2@5`},
		{name: "blanks at both ends", page: "  a 1  \n\tb\t2\t\n", want: "a 1|b 2"},
		{name: "no blank before the value", page: "a{x=\"1\"}2\n", want: `a{x="1"} 2`},
		{name: "braces without labels", page: "a{} 1\n", want: "a 1"},
		{name: "empty label", page: "a{x=\"\",y=\"1\"} 1\n", want: `a{y="1"} 1`},
		{name: "unknown escape", page: `a{x="\d"} 1` + "\n", want: `a{x="\\d"} 1`},
		{name: "cut in the value", page: "a 1\nb 70", want: "a 1", truncated: true},
		{name: "cut in the labels", page: "a 1\nb{x=\"", want: "a 1", truncated: true},
		{name: "cut in a comment", page: "a 1\n# TY", want: "a 1", truncated: true},
		{name: "blanks at the end are no cut", page: "a 1\n  ", want: "a 1"},
		{name: "no value", page: "a\nb 1\n", want: "b 1", bad: "line 1: no value", badLines: 1},
		{name: "no value behind labels", page: "a{x=\"1\"}\nb 1\n", want: "b 1", bad: "line 1: no value", badLines: 1},
		{name: "a word as value", page: "b 1\na x\n", want: "b 1", bad: `line 2: value "x" is not`, badLines: 1},
		{name: "too large", page: "a 1e400\n", bad: `value "1e400"`, badLines: 1},
		{name: "hexadecimal", page: "a 0x10\na 1_000\n", bad: `value "0x10"`, badLines: 2},
		{name: "bad timestamp", page: "a 1 12.5\n", bad: `timestamp "12.5"`, badLines: 1},
		{name: "text behind", page: "a 1 2 3\n", bad: "text behind the timestamp", badLines: 1},
		{name: "exemplar in a text page", page: `a{x="1"} 1 # {t="1"} 2` + "\n", bad: "text behind the labels", badLines: 1},
		{name: "unquoted value", page: "a{x=1} 1\n", bad: "column 5: want a quote", badLines: 1},
		{name: "no closing quote", page: "a{x=\"1} 1\nb 1\n", want: "b 1", bad: "no closing quote", badLines: 1},
		{name: "no closing brace", page: "a{x=\"1\" 1\nb 1\n", want: "b 1", bad: "column 8: want , or }", badLines: 1},
		{name: "escape at the end", page: "a{x=\"1\\} 1\n", bad: "no closing quote", badLines: 1},
		{name: "label twice", page: "a{x=\"1\",x=\"2\"} 1\n", bad: `label name "x" is given twice`, badLines: 1},
		{name: "two names", page: "a{\"b\"} 1\n", bad: "a second metric name", badLines: 1},
		{name: "name as a label", page: "a{__name__=\"b\"} 1\n", bad: `"__name__" is given twice`, badLines: 1},
		{name: "no name", page: "{x=\"1\"} 1\n{} 1\n 5\n", bad: "no metric name", badLines: 3},
		{name: "dotted name", page: "a.b 1\n", bad: "column 2: want {", badLines: 1},
		{name: "a digit first", page: "1a 1\na{1=\"x\"} 1\n", bad: "no metric name", badLines: 2},
		{name: "colon in a label name", page: "a:b 1\na{x:y=\"1\"} 1\n", want: "a:b 1", bad: "want = behind", badLines: 1},
		{name: "invalid UTF-8", page: "a{x=\"\xff\"} 1\nb 1\n", want: "b 1", bad: "invalid UTF-8", badLines: 1},
		{name: "a zero byte", page: "a\x00b 1\nb 1\n", want: "b 1", bad: "want {", badLines: 1},
		{name: "HTML", page: "<html>\n<body class=\"x\">\n</html>\n", bad: `"<html>"`, badLines: 3},
		{name: "second HELP and TYPE", page: "# HELP a x\n# TYPE a gauge\na 1\n# HELP a y\n# TYPE a counter\nb 2\n", want: "a 1|b 2"},
		{name: "EOF in a text page", page: "a 1\n# EOF\nb 2\n", want: "a 1|b 2"},
	} {
		checkPage(t, c.name, c.page, Text, c.want, c.bad, c.badLines, c.truncated)
	}
}

func TestOpenMetricsLines(t *testing.T) {
	for _, c := range []struct {
		name, page string
		want       string
		bad        string
		badLines   int
		truncated  bool
	}{
		{name: "empty", truncated: true},
		{name: "seconds", page: "a 1 1767225600.841\n# EOF\n", want: "a 1@1767225600841"},
		{name: "no newline behind EOF", page: "a 1\n# EOF", want: "a 1"},
		{name: "no EOF", page: "a 1\n", want: "a 1", truncated: true},
		{name: "cut EOF", page: "a 1\n# EO", want: "a 1", truncated: true},
		{name: "text behind EOF", page: "a 1\n# EOF\nb 2\n", want: "a 1", bad: "line 3: text behind # EOF", badLines: 1},
		{name: "CRLF", page: "a 1\r\n# EOF\r\n", want: "a 1"},
		{name: "exemplar", page: "a{x=\"1\"} 1 # {t=\"} # {\"} 2 3\n# EOF\n", want: `a{x="1"} 1`},
		{name: "exemplar without labels", page: "a 1 # {} 2\n# EOF\n", want: "a 1"},
		{name: "exemplar behind a timestamp", page: "a 1 2 # {t=\"x\"} 2\n# EOF\n", want: "a 1@2000"},
		{name: "hash in a label", page: "a{x=\" # {\"} 1\n# EOF\n", want: `a{x=" # {"} 1`},
		{name: "hash and exemplar", page: "a{x=\"\\\" # }\"} 1 # {t=\"x\"} 2\n# EOF\n", want: `a{x="\" # }"} 1`},
		{name: "hash in broken labels", page: "a{x=\"# \"1\"} 1\n# EOF\n", bad: "want , or }", badLines: 1},
		{name: "NaN as time", page: "a 1 NaN\n# EOF\n", bad: `timestamp "NaN"`, badLines: 1},
	} {
		checkPage(t, c.name, c.page, OpenMetrics, c.want, c.bad, c.badLines, c.truncated)
	}
}

func checkPage(t *testing.T, name, page string, format Format, want, bad string, badLines int, truncated bool) {
	t.Helper()
	var s Scanner
	lines := read(&s, []byte(page), format)
	stats := s.Stats()
	if got := strings.Join(texts(lines), "|"); got != want {
		t.Errorf("%s: samples %s, want %s", name, got, want)
	}
	if stats.BadLines != badLines || stats.Truncated != truncated || stats.Samples != len(lines) {
		t.Errorf("%s: %+v, want %d bad lines, truncated %v", name, stats, badLines, truncated)
	}
	if stats.Partial() != (badLines > 0 || truncated) {
		t.Errorf("%s: partial is %v", name, stats.Partial())
	}
	if got := fmt.Sprint(stats.FirstBad); badLines > 0 && !strings.Contains(got, bad) {
		t.Errorf("%s: bad %s, want %s", name, got, bad)
	}
}

func TestNames(t *testing.T) {
	var s Scanner
	got := texts(read(&s, testdata(t, "names.prom"), Text))
	want := []string{`hw.gpu.utilization{hw.id="gpu-0"} 0.5`, `hw.gpu.utilization 0.75`, `hw_gpu_utilization{hw_id="gpu-0",site="Zürich – 北"} 0.5`}
	if !slices.Equal(got, want) || s.Stats().BadLines != 0 {
		t.Fatalf("kept %q, %+v", got, s.Stats())
	}
}

func TestTooManyLabels(t *testing.T) {
	var page strings.Builder
	page.WriteString("wide{")
	for i := range 1000 {
		fmt.Fprintf(&page, "l%d=\"v\",", i)
	}
	page.WriteString("} 1\nup 1\n")
	checkPage(t, "1,000 labels", page.String(), Text, "up 1", "1001 labels per series, at most 128", 1, false)
}

func TestBadLineTextIsClipped(t *testing.T) {
	var s Scanner
	read(&s, []byte("a{x=\""+strings.Repeat("\xffé", 1000)+"\"} 1\n"), Text)
	text := s.Stats().FirstBad.Text
	if len(text) > 400 || !utf8.ValidString(text) || !strings.HasSuffix(text, "…") {
		t.Fatalf("%d bytes: %q", len(text), text)
	}
}

func TestFormatOf(t *testing.T) {
	for contentType, want := range map[string]Format{
		"": Text, "text/plain": Text, "text/plain; version=0.0.4; charset=utf-8": Text, "text/plain;version=1.0.0;escaping=allow-utf-8": Text,
		"application/openmetrics-text; version=1.0.0; charset=utf-8": OpenMetrics,
	} {
		if got, err := FormatOf(contentType); err != nil || got != want {
			t.Errorf("%q: %v, error %v", contentType, got, err)
		}
	}
	for _, contentType := range []string{"text/html", "application/json", "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily", "/", strings.Repeat("x", 1000)} {
		if _, err := FormatOf(contentType); err == nil || !strings.HasPrefix(err.Error(), "content type ") || len(err.Error()) > 300 {
			t.Errorf("%q: error %v", contentType, err)
		}
	}
}
