package catalog

import (
	"slices"
	"strings"

	"sextant/schema/wire"
)

const (
	nameLabel      = "__name__"
	vendorLabel    = "vendor"
	deviceLabel    = "device"
	sliceLabel     = "slice"
	portLabel      = "port"
	linkLabel      = "link"
	viaLabel       = "via" // how it was measured, where there is a better way
	simulatedLabel = "simulated"
)

// placeOfScrape are labels of the target. A device keeps its series when another exporter
// reports it, or the same one under another address.
var placeOfScrape = [...]string{"job", "instance"}

func withoutName(ls []wire.Label) []wire.Label {
	out := make([]wire.Label, 0, len(ls))
	for _, l := range ls {
		if l.Name != nameLabel {
			out = append(out, l)
		}
	}
	return out
}

// plainLabels are the labels without the name, spelled as every reader can. An empty
// value is no label, so it is left out.
func plainLabels(ls []wire.Label) []wire.Label {
	out := make([]wire.Label, 0, len(ls))
	for _, l := range ls {
		if l.Name != nameLabel && l.Value != "" {
			out = append(out, wire.Label{Name: plainName(l.Name), Value: l.Value})
		}
	}
	return out
}

// canonicalLabels are the labels of a mapped row: what names the device, what the row
// says, and whatever the exporter or the user added that the catalogue does not know.
func (r *seriesRow) canonicalLabels() []wire.Label {
	m, s := r.metric, r.source
	out := append(make([]wire.Label, 0, len(m.Add)+8), wire.Label{Name: vendorLabel, Value: s.vendor})
	out = append(out, m.Add...)
	if m.Scope.needsDevice() {
		out = append(out, wire.Label{Name: deviceLabel, Value: r.device})
	}
	if r.slice != "" && m.Scope.needsDevice() && m.Scope != Device {
		out = append(out, wire.Label{Name: sliceLabel, Value: r.slice})
	}
	if v := s.first(r.labels, s.port); v != "" && m.Scope == Port {
		out = append(out, wire.Label{Name: portLabel, Value: v})
	}
	if v := s.first(r.labels, s.link); v != "" && m.Scope == Link {
		out = append(out, wire.Label{Name: linkLabel, Value: v})
	}
	if m.Scope == Owner {
		for _, l := range s.ownerOf(r.labels) {
			out = set(out, l)
		}
	}
	for _, l := range r.labels {
		if k := slices.IndexFunc(m.rename, func(n wire.Label) bool { return n.Name == l.Name }); k >= 0 {
			out = set(out, wire.Label{Name: m.rename[k].Value, Value: l.Value})
		} else if !r.consumed(l.Name) {
			out = set(out, l)
		}
	}
	slices.SortFunc(out, func(a, b wire.Label) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// set adds a label. One that is taken moves aside, as Prometheus does it.
func set(out []wire.Label, l wire.Label) []wire.Label {
	for slices.ContainsFunc(out, func(o wire.Label) bool { return o.Name == l.Name }) {
		l.Name = "exported_" + l.Name
	}
	return append(out, l)
}

// consumed reports whether the canonical labels say already what a label says, or an info
// series does.
func (r *seriesRow) consumed(name string) bool {
	return slices.Contains(r.metric.drop, name) || slices.Contains(r.metric.consumedBy, name) || r.source.consumed(name)
}

func (s *source) consumed(name string) bool {
	_, ok := s.eaten[name]
	return ok || matches(s.drop, name)
}

// digest notes the labels that consumed looks for.
func (s *source) digest() {
	s.eaten = make(map[string]struct{})
	eat := func(names ...string) {
		for _, name := range names {
			s.eaten[name] = struct{}{}
		}
	}
	for _, list := range [...][]string{s.uid, s.apart, s.slice, s.port, s.link, placeOfScrape[:]} {
		eat(list...)
	}
	for _, p := range s.places {
		eat(p.label)
	}
	for _, c := range append(slices.Clone(s.split), s.whole...) {
		eat(c.Label)
	}
	for _, list := range [...][]naming{s.owner, s.facts, s.parts} {
		for _, n := range list {
			eat(n.from...)
		}
	}
}
