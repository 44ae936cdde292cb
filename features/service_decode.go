package features

import (
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// maxWidth is how many features a service may have: as many as one request may ask for.
const maxWidth = 1000

// service reads a service whose features are looked up in set, by "view" or "view@v2".
func (d *decoder) service(n *yaml.Node, set *Set) *Service {
	m, ok := d.mapping(n, "service", "version", "owner", "description", "model", "keys", "width", "features")
	if !ok {
		return nil
	}
	s := &Service{File: d.file, Line: n.Line}
	if name := m["service"]; d.required(n, name, "service") {
		s.Name, s.Line = d.name(name, "service"), name.Line
	}
	if version := m["version"]; d.required(n, version, "version") {
		s.Version = d.version(version)
	}
	if owner := m["owner"]; d.required(n, owner, "owner") {
		s.Owner = d.text(owner, "owner")
	}
	if desc := m["description"]; d.required(n, desc, "description") {
		s.Description = d.text(desc, "description")
	}
	if model := m["model"]; model != nil {
		s.Model = d.text(model, "model")
	}
	whole := false
	if list := m["features"]; d.required(n, list, "features") {
		whole = d.serviceColumns(list, s, set)
	}
	s.join()
	if width := m["width"]; d.required(n, width, "width") && whole {
		d.width(width, s)
	}
	if keys := m["keys"]; keys != nil && whole {
		if want := d.keys(keys, ""); !sameSet(want, s.Keys) {
			d.fault(keys, "keys: the features are keyed by (%s), not (%s)", strings.Join(s.Keys, ", "), strings.Join(want, ", "))
		} else {
			s.Keys = want
		}
	}
	if !whole {
		return nil // a vector with a place missing is no vector
	}
	return s
}

// join works out the keys, and what tells the views apart.
func (s *Service) join() {
	views := s.Views()
	for i := range s.Columns {
		c := &s.Columns[i]
		c.As = c.View.Name
		if slices.ContainsFunc(views, func(v *View) bool { return v != c.View && v.Name == c.View.Name }) {
			c.As = c.View.Ref()
		}
		for _, key := range c.View.Keys {
			if !slices.Contains(s.Keys, key) {
				s.Keys = append(s.Keys, key)
			}
		}
	}
}

// width stands in the definition so that a feature that is added or lost by mistake is
// seen where it happens, and not by the model.
func (d *decoder) width(n *yaml.Node, s *Service) {
	if got, err := strconv.Atoi(d.scalar(n, "width")); err != nil || got != len(s.Columns) {
		d.fault(n, "width: %s, and there are %d features", n.Value, len(s.Columns))
	}
}

// serviceColumns reads the list of features: each item is "view:feature", or a mapping of
// a view to several of its features. It says whether every item is there.
func (d *decoder) serviceColumns(n *yaml.Node, s *Service, set *Set) bool {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		d.fault(n, "features: want a list of view:feature, or of view: [feature, …]")
		return false
	}
	whole, lines := true, map[string]int{}
	add := func(at *yaml.Node, view, feature string) {
		c, ok := d.column(at, view, feature, set)
		if !ok {
			whole = false
			return
		}
		if line, twice := lines[c.Ref()]; twice {
			d.fault(at, "features: %s is already there at line %d", c.Ref(), line)
		}
		lines[c.Ref()] = at.Line
		s.Columns = append(s.Columns, c)
	}
	for _, item := range n.Content {
		if item.Kind == yaml.MappingNode {
			whole = d.compact(item, add) && whole
			continue
		}
		view, feature, ok := strings.Cut(d.scalar(item, "features"), ":")
		if !ok {
			d.fault(item, "features: %q has no view: want view:feature", item.Value)
			whole = false
			continue
		}
		add(item, view, feature)
	}
	if len(s.Columns) > maxWidth {
		d.fault(n, "features: %d, at most %d", len(s.Columns), maxWidth)
	}
	return whole
}

// compact reads view: [feature, …], and says whether it is that.
func (d *decoder) compact(n *yaml.Node, add func(at *yaml.Node, view, feature string)) bool {
	whole := true
	for i := 0; i+1 < len(n.Content); i += 2 {
		view, list := n.Content[i], n.Content[i+1]
		if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
			d.fault(list, "features: %s: want a list of its features", view.Value)
			whole = false
			continue
		}
		for _, f := range list.Content {
			add(f, view.Value, d.scalar(f, "features"))
		}
	}
	return whole
}

func (d *decoder) column(at *yaml.Node, view, feature string, set *Set) (ServiceColumn, bool) {
	v, ok := set.View(view)
	if !ok {
		d.fault(at, "features: view %q is not defined", view)
		return ServiceColumn{}, false
	}
	i := slices.IndexFunc(v.Features, func(f Feature) bool { return f.Name == feature })
	if i < 0 {
		d.fault(at, "features: view %s has no feature %q", v.Ref(), feature)
		return ServiceColumn{}, false
	}
	return ServiceColumn{View: v, Feature: i}, true
}
