// Package catalog says what each metric means: whether it is a counter, in which unit it
// counts, what it is called once vendors agree, and which values mean "no value". The
// facts are data, one row a metric, in the YAML files beside this one.
package catalog

import (
	"embed"
	"slices"
	"strings"
	"sync"
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
	Name      string // as exposed
	Canonical string // what it is stored as; Name where that is good already
	Kind      Kind
	Unit      string  // of canonical values; "" for bare numbers, states and codes
	Scale     float64 // canonical value = exposed value × Scale
	Help      string
	Source    string // the exporter
	Evidence  Evidence

	Min, Max *float64  // range of canonical values; a value outside is no value
	Blank    []float64 // exposed values that mean "no value", compared exactly
	File     string    // where the row stands
	Line     int
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
type Catalog struct{ byName map[string]*Metric }

var embedded = sync.OnceValue(func() *Catalog {
	c, err := Load(files)
	if err != nil {
		panic("BUG: the embedded catalogue does not load: " + err.Error())
	}
	return c
})

// Default returns the catalogue that this build carries.
func Default() *Catalog { return embedded() }

// Lookup returns the row of a metric by the exact name that its source exposes. The row
// is shared: do not change it.
func (c *Catalog) Lookup(name string) (*Metric, bool) {
	m, ok := c.byName[name]
	return m, ok
}

// Metrics returns all rows, sorted by name.
func (c *Catalog) Metrics() []*Metric {
	all := make([]*Metric, 0, len(c.byName))
	for _, m := range c.byName {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *Metric) int { return strings.Compare(a.Name, b.Name) })
	return all
}
