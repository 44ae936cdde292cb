package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/prometheus/prometheus/model/labels"

	"sextant/pipeline/window"
	"sextant/schema/catalog"
	"sextant/schema/wire"
)

const (
	nodeLabel = "node"
	nameLabel = labels.MetricName
	exported  = "exported_" // put before a scraped label that claims a name of ours
)

// series is a registered series.
type series struct {
	id     uint64
	check  uint64 // a second hash of the same labels: tells two label sets of one id apart
	node   *node
	window *window.Series // nil when no view reads it
	last   int64          // newest sample time, kept by the layout that has it now
	seen   uint64         // Machine.uses when a layout was last found to have it
}

var (
	errNoName    = errors.New("no metric name")
	errTwice     = errors.New("the record has the series twice")
	errTooMany   = errors.New("the node has too many series")
	errCollision = errors.New("another series has the same id")
)

// canonical is a series under its canonical name, with the node that it came from.
type canonical struct {
	name, source string
	unknownOf    string // vendor
	metric       *catalog.Metric
	labels       []wire.Label // sorted, with __name__ and node
	text         []byte       // name 0xff value 0xff …: what is hashed
}

// register returns the series that series i of the decoder's record is, as the catalogue
// says, and whether it was not known. A known series costs its hash; a new one has its
// row written and its window made.
func (m *Machine) register(n *node, i int, as *catalog.Mapping) (*series, bool, error) {
	if as.Name == "" {
		return nil, false, errNoName
	}
	source := as.Name
	if as.Metric != nil {
		source = as.Metric.Name
	}
	c := m.canonical(n, as.Name, as.Labels)
	c.source, c.metric = source, as.Metric
	if as.Outcome == catalog.UnknownRow {
		c.unknownOf = as.Vendor
	}
	typ, unit, _ := m.decoder.Meta(i)
	if c.metric != nil {
		unit = c.metric.Unit
	}
	s, isNew, err := m.admit(n, &c, kindOf(c.metric, typ), unit)
	if isNew && disagrees(c.metric, typ) {
		m.counts.Mistyped++
	}
	return s, isNew, err
}

// admit finds a series by its canonical labels, or makes it.
func (m *Machine) admit(n *node, c *canonical, kind, unit string) (*series, bool, error) {
	id := m.id(n.name, c.text)
	check := secondHash(c.text)
	if s, ok := m.series[id]; ok {
		if s.check != check {
			m.counts.Collisions++
			return nil, false, fmt.Errorf("series %d: %w", id, errCollision)
		}
		return s, false, nil
	}
	if n.series >= m.cfg.MaxNodeSeries {
		return nil, false, errTooMany
	}
	n.series++
	s := &series{id: id, check: check, node: n, window: m.window(n, c)}
	m.series[id] = s
	m.describe(s, c, kind, unit)
	return s, true, nil
}

// canonical adds name and node to the labels of a series and puts them in order.
func (m *Machine) canonical(n *node, name string, given []wire.Label) canonical {
	ls := append(m.labels[:0], given...)
	for k := range ls {
		if ls[k].Name == nodeLabel {
			// The record says which node it came from; a scraped label cannot.
			ls[k].Name = freeName(ls, nodeLabel)
		}
	}
	ls = append(ls, wire.Label{Name: nameLabel, Value: name}, wire.Label{Name: nodeLabel, Value: n.name})
	slices.SortFunc(ls, func(a, b wire.Label) int { return strings.Compare(a.Name, b.Name) })
	m.labels = ls
	m.text = appendCanonical(m.text[:0], ls)
	return canonical{name: name, labels: ls, text: m.text}
}

// freeName puts the exported prefix before a name until no label has the result.
func freeName(ls []wire.Label, name string) string {
	for {
		name = exported + name
		if !slices.ContainsFunc(ls, func(l wire.Label) bool { return l.Name == name }) {
			return name
		}
	}
}

func appendCanonical(b []byte, ls []wire.Label) []byte {
	for _, l := range ls {
		b = append(append(b, l.Name...), 0xff)
		b = append(append(b, l.Value...), 0xff)
	}
	return b
}

// SeriesID is the id of a series: 16 bits of its node and 48 bits of its labels, so that
// the series of a node are neighbours in the store. text is the sorted labels, __name__
// and node included, each name and value followed by a byte 0xff.
func SeriesID(node string, text []byte) uint64 {
	const low = 1<<48 - 1
	return xxhash.Sum64String(node)&^low | xxhash.Sum64(text)&low
}

func secondHash(text []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(1)
	_, _ = d.Write(text) // never fails
	return d.Sum64()
}

// window makes the window of a series that some view reads.
func (m *Machine) window(n *node, c *canonical) *window.Series {
	store := m.eval.Store()
	if !store.Reads(c.name) {
		return nil
	}
	b := labels.NewScratchBuilder(len(c.labels))
	for _, l := range c.labels {
		b.Add(l.Name, l.Value)
	}
	return store.NewSeries(n.name, b.Labels())
}

// describe writes the row that names a series.
func (m *Machine) describe(s *series, c *canonical, kind, unit string) {
	if m.replaying {
		return
	}
	row := SeriesRow{ID: s.id, Node: s.node.name, Name: c.name, Source: c.source, Kind: kind, Unit: unit, UnknownOf: c.unknownOf, FirstSeen: m.scrape}
	row.Labels = make([]wire.Label, 0, len(c.labels)-1)
	for _, l := range c.labels {
		if l.Name != nameLabel {
			row.Labels = append(row.Labels, l)
		}
	}
	m.batch.Series = append(m.batch.Series, row)
}
