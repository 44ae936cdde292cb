// Package catalog says what each metric means: whether it is a counter, in which unit it
// counts, what it is called once vendors agree, whose reading it is, and which values
// mean "no value". The facts are data, one row a metric, in the YAML files beside this one.
//
// A Page resolves the series of one scrape together, since a row may name its device only
// by a place that another row gives an id to. Values are treated one by one by
// Metric.Normalize.
package catalog

import (
	"embed"
	"slices"
	"strings"
	"sync"

	"sextant/schema/wire"
)

//go:embed *.yaml
var files embed.FS

// Kind says how the values of a metric behave. It is decided here and not by the TYPE
// line of a page, which exporters get wrong.
type Kind uint8

// The kinds.
const (
	Unknown   Kind = iota // not in the catalogue
	Gauge                 // goes up and down
	Counter               // only grows, and starts again at zero after a reset
	Info                  // the labels are the fact; the value is 1 or a code
	StateSet              // one series per state, 1 for the current one
	Histogram             // a classic histogram's _bucket, _sum and _count
	Summary               // a summary's quantiles, _sum and _count
)

var kindTexts = [...]string{"unknown", "gauge", "counter", "info", "stateset", "histogram", "summary"}

// String returns the text of the YAML files.
func (k Kind) String() string {
	if int(k) < len(kindTexts) {
		return kindTexts[k]
	}
	return kindTexts[Unknown]
}

// Metric is one row: a metric under the name that its source gives it.
type Metric struct {
	rule rule // first, so that treating a value touches one cache line

	Name      string // as exposed
	Canonical string // what it is stored as; Name where that is good already
	Kind      Kind
	Scope     Scope
	Unit      string  // of canonical values; "" for bare numbers, states and codes
	Scale     float64 // canonical value = exposed value × Scale + Offset
	Offset    float64
	Help      string
	Raw       string // why it has no canonical name; "" if it has
	Source    string // the exporter
	Vendor    string // "" for sources that are no vendor's
	Evidence  Evidence

	Min, Max *float64  // range of canonical values; a value outside is no value
	Blank    []float64 // exposed values that mean "no value", compared exactly

	When []Condition  // the row is for series whose labels hold all of these
	Add  []wire.Label // what the canonical series says that the exposed name said
	Rank int          // of several rows for one canonical series on a page, the lowest stands
	Fold Fold

	// StepsBack is how far a counter may fall, in the canonical unit, without having begun
	// anew: its source is known to correct itself. 0 for a counter that only grows.
	StepsBack float64
	// Events is the derived metric of the events that this one tells of, "" if it tells of
	// none. An info metric tells of them by its code, every other one by a count.
	Events string
	// Newest says that of several samples that a page has of the series only the one with
	// the newest time counts: the others are of what was there before.
	Newest bool

	File string // where the row stands
	Line int

	source     *source
	rename     []wire.Label // Name of the exposed label, Value its canonical name
	drop       []string
	consumedBy []string // labels of When that hold one value
}

// Evidence says how well a row is known.
type Evidence string

// The grades of evidence.
const (
	FromSource     Evidence = "S"  // read in the exporter's source
	FromDocs       Evidence = "D"  // vendor or project documentation
	FromThirdParty Evidence = "3P" // only seen in third-party material
	Unproven       Evidence = "?"  // not established: a live device is needed
)

// Catalog looks metrics up. It does not change after Load and is safe for concurrent use.
type Catalog struct {
	byName  map[string][]*Metric // in the order of the file: the first that holds is meant
	sources []*source
}

var embedded = sync.OnceValue(func() *Catalog {
	c, err := Load(files)
	if err != nil {
		panic("BUG: the embedded catalogue does not load: " + err.Error())
	}
	return c
})

// Default returns the catalogue that this build carries.
func Default() *Catalog { return embedded() }

// Lookup returns the row of a metric by the exact name that its source exposes, if the
// name says it all. Where labels decide, as for every vendor's metric, it finds nothing:
// resolve the series in a Page. The row is shared: do not change it.
func (c *Catalog) Lookup(name string) (*Metric, bool) {
	rows := c.byName[name]
	if len(rows) != 1 || rows[0].Vendor != "" || len(rows[0].When) > 0 {
		return nil, false
	}
	return rows[0], true
}

// Metrics returns all rows, sorted by name and then as they are tried.
func (c *Catalog) Metrics() []*Metric {
	var all []*Metric
	for _, rows := range c.byName {
		all = append(all, rows...)
	}
	slices.SortFunc(all, func(a, b *Metric) int {
		if d := strings.Compare(a.Name, b.Name); d != 0 {
			return d
		}
		return a.Line - b.Line
	})
	return all
}

// row returns the row of a series, and whether the name is in the catalogue at all.
func (c *Catalog) row(name string, ls []wire.Label) (m *Metric, known bool) {
	rows := c.byName[name]
	for _, m := range rows {
		if allHold(m.When, ls) {
			return m, true
		}
	}
	return nil, len(rows) > 0
}

// claimant returns whose metric a name is that no row has.
func (c *Catalog) claimant(name string, ls []wire.Label) *source {
	for _, s := range c.sources {
		if s.claimed(name, ls) {
			return s
		}
	}
	return nil
}
