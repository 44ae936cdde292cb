package exposition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sextant/schema/wire"
)

// ParseSeries reads the text of a series, as Scanner.Series returns it, into labels that
// are sorted by name and include __name__. Labels with an empty value are left out:
// they mean the same as no label. Names may be quoted UTF-8, the metric's inside the
// braces: {"hw.power","hw.id"="gpu-0"}. The strings share one copy of the text.
//
// An error is a fault of the line: bad syntax, invalid UTF-8, no or two names, a label
// name given twice, or a limit of package wire.
func ParseSeries(raw []byte) ([]wire.Label, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("invalid UTF-8")
	}
	p := seriesParser{text: string(raw)}
	p.labels = make([]wire.Label, 0, 1+strings.Count(p.text, "="))
	if err := p.parse(); err != nil {
		return nil, err
	}
	return p.finish()
}

type seriesParser struct {
	text   string
	pos    int
	named  bool
	labels []wire.Label
}

func (p *seriesParser) parse() error {
	if p.peek() != '{' {
		if err := p.setName(p.word(isNameByte)); err != nil {
			return err
		}
	}
	p.blanks()
	if p.pos == len(p.text) {
		return nil
	}
	if p.peek() != '{' {
		return p.fault("want {")
	}
	p.pos++
	for {
		p.blanks()
		if p.peek() == '}' {
			break
		}
		if err := p.item(); err != nil {
			return err
		}
		p.blanks()
		if p.peek() == ',' {
			p.pos++
		} else if p.peek() != '}' {
			return p.fault("want , or }")
		}
	}
	p.pos++
	if p.pos != len(p.text) {
		return p.fault("text behind the labels")
	}
	return nil
}

// item reads one label, or the metric's quoted name.
func (p *seriesParser) item() error {
	quoted := p.peek() == '"'
	name, err := p.name(quoted)
	if err != nil {
		return err
	}
	p.blanks()
	if p.peek() != '=' {
		if quoted {
			return p.setName(name)
		}
		return p.fault("want = behind a label name")
	}
	p.pos++
	p.blanks()
	value, err := p.quoted()
	if err != nil {
		return err
	}
	p.labels = append(p.labels, wire.Label{Name: name, Value: value})
	return nil
}

func (p *seriesParser) name(quoted bool) (string, error) {
	if quoted {
		return p.quoted()
	}
	name := p.word(isLabelByte)
	if name == "" {
		return "", p.fault("want a label name")
	}
	return name, nil
}

func (p *seriesParser) setName(name string) error {
	if name == "" {
		return errNoName
	}
	if p.named {
		return p.fault("a second metric name")
	}
	p.named = true
	p.labels = append(p.labels, wire.Label{Name: "__name__", Value: name})
	return nil
}

// finish sorts and checks the labels and drops the empty ones.
func (p *seriesParser) finish() ([]wire.Label, error) {
	byName := func(a, b wire.Label) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(p.labels, byName) {
		slices.SortStableFunc(p.labels, byName)
	}
	if !p.named {
		return nil, errNoName
	}
	if err := wire.CheckLabels(p.labels); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(p.labels, func(l wire.Label) bool { return l.Value == "" }), nil
}

// word reads a name without quotes; its first byte is no digit.
func (p *seriesParser) word(is func(byte) bool) string {
	start := p.pos
	for p.pos < len(p.text) && is(p.text[p.pos]) {
		p.pos++
	}
	if word := p.text[start:p.pos]; word == "" || word[0] > '9' || word[0] < '0' {
		return word
	}
	return ""
}

// quoted reads a quoted string and replaces \", \\ and \n. Other escapes stay as they
// are, as in Prometheus.
func (p *seriesParser) quoted() (string, error) {
	if p.peek() != '"' {
		return "", p.fault("want a quote")
	}
	p.pos++
	start, escaped := p.pos, false
	for ; p.pos < len(p.text); p.pos++ {
		switch p.text[p.pos] {
		case '\\':
			escaped = true
			p.pos++
		case '"':
			value := p.text[start:p.pos]
			p.pos++
			if escaped {
				value = unescape.Replace(value)
			}
			return value, nil
		}
	}
	return "", p.fault("no closing quote")
}

var unescape = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n")

func (p *seriesParser) blanks() {
	for p.pos < len(p.text) && isBlank(p.text[p.pos]) {
		p.pos++
	}
}

// peek returns the next byte, or 0 at the end.
func (p *seriesParser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *seriesParser) fault(what string) error {
	return fmt.Errorf("column %d: %s", p.pos+1, what)
}

func isNameByte(c byte) bool { return c == ':' || isLabelByte(c) }

func isLabelByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
