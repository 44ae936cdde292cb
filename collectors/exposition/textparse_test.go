package exposition

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// stock reads a page with the parser of Prometheus. An error is the page's.
func stock(page []byte, format Format) (lines []line, err error) {
	contentType := "text/plain"
	if format == OpenMetrics {
		contentType = "application/openmetrics-text"
	}
	p, err := textparse.New(page, contentType, labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		return nil, err
	}
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		_, ms, value := p.Series()
		l := line{bits: math.Float64bits(value), ms: scrapeTime}
		if ms != nil {
			l.ms = *ms
		}
		var ls labels.Labels
		p.Labels(&ls)
		l.series = stockSeries(ls)
		lines = append(lines, l)
	}
}

func stockSeries(ls labels.Labels) string {
	name := ""
	var rest []string
	ls.Range(func(l labels.Label) {
		switch {
		case l.Name == "__name__":
			name = l.Value
		case l.Value != "":
			rest = append(rest, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
	})
	if len(rest) == 0 {
		return name
	}
	return name + "{" + strings.Join(rest, ",") + "}"
}

// ours reads a page with this package.
func ours(page []byte, format Format) ([]line, Stats) {
	var s Scanner
	lines := read(&s, page, format)
	return lines, s.Stats()
}

// difference says how two readings differ. The stock parser cuts OpenMetrics timestamps
// to whole milliseconds where this package rounds, and it writes the le and quantile
// labels of classic histograms and summaries as floats.
func difference(got, want []line) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d samples, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if d := g.ms - w.ms; d > 1 || d < -1 {
			return fmt.Sprintf("sample %d at %d, want %d", i, g.ms, w.ms)
		}
		if g.bits != w.bits || floatLabels(g.series) != w.series {
			return fmt.Sprintf("sample %d is %s %x, want %s %x", i, g.series, g.bits, w.series, w.bits)
		}
	}
	return ""
}

func floatLabels(series string) string {
	for _, name := range []string{`{le="`, `{quantile="`} {
		if i := strings.Index(series, name); i >= 0 {
			value, rest, _ := strings.Cut(series[i+len(name):], `"`)
			if f, err := strconv.ParseFloat(value, 64); err == nil && f == math.Trunc(f) && !math.IsInf(f, 0) {
				return series[:i+len(name)] + strconv.FormatFloat(f, 'f', 1, 64) + `"` + rest
			}
		}
	}
	return series
}

var validPages = map[string]Format{
	"node.prom": Text, "numbers.prom": Text, "names.prom": Text, "history.prom": Text, "counters.om": OpenMetrics,
}

func TestValidPagesReadAsInPrometheus(t *testing.T) {
	for file, format := range validPages {
		page := testdata(t, file)
		want, err := stock(page, format)
		if err != nil {
			t.Fatalf("%s: stock parser: %v", file, err)
		}
		got, stats := ours(page, format)
		if stats.Partial() || len(got) == 0 {
			t.Errorf("%s: %+v", file, stats)
		}
		if d := difference(got, want); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

// TestGeneratedPagesReadAsInPrometheus writes random pages with every valid feature.
func TestGeneratedPagesReadAsInPrometheus(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		for _, format := range []Format{Text, OpenMetrics} {
			page := randomPage(r, format)
			want, err := stock(page, format)
			if err != nil {
				t.Fatalf("stock parser: %v\n%s", err, page)
			}
			got, stats := ours(page, format)
			if stats.Partial() {
				t.Fatalf("%+v\n%s", stats, page)
			}
			if d := difference(got, want); d != "" {
				t.Fatalf("%s\n%s", d, page)
			}
		}
	}
}

func randomPage(r *rand.Rand, format Format) []byte {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	for family := range r.IntN(8) {
		name := fmt.Sprintf("%s_%d", pick("a", "node:x", "_z9", "Queue"), family)
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, pick("", "some text", `a \\ b\n`), name, pick("gauge", "unknown"))
		for i := range r.IntN(6) {
			b.WriteString(name)
			if r.IntN(4) > 0 {
				fmt.Fprintf(&b, `{i="%d"`, i)
				for k := range r.IntN(4) {
					fmt.Fprintf(&b, `,l%d="%s"`, k, pick("", "v", "}", "{ # }", `\"`, `\\`, `a\nb`, "北", "  ", "=,"))
				}
				b.WriteString(pick("}", ",}"))
			}
			value := pick("0", "NaN", "+Inf", "-Inf", strconv.FormatFloat(r.NormFloat64()*math.Pow(10, float64(r.IntN(40)-20)), 'g', r.IntN(19)-1, 64))
			fmt.Fprintf(&b, " %s", value)
			if r.IntN(3) == 0 {
				ms := 1_700_000_000_000 + r.Int64N(1e11)
				if format == OpenMetrics {
					fmt.Fprintf(&b, " %.3f", float64(ms)/1000)
				} else {
					fmt.Fprintf(&b, " %d", ms)
				}
			}
			b.WriteByte('\n')
		}
	}
	page := strings.ReplaceAll(b.String(), "unknown", map[Format]string{Text: "untyped", OpenMetrics: "unknown"}[format])
	if format == OpenMetrics {
		page += "# EOF\n"
	}
	return []byte(page)
}
