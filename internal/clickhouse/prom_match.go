package clickhouse

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"github.com/prometheus/prometheus/model/labels"
)

// conditions are matchers as SQL over a table whose label values col gives. They let
// through every series that matches, and perhaps some that do not: whoever reads them
// asks the matchers again. So what SQL might decide in another way is left out.
func conditions(ms []*labels.Matcher, col func(label string) string) string {
	var b strings.Builder
	for _, m := range ms {
		if c := condition(m, col(m.Name)); c != "" {
			b.WriteString("\n  AND " + c)
		}
	}
	return b.String()
}

func condition(m *labels.Matcher, col string) string {
	switch m.Type {
	case labels.MatchEqual:
		return col + " = " + quoteBytes(m.Value)
	case labels.MatchNotEqual:
		return col + " != " + quoteBytes(m.Value)
	case labels.MatchRegexp:
		return among(m, col, " IN ", "")
	default:
		return among(m, col, " NOT IN ", "NOT ")
	}
}

// among is a regular expression as a set of values, or as a call of match.
func among(m *labels.Matcher, col, in, not string) string {
	if set := m.SetMatches(); len(set) > 0 && len(set) <= 1000 {
		quoted := make([]string, len(set))
		for i, v := range set {
			quoted[i] = quoteBytes(v)
		}
		return col + in + "(" + strings.Join(quoted, ", ") + ")"
	}
	re, err := syntax.Parse(m.Value, syntax.Perl|syntax.DotNL)
	if err != nil || !portable(re) {
		return ""
	}
	return not + "match(" + col + ", " + quoteBytes("^(?s:"+m.Value+")$") + ")"
}

// portable says whether RE2 in C++ and in Go read an expression alike, whatever text it
// meets: no classes of Unicode, no folding of case, no named groups, no counted
// repeats, whose limits differ.
func portable(re *syntax.Regexp) bool {
	if re.Flags&syntax.FoldCase != 0 {
		return false
	}
	switch re.Op {
	case syntax.OpCharClass:
		for _, r := range re.Rune {
			if r >= utf8.RuneSelf && r != utf8.MaxRune {
				return false
			}
		}
	case syntax.OpCapture:
		if re.Name != "" {
			return false
		}
	case syntax.OpRepeat, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpNoMatch:
		return false
	}
	for _, s := range re.Sub {
		if !portable(s) {
			return false
		}
	}
	return true
}

// quoteBytes makes a string literal of any bytes.
func quoteBytes(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, c := range []byte(s) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == '?' || c == '@' || c == '$':
			// The client looks for places to bind values even in literals.
			const hex = "0123456789abcdef"
			b.WriteString(`\x` + string(hex[c>>4]) + string(hex[c&15]))
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// seriesColumn is the value of a label in the table series; "" where a series lacks it.
func seriesColumn(label string) string {
	if label == labels.MetricName {
		return "name"
	}
	return "labels[" + quoteBytes(label) + "]"
}

// ofNodes narrows to the ids of the nodes that the matchers name: the high bits of an id
// are its node's, and ids are the order of the table. See pipeline.SeriesID.
func ofNodes(ms []*labels.Matcher) string {
	for _, m := range ms {
		if m.Name != "node" || m.Matches("") {
			continue
		}
		nodes := m.SetMatches()
		if m.Type == labels.MatchEqual {
			nodes = []string{m.Value}
		}
		if len(nodes) == 0 || len(nodes) > 100 || m.Type != labels.MatchEqual && m.Type != labels.MatchRegexp {
			continue
		}
		spans := make([]string, len(nodes))
		for i, n := range nodes {
			const low = 1<<48 - 1
			first := xxhash.Sum64String(n) &^ low
			spans[i] = "id BETWEEN " + strconv.FormatUint(first, 10) + " AND " + strconv.FormatUint(first|low, 10)
		}
		return "\n  AND (" + strings.Join(spans, " OR ") + ")"
	}
	return ""
}

// matches asks every matcher. A label that is absent has the value "".
func matches(ls labels.Labels, ms []*labels.Matcher) bool {
	for _, m := range ms {
		if !m.Matches(ls.Get(m.Name)) {
			return false
		}
	}
	return true
}
