package exposition

import (
	"bytes"
	"strings"

	"sextant/schema/wire"
)

// Meta is what the TYPE, HELP and UNIT lines of a page say about a family. It is advice:
// whether a metric is a counter is for the catalogue to decide.
type Meta struct {
	Type wire.MetricType
	Unit string
	Help string
}

// Meta returns the metadata of the family that a series named name belongs to, by the
// lines of the page so far. The lines are only read by the first call on a page.
func (s *Scanner) Meta(name string) Meta { return s.meta.lookup(name) }

// metadata keeps where the metadata lines of a page stand, and reads them when somebody
// asks. Pages of a target whose series are all known never do, so between such pages
// there is nothing to keep but the places.
type metadata struct {
	page     []byte
	format   Format
	lines    []place
	read     int // lines that are in families
	families map[string]Meta
}

// place is a line of the page: page[start:end], with its line end.
type place struct{ start, end int32 }

func (m *metadata) reset(page []byte, format Format) {
	*m = metadata{page: page, format: format, lines: m.lines[:0]}
}

func (m *metadata) note(start, end int) {
	m.lines = append(m.lines, place{int32(start), int32(end)})
}

// isMeta tells a TYPE, HELP or UNIT line from a comment.
func isMeta(line []byte) bool {
	if len(line) > 7 && (string(line[1:7]) == " HELP " || string(line[1:7]) == " TYPE ") {
		return true // as everybody writes it
	}
	word, _ := field(line[1:])
	switch string(word) {
	case "TYPE", "HELP", "UNIT":
		return true
	}
	return false
}

func (m *metadata) lookup(name string) Meta {
	if m.families == nil {
		m.families = make(map[string]Meta)
	}
	for ; m.read < len(m.lines); m.read++ {
		at := m.lines[m.read]
		m.add(trim(bytes.TrimSuffix(m.page[at.start:at.end], []byte("\n"))))
	}
	if meta, ok := m.families[name]; ok {
		return meta
	}
	for _, suffix := range suffixes {
		family, ok := strings.CutSuffix(name, suffix.text)
		if !ok {
			continue
		}
		if meta, ok := m.families[family]; ok && suffix.of[meta.Type] {
			return meta
		}
	}
	return Meta{}
}

// suffixes are what the samples of a family may add to its name, by its type.
var suffixes = []struct {
	text string
	of   [wire.TypeStateSet + 1]bool
}{
	{"_bucket", types(wire.TypeHistogram, wire.TypeGaugeHistogram)},
	{"_sum", types(wire.TypeHistogram, wire.TypeSummary)},
	{"_count", types(wire.TypeHistogram, wire.TypeSummary)},
	{"_gsum", types(wire.TypeGaugeHistogram)},
	{"_gcount", types(wire.TypeGaugeHistogram)},
	{"_total", types(wire.TypeCounter)},
	{"_created", types(wire.TypeCounter, wire.TypeHistogram, wire.TypeSummary)},
	{"_info", types(wire.TypeInfo)},
}

func types(of ...wire.MetricType) (set [wire.TypeStateSet + 1]bool) {
	for _, t := range of {
		set[t] = true
	}
	return set
}

// add reads one line: `# TYPE name type`. A line that makes no sense says nothing.
func (m *metadata) add(line []byte) {
	word, rest := field(line[1:])
	name, rest, ok := metaName(rest)
	if !ok {
		return
	}
	meta := m.families[name]
	switch text := strings.ToValidUTF8(string(trim(rest)), "\uFFFD"); string(word) {
	case "TYPE":
		meta.Type = typeOf(text)
	case "UNIT":
		meta.Unit = text
	case "HELP":
		meta.Help = m.unescapeHelp(text)
	}
	m.families[name] = meta
}

// metaName reads the family's name, quoted or not.
func metaName(b []byte) (name string, rest []byte, ok bool) {
	b = trim(b)
	if len(b) == 0 || b[0] != '"' {
		word, rest := field(b)
		return string(word), rest, len(word) > 0
	}
	p := seriesParser{text: string(b)}
	name, err := p.quoted()
	return name, b[p.pos:], err == nil && name != ""
}

func (m *metadata) unescapeHelp(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	if m.format == OpenMetrics {
		return unescape.Replace(text)
	}
	return unescapeText.Replace(text)
}

var unescapeText = strings.NewReplacer(`\\`, `\`, `\n`, "\n")

func typeOf(text string) wire.MetricType {
	switch string(bytes.ToLower([]byte(text))) {
	case "counter":
		return wire.TypeCounter
	case "gauge":
		return wire.TypeGauge
	case "histogram":
		return wire.TypeHistogram
	case "gaugehistogram":
		return wire.TypeGaugeHistogram
	case "summary":
		return wire.TypeSummary
	case "info":
		return wire.TypeInfo
	case "stateset":
		return wire.TypeStateSet
	}
	return wire.TypeUnknown
}
