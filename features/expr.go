package features

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	yaml "go.yaml.in/yaml/v3"
)

// Limits of an expression.
const (
	maxExpr = 8192             // bytes, with every ${name} written out
	minRate = 20 * time.Second // shortest range of a rate: two samples at the scrape interval
)

// fragment is a piece of PromQL that several expressions share, written ${name} in them.
type fragment struct {
	name, text string
	node       *yaml.Node
	used       bool
}

var fragmentRef = regexp.MustCompile(`\$\{[^}]*\}`)

// let reads the shared fragments: a mapping of name to text, in which a fragment may use
// those above it.
func (d *decoder) let(n *yaml.Node) []*fragment {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		d.fault(n, "let: want a mapping of names to pieces of PromQL")
		return nil
	}
	var fs []*fragment
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f := &fragment{name: d.name(key, "let"), node: key}
		f.text, _ = d.expand(value, "let: "+f.name, strings.TrimSpace(d.scalar(value, "let")), fs)
		if find(fs, f.name) != nil {
			d.fault(key, "let: %s is there twice", f.name)
		}
		fs = append(fs, f)
	}
	return fs
}

func find(fs []*fragment, name string) *fragment {
	for _, f := range fs {
		if f.name == name {
			return f
		}
	}
	return nil
}

// expand writes fragments out in a text, and says whether all of them are defined.
func (d *decoder) expand(n *yaml.Node, where, text string, let []*fragment) (string, bool) {
	defined, room := true, maxExpr
	text = fragmentRef.ReplaceAllStringFunc(text, func(ref string) string {
		piece := find(let, ref[2:len(ref)-1])
		if piece == nil {
			d.fault(n, "%s: %s is not defined under let", where, ref)
			defined = false
			return ref
		}
		piece.used = true
		if room -= len(piece.text); room < 0 {
			return "" // nested fragments grow fast: no more than is needed to say so
		}
		return piece.text
	})
	if room < 0 || len(text) > maxExpr {
		d.fault(n, "%s: longer than %d bytes", where, maxExpr)
		return "", false
	}
	return text, defined
}

// expr reads a feature's expression, writes its fragments out and checks it.
func (d *decoder) expr(n *yaml.Node, v *View, f Feature, let []*fragment) string {
	raw := d.scalar(n, "expr")
	text, defined := d.expand(n, "feature "+f.Name+": expr", raw, let)
	text = strings.TrimRight(text, " \n")
	if !defined {
		return text
	}
	expr, err := Parse(text)
	if err != nil {
		d.parseFaults(n, f, text, text != strings.TrimRight(raw, " \n"), err)
		return text
	}
	for _, fault := range check(expr, v, f) {
		d.fault(n, "feature %s: expr: %s", f.Name, fault)
	}
	return text
}

// parseFaults notes each of the parser's errors with its position in the expression. A
// literal block keeps its lines, so there the file's line is exact too.
func (d *decoder) parseFaults(n *yaml.Node, f Feature, text string, expanded bool, err error) {
	var in string
	if expanded {
		in = " in " + text
	}
	var errs parser.ParseErrors
	if !errors.As(err, &errs) {
		d.fault(n, "feature %s: expr: %v%s", f.Name, err, in)
		return
	}
	for _, e := range errs {
		line := n.Line
		if start := int(e.PositionRange.Start); n.Style&yaml.LiteralStyle != 0 && start <= len(text) {
			line += 1 + strings.Count(text[:start], "\n")
		}
		d.faults.add(d.file, line, "feature %s: expr: %s%s", f.Name, e.Error(), in)
	}
}
