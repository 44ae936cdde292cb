package catalog

import (
	"slices"
	"strings"

	"sextant/schema/wire"
)

// Outcome says what the catalogue made of a series.
type Outcome uint8

// The outcomes. Only Mapped series have a canonical name; the others stay as exposed.
const (
	Unlisted   Outcome = iota // nobody's metric
	AsItIs                    // listed, and good as exposed or deliberately raw
	Mapped                    // renamed, with canonical labels
	UnknownRow                // a known vendor's metric that no row is for: to be reported
	NoDevice                  // a device's reading that does not say which device
	PartOnly                  // a device's reading as a part repeats it, which is none
)

// String returns the text that counters and logs use.
func (o Outcome) String() string {
	return [...]string{"unlisted", "as_is", "mapped", "unknown", "no_device", "part"}[o]
}

// Mapping is what a series of a page means.
type Mapping struct {
	Outcome Outcome
	Vendor  string  // of a listed or claimed metric; "" for sources that are no vendor's
	Metric  *Metric // the row; nil for Unlisted and UnknownRow
	Name    string  // canonical, or as exposed
	Labels  []wire.Label
	Weak    bool // the device is named by where it sits

	// Lead is the series of the page whose canonical series this one is, too: it repeats
	// the reading, or is a part of it (see Fold), or is the second choice when the lead
	// has no value. -1 for a series that stands for itself.
	Lead int
	// Outranked says that this series is another way to measure what a better one on the
	// page measures. It is to be left out.
	Outranked bool
}

// InfoSeries is a series that the labels of others tell of: who owns a device, what
// model it is. Its value is 1 while any of the series Of has a sample.
type InfoSeries struct {
	Name   string
	Labels []wire.Label // sorted
	Of     []int        // ascending
}

// Page resolves the series of one scrape together. It may be used again after Reset and
// is not safe for concurrent use.
type Page struct {
	c     *Catalog
	rows  []seriesRow
	ids   map[string]*identity // by source and own id
	names map[string]named     // by source and place; empty where the place is several's
}

// seriesRow is a series of the page.
type seriesRow struct {
	name    string
	exposed []wire.Label // without the name
	labels  []wire.Label // the same, spelled plainly, of a mapped row
	metric  *Metric
	source  *source
	outcome Outcome
	own     string // the device's own id
	places  []string
	named
	slice string
}

// named is what names a device: its own id or where it sits, and which of them.
type named struct {
	device string
	kind   string // uid, duplicate, or the kind of place
}

// identity is an own id, and the places that differ between devices that both claim it.
type identity struct{ apart []string }

// NewPage returns an empty page.
func (c *Catalog) NewPage() *Page {
	return &Page{c: c, ids: map[string]*identity{}, names: map[string]named{}}
}

// Reset empties the page.
func (p *Page) Reset() {
	clear(p.rows)
	p.rows = p.rows[:0]
	clear(p.ids)
	clear(p.names)
}

// Add adds a series with its name among the labels as __name__. The strings are kept,
// the slice is not.
func (p *Page) Add(ls []wire.Label) {
	r := seriesRow{name: valueOf(ls, nameLabel)}
	m, known := p.c.row(r.name, ls)
	if m == nil && !known && strings.IndexFunc(r.name, notPlain) >= 0 {
		m, known = p.c.row(plainName(r.name), ls)
	}
	var plain []wire.Label
	if m == nil || m.source.vendor != "" {
		plain = plainLabels(ls)
		if m == nil && known { // the labels may have been what did not match
			m, _ = p.c.row(plainName(r.name), plain)
		}
	}
	switch {
	case m != nil:
		r.metric, r.source = m, m.source
		r.outcome = AsItIs
		if m.source.vendor != "" && m.Raw == "" {
			r.outcome = Mapped
		}
	case known:
		r.source, r.outcome = p.c.byName[plainName(r.name)][0].source, UnknownRow
	default:
		if r.source = p.c.claimant(plainName(r.name), plain); r.source != nil {
			r.outcome = UnknownRow
		}
	}
	if r.outcome == Mapped && m.Scope == Device && !allHold(r.source.whole, plain) {
		r.metric, r.outcome = nil, PartOnly
	}
	r.exposed = withoutName(ls)
	if r.outcome == Mapped {
		r.labels = plain
		r.own = r.source.ownID(plain)
		r.places = r.source.placesOf(plain, nil)
		r.slice = r.source.sliceOf(plain)
		p.meet(&r)
	}
	p.rows = append(p.rows, r)
}

// meet notes an own id, to see whether several devices claim it.
func (p *Page) meet(r *seriesRow) {
	if r.own == "" {
		return
	}
	key := r.source.name + "\xff" + r.own
	id := p.ids[key]
	if id == nil {
		id = &identity{}
		p.ids[key] = id
	}
	if at := r.source.first(r.labels, r.source.apart); at != "" && !slices.Contains(id.apart, at) {
		id.apart = append(id.apart, at)
	}
}

// Resolve says what each series means, in the order in which they were added, and which
// info series they tell of.
func (p *Page) Resolve() ([]Mapping, []InfoSeries) {
	for i := range p.rows {
		p.identify(&p.rows[i])
	}
	out := make([]Mapping, len(p.rows))
	for i := range p.rows {
		p.adopt(&p.rows[i])
		out[i] = p.rows[i].mapping()
	}
	rank(out)
	return out, p.infos()
}

// Resolve is a Page of one series.
func (c *Catalog) Resolve(ls []wire.Label) Mapping {
	p := c.NewPage()
	p.Add(ls)
	out, _ := p.Resolve()
	return out[0]
}

// identify names the device of a row that has an id or a place, and teaches the page
// which device sits there.
func (p *Page) identify(r *seriesRow) {
	if r.outcome != Mapped {
		return
	}
	switch {
	case r.own != "":
		r.device, r.kind = r.own, "uid"
		if id := p.ids[r.source.name+"\xff"+r.own]; len(id.apart) > 1 {
			r.device, r.kind = r.own+"@"+r.source.first(r.labels, r.source.apart), "duplicate"
		}
	case len(r.places) > 0:
		r.device = r.places[0]
		r.kind, _, _ = strings.Cut(r.device, ":")
	default:
		return
	}
	for _, at := range r.places {
		if at == r.device {
			continue
		}
		key := r.source.name + "\xff" + at
		if before, ok := p.names[key]; ok && before != r.named {
			p.names[key] = named{}
		} else if !ok {
			p.names[key] = r.named
		}
	}
}

// adopt gives a row that knows its device by place only the id that another row has for
// the place. Two steps suffice: an index leads to an address, an address to an id.
func (p *Page) adopt(r *seriesRow) {
	for range 2 {
		if r.kind == "uid" || r.kind == "duplicate" || r.device == "" {
			return
		}
		name := p.names[r.source.name+"\xff"+r.device]
		if name.device == "" {
			return
		}
		r.named = name
	}
}

// mapping puts the labels of a row in their canonical form.
func (r *seriesRow) mapping() Mapping {
	m := Mapping{Outcome: r.outcome, Metric: r.metric, Name: r.name, Labels: r.exposed, Lead: -1}
	if r.source != nil {
		m.Vendor = r.source.vendor
	}
	if r.outcome == AsItIs {
		m.Name = r.metric.Canonical
	}
	if r.outcome != Mapped {
		return m
	}
	if r.metric.Scope.needsDevice() && r.device == "" {
		m.Outcome, m.Metric = NoDevice, nil
		return m
	}
	m.Name = r.metric.Canonical
	m.Labels = r.canonicalLabels()
	m.Weak = r.metric.Scope.needsDevice() && r.kind != "uid"
	return m
}

// rank finds the series of a page that are one canonical series, and the one to stand.
func rank(all []Mapping) {
	best := make(map[string]int, len(all))
	keys := make([]string, len(all))
	for i := range all {
		if all[i].Outcome != Mapped {
			continue
		}
		keys[i] = all[i].key(true)
		if b, ok := best[keys[i]]; !ok || all[i].Metric.Rank < all[b].Metric.Rank {
			best[keys[i]] = i
		}
	}
	for i := range all {
		if all[i].Outcome != Mapped || best[keys[i]] == i {
			continue
		}
		b := best[keys[i]]
		switch {
		case all[b].key(false) == all[i].key(false):
			all[i].Lead = b
		case all[b].Metric.Rank < all[i].Metric.Rank:
			all[i].Outranked = true
		}
	}
}

// key is the identity of a canonical series on its node; without the label that tells how
// it was measured, if asked.
func (m *Mapping) key(withoutVia bool) string {
	var b strings.Builder
	b.WriteString(m.Name)
	for _, l := range m.Labels {
		if withoutVia && l.Name == viaLabel {
			continue
		}
		b.WriteByte(0xff)
		b.WriteString(l.Name)
		b.WriteByte(0xff)
		b.WriteString(l.Value)
	}
	return b.String()
}
