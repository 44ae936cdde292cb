package catalog

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// head reads what the rows of a file share.
func (l *loader) head(keys map[string]*yaml.Node, root *yaml.Node) {
	s := &source{name: l.text(keys, root, "source"), class: "accel"}
	l.source, l.scope, l.prefixes, l.blanks, l.newest = s, AsExposed, []string{""}, map[string][]float64{}, false
	if n, ok := keys["evidence"]; ok {
		l.grade = l.evidence(n)
	} else {
		l.fault(root, "evidence is missing")
	}
	if n, ok := keys["scope"]; ok {
		l.scope = l.scopeOf(n)
	}
	if n, ok := keys["newest"]; ok {
		if l.newest = n.Value == "true"; !l.newest {
			l.fault(n, "newest %q: want true, or leave it out", n.Value)
		}
	}
	if n, ok := keys["prefixes"]; ok {
		l.prefixes = l.texts(n, "prefixes")
	}
	if n, ok := keys["blanks"]; ok {
		l.each(n, "blanks", func(name string, n *yaml.Node) { l.blanks[name] = l.numbers(n) })
	}
	if _, ok := keys["vendor"]; ok {
		s.vendor = l.text(keys, root, "vendor")
	}
	for _, key := range []string{"claims", "identity"} {
		if n, ok := keys[key]; ok && s.vendor == "" {
			l.fault(n, "%s without a vendor", key)
		}
	}
	if n, ok := keys["claims"]; ok {
		l.claims(s, n)
	}
	if n, ok := keys["identity"]; ok {
		l.identity(s, n)
	}
	s.digest()
	l.catalog.sources = append(l.catalog.sources, s)
}

func (l *loader) claims(s *source, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		l.fault(n, "claims is no list")
		return
	}
	for _, item := range n.Content {
		c := claim{prefix: item.Value}
		if item.Kind == yaml.MappingNode {
			keys := l.mapping(item, "prefix", "label")
			c = claim{l.text(keys, item, "prefix"), l.text(keys, item, "label")}
		}
		if c.prefix == "" {
			l.fault(item, "a claim of every name")
		}
		s.claims = append(s.claims, c)
	}
}

func (l *loader) identity(s *source, n *yaml.Node) {
	keys := l.mapping(n, "uid", "place", "apart", "slice", "split", "whole", "port", "link", "void", "not_uid", "owner", "facts", "parts", "drop", "class")
	if keys == nil {
		return
	}
	for key, list := range map[string]*[]string{"uid": &s.uid, "apart": &s.apart, "slice": &s.slice, "port": &s.port, "link": &s.link} {
		*list = l.texts(keys[key], key)
	}
	for _, text := range l.texts(keys["place"], "place") {
		kind, label, ok := strings.Cut(text, "=")
		if !ok || kind == "" || label == "" || kind == "uid" {
			l.fault(keys["place"], "place %q is not kind=label", text)
		}
		s.places = append(s.places, place{kind, label})
	}
	s.split = l.conditions(keys["split"], "split")
	s.whole = l.conditions(keys["whole"], "whole")
	s.void = l.patterns(keys["void"], "void")
	s.notUID = l.patterns(keys["not_uid"], "not_uid")
	s.drop = l.patterns(keys["drop"], "drop")
	for key, names := range map[string]*[]naming{"owner": &s.owner, "facts": &s.facts, "parts": &s.parts} {
		if n, ok := keys[key]; ok {
			l.each(n, key, func(name string, n *yaml.Node) {
				*names = append(*names, naming{name, l.texts(n, key)})
			})
		}
	}
	if k, ok := keys["class"]; ok {
		if s.class = k.Value; s.class != "accel" && s.class != "nic" {
			l.fault(k, "unknown class %q, want accel or nic", k.Value)
		}
	}
}

func (l *loader) scopeOf(n *yaml.Node) Scope {
	if i := slices.Index(scopeTexts[1:], n.Value); i >= 0 {
		return Scope(i + 1)
	}
	l.fault(n, "unknown scope %q, want one of %s", n.Value, strings.Join(scopeTexts[1:], ", "))
	return AsExposed
}

// each calls f for the pairs of a mapping.
func (l *loader) each(n *yaml.Node, what string, f func(name string, n *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		l.fault(n, "%s is no mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if name := n.Content[i].Value; seen[name] {
			l.fault(n.Content[i], "key %s is given twice", name)
		} else {
			seen[name] = true
			f(name, n.Content[i+1])
		}
	}
}

// pairs calls f for the pairs of a mapping of texts.
func (l *loader) pairs(n *yaml.Node, what string, f func(name, value string)) {
	if n == nil {
		return
	}
	l.each(n, what, func(name string, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Value == "" {
			l.fault(n, "%s is empty, or no text", name)
			return
		}
		f(name, n.Value)
	})
}

// texts returns a list of texts, of which only the prefixes may be empty.
func (l *loader) texts(n *yaml.Node, what string) []string {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		l.fault(n, "%s is no list", what)
		return nil
	}
	var out []string
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.Value == "" && what != "prefixes" {
			l.fault(item, "%s holds an empty text, or none", what)
			continue
		}
		out = append(out, item.Value)
	}
	return out
}

// patterns returns one pattern or a list of them. The empty one is for absent labels.
func (l *loader) patterns(n *yaml.Node, what string) []pattern {
	if n == nil {
		return nil
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var out []pattern
	for _, item := range items {
		p, err := newPattern(item.Value)
		if item.Kind != yaml.ScalarNode || err != nil {
			l.fault(item, "%s holds %q, which is no pattern", what, item.Value)
			continue
		}
		out = append(out, p)
	}
	return out
}

func (l *loader) conditions(n *yaml.Node, what string) []Condition {
	if n == nil {
		return nil
	}
	var out []Condition
	l.each(n, what, func(label string, n *yaml.Node) {
		out = append(out, Condition{label, l.patterns(n, what)})
	})
	return out
}
