package catalog

import (
	"path"
	"slices"
	"strings"

	"sextant/schema/wire"
)

// Condition is true of a series if its label matches one of the patterns.
type Condition struct {
	Label    string
	Patterns []pattern
}

func (c Condition) holds(value string) bool { return matches(c.Patterns, value) }

// exact reports whether the condition leaves one value only, so that a row that was
// chosen by it has said all that the label says.
func (c Condition) exact() bool { return len(c.Patterns) == 1 && !c.Patterns[0].glob }

// pattern is a value, or a glob of path.Match. The lone "*" is any value but none.
type pattern struct {
	text string
	glob bool
}

func newPattern(text string) (pattern, error) {
	p := pattern{text, strings.ContainsAny(text, `*?[\`)}
	_, err := path.Match(text, "")
	return p, err
}

func (p pattern) matches(value string) bool {
	switch {
	case !p.glob:
		return value == p.text
	case p.text == "*":
		return value != ""
	}
	ok, _ := path.Match(p.text, value)
	return ok
}

func matches(ps []pattern, value string) bool {
	return slices.ContainsFunc(ps, func(p pattern) bool { return p.matches(value) })
}

func allHold(cs []Condition, ls []wire.Label) bool {
	for _, c := range cs {
		if !c.holds(valueOf(ls, c.Label)) {
			return false
		}
	}
	return true
}

func valueOf(ls []wire.Label, name string) string {
	for i := range ls {
		if ls[i].Name == name {
			return ls[i].Value
		}
	}
	return ""
}

// plainName writes a UTF-8 name with the letters that every reader knows. A scraper that
// asks for all of UTF-8 gets hw.id where others get hw_id, and the two are one.
func plainName(name string) string {
	if strings.IndexFunc(name, notPlain) < 0 {
		return name
	}
	return strings.Map(func(r rune) rune {
		if notPlain(r) {
			return '_'
		}
		return r
	}, name)
}

func notPlain(r rune) bool {
	return r != '_' && r != ':' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
