package catalog

import (
	"slices"
	"strings"

	"sextant/schema/wire"
)

// The series that labels tell of, after the class of the device: accel_owner_info.
const (
	deviceInfo   = "_device_info" // model, driver, address, index; and what names the device
	sliceInfo    = "_slice_info"  // profile of a slice
	ownerInfo    = "_owner_info"  // one series an owner
	identityFact = "identity"     // uid, duplicate, or the kind of place: pci, serial, name, index
)

// ownerOf returns who has the device or slice, nil if nobody or nobody knows. One value
// that means "none" spoils them all: an exporter that cannot tell writes it into each.
func (s *source) ownerOf(ls []wire.Label) []wire.Label {
	var out []wire.Label
	for _, n := range s.owner {
		for _, from := range n.from {
			v := valueOf(ls, from)
			if v == "" {
				continue
			}
			if matches(s.void, v) {
				return nil
			}
			out = append(out, wire.Label{Name: n.name, Value: v})
			break
		}
	}
	return out
}

// facts returns what the labels say of a device or slice.
func (s *source) factsOf(ls []wire.Label, names []naming) []wire.Label {
	var out []wire.Label
	for _, n := range names {
		if v := s.first(ls, n.from); v != "" {
			if n.name == "pci" {
				v = pciAddress(v)
			}
			out = append(out, wire.Label{Name: n.name, Value: v})
		}
	}
	return out
}

// book collects info series. Facts about one thing are spread over the rows of a page.
type book struct {
	byKey map[string]*InfoSeries
	order []*InfoSeries
}

// note adds a series that tells of an info series. Of two values for one fact the first
// stands.
func (b *book) note(key, name string, of int, facts []wire.Label) {
	e := b.byKey[key]
	if e == nil {
		e = &InfoSeries{Name: name}
		b.byKey[key] = e
		b.order = append(b.order, e)
	}
	e.Of = append(e.Of, of)
	for _, f := range facts {
		if !slices.ContainsFunc(e.Labels, func(l wire.Label) bool { return l.Name == f.Name }) {
			e.Labels = append(e.Labels, f)
		}
	}
}

func (p *Page) infos() []InfoSeries {
	b := book{byKey: map[string]*InfoSeries{}}
	for i := range p.rows {
		if r := &p.rows[i]; r.outcome == Mapped && r.device != "" && r.metric.Scope.needsDevice() {
			b.tell(i, r)
		}
	}
	out := make([]InfoSeries, len(b.order))
	for i, e := range b.order {
		slices.SortFunc(e.Labels, func(a, b wire.Label) int { return strings.Compare(a.Name, b.Name) })
		out[i] = *e
	}
	return out
}

// tell notes what one row says of its device, its slice and its owner.
func (b *book) tell(i int, r *seriesRow) {
	s := r.source
	who := []wire.Label{{Name: vendorLabel, Value: s.vendor}, {Name: deviceLabel, Value: r.device}}
	if v := valueOf(r.labels, simulatedLabel); v != "" {
		who = append(who, wire.Label{Name: simulatedLabel, Value: v})
	}
	key := s.vendor + "\xff" + r.device
	facts := append(slices.Clone(who), wire.Label{Name: identityFact, Value: r.kind})
	b.note(key, s.class+deviceInfo, i, append(facts, s.factsOf(r.labels, s.facts)...))
	if r.slice != "" {
		who = append(who, wire.Label{Name: sliceLabel, Value: r.slice})
		key += "\xffslice\xff" + r.slice
		b.note(key, s.class+sliceInfo, i, append(slices.Clone(who), s.factsOf(r.labels, s.parts)...))
	}
	if r.metric.Scope == Process {
		return // exporters write other owners, or names of their own making, on such rows
	}
	if owner := s.ownerOf(r.labels); owner != nil {
		for _, l := range owner {
			key += "\xff" + l.Name + "\xff" + l.Value
		}
		b.note(key+"\xffowner", s.class+ownerInfo, i, append(who, owner...))
	}
}
