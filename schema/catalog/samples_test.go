package catalog

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"sextant/schema/wire"
)

var update = flag.Bool("update", false, "write the golden files")

// exposed is a line of a page.
type exposed struct {
	labels []wire.Label
	value  float64
}

// readPage reads a page line by line with the parser of Prometheus, as forgiving as a
// collector has to be: a line that it cannot read is left out, and so is a last line
// without its end, since its number may be cut.
func readPage(t *testing.T, page string) (out []exposed, bad int) {
	t.Helper()
	contentType, end := "text/plain", ""
	if strings.HasSuffix(page, "# EOF\n") {
		contentType, end = "application/openmetrics-text", "# EOF\n"
	}
	whole, _, _ := cutLast(page)
	for line := range strings.Lines(whole) {
		line = strings.TrimRight(line, " \r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		line, _, _ = strings.Cut(line, " # ") // an exemplar
		p, err := textparse.New([]byte(line+"\n"+end), contentType, labels.NewSymbolTable(), textparse.ParserOptions{})
		if err != nil {
			t.Fatal(err)
		}
		entry, err := p.Next()
		if err != nil && !errors.Is(err, io.EOF) || entry != textparse.EntrySeries {
			bad++
			continue
		}
		_, _, v := p.Series()
		var ls labels.Labels
		p.Labels(&ls)
		e := exposed{value: v}
		ls.Range(func(l labels.Label) { e.labels = append(e.labels, wire.Label{Name: l.Name, Value: l.Value}) })
		out = append(out, e)
	}
	return out, bad
}

// cutLast cuts a page after its last line end.
func cutLast(page string) (whole, rest string, cut bool) {
	i := strings.LastIndexByte(page, '\n') + 1
	return page[:i], page[i:], i < len(page)
}

// resolved writes what the catalogue makes of a page: canonical series and values, then
// the series that labels tell of, then the names that have no row.
func resolved(page []exposed) string {
	p := Default().NewPage()
	for _, e := range page {
		p.Add(e.labels)
	}
	all, infos := p.Resolve()
	var lines, rest []string
	for i, m := range all {
		line := seriesText(m.Name, m.Labels) + " " + valueText(m, page[i].value)
		switch {
		case m.Lead >= 0:
			line += fmt.Sprintf(" # same series as that of %s", valueText(all[m.Lead], page[m.Lead].value))
		case m.Outranked:
			line += " # outranked"
		case m.Weak:
			line += " # weak"
		}
		if m.Outcome != Mapped {
			rest = append(rest, line+" # "+m.Outcome.String())
			continue
		}
		lines = append(lines, line)
	}
	for _, s := range infos {
		lines = append(lines, seriesText(s.Name, s.Labels)+fmt.Sprintf(" 1 # told by %d", len(s.Of)))
	}
	slices.Sort(lines)
	slices.Sort(rest)
	return strings.Join(append(lines, rest...), "\n") + "\n"
}

func valueText(m Mapping, exposed float64) string {
	if m.Metric == nil {
		return strconv.FormatFloat(exposed, 'g', -1, 64)
	}
	v, reason := m.Metric.Normalize(exposed)
	if reason != Good {
		return reason.String()
	}
	return strconv.FormatFloat(v, 'g', 12, 64)
}

func seriesText(name string, ls []wire.Label) string {
	var b strings.Builder
	b.WriteString(name + "{")
	for i, l := range ls {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s=%q", l.Name, l.Value)
	}
	return b.String() + "}"
}

// TestSamples compares what each sample means with its golden file, which was checked
// against the vendors' units by hand. Write them anew with -update, and read the diff.
func TestSamples(t *testing.T) {
	names, err := filepath.Glob("testdata/samples/*.*")
	if err != nil {
		t.Fatal(err)
	}
	samples := 0
	for _, name := range names {
		if strings.HasSuffix(name, ".want") {
			continue
		}
		samples++
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			page, _ := readPage(t, string(text))
			golden(t, name+".want", resolved(page))
		})
	}
	if samples != 26 {
		t.Errorf("%d samples, want 26", samples)
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant, by %s:\n%s", got, file, want)
	}
}
