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
	metric *catalog.Metric // nil when the catalogue does not know it
	window *window.Series  // nil when no view reads it
	last   int64           // newest sample time, kept by the layout that has it now
}

var (
	errNoName    = errors.New("no metric name")
	errTooMany   = errors.New("the node has too many series")
	errCollision = errors.New("another series has the same id")
)

// canonical is a series under its canonical name, with the node that it came from.
type canonical struct {
	name, source string
	metric       *catalog.Metric
	labels       []wire.Label // sorted, with __name__ and node
	text         string       // name 0xff value 0xff …: what is hashed
}

// register returns series i of the decoder's record, and whether it was not known. A
// known series costs its hash; a new one has its row written and its window made.
func (m *Machine) register(n *node, i int) (*series, bool, error) {
	c, err := m.canonical(n, i)
	if err != nil {
		return nil, false, err
	}
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
	s := &series{id: id, check: check, node: n, metric: c.metric, window: m.window(n, &c)}
	m.series[id] = s
	m.describe(s, &c, i)
	return s, true, nil
}

// canonical reads the labels of series i and puts them in their canonical form.
func (m *Machine) canonical(n *node, i int) (canonical, error) {
	ls := m.labels[:0]
	err := m.decoder.Labels(i, func(name, value []byte) bool {
		ls = append(ls, wire.Label{Name: string(name), Value: string(value)})
		return true
	})
	m.labels = ls
	if err != nil {
		return canonical{}, err
	}
	c := canonical{}
	for k := range ls {
		switch ls[k].Name {
		case nameLabel:
			c.source, c.name = ls[k].Value, ls[k].Value
			if c.metric, _ = m.cfg.Catalog.Lookup(c.source); c.metric != nil {
				c.name = c.metric.Canonical
			}
			ls[k].Value = c.name
		case nodeLabel:
			// The record says which node it came from; a scraped label cannot.
			ls[k].Name = freeName(ls, nodeLabel)
		}
	}
	if c.name == "" {
		return canonical{}, errNoName
	}
	ls = append(ls, wire.Label{Name: nodeLabel, Value: n.name})
	slices.SortFunc(ls, func(a, b wire.Label) int { return strings.Compare(a.Name, b.Name) })
	m.labels, c.labels, c.text = ls, ls, canonicalText(ls)
	return c, nil
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

func canonicalText(ls []wire.Label) string {
	var b strings.Builder
	for _, l := range ls {
		b.WriteString(l.Name)
		b.WriteByte(0xff)
		b.WriteString(l.Value)
		b.WriteByte(0xff)
	}
	return b.String()
}

// SeriesID is the id of a series: 16 bits of its node and 48 bits of its labels, so that
// the series of a node are neighbours in the store. text is the sorted labels, __name__
// and node included, each name and value followed by a byte 0xff.
func SeriesID(node, text string) uint64 {
	const low = 1<<48 - 1
	return xxhash.Sum64String(node)&^low | xxhash.Sum64String(text)&low
}

func secondHash(text string) uint64 {
	d := xxhash.NewWithSeed(1)
	_, _ = d.WriteString(text) // never fails
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
func (m *Machine) describe(s *series, c *canonical, i int) {
	if m.replaying {
		return
	}
	typ, unit, _ := m.decoder.Meta(i)
	if c.metric != nil {
		unit = c.metric.Unit
	}
	row := SeriesRow{ID: s.id, Node: s.node.name, Name: c.name, Source: c.source,
		Kind: kindOf(c.metric, typ), Unit: unit, FirstSeen: m.scrape}
	row.Labels = make([]wire.Label, 0, len(c.labels)-1)
	for _, l := range c.labels {
		if l.Name != nameLabel {
			row.Labels = append(row.Labels, l)
		}
	}
	m.batch.Series = append(m.batch.Series, row)
}
