// Package lineage says where the values of a feature come from and who reads them: from the
// metric of a vendor's exporter to the canonical metric, the expression, the feature, the
// services and the models. It is worked out from the definitions themselves: PromQL by its
// parser, SQL by the tables that its text reads, and metrics by the catalogue.
package lineage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sextant/features"
	"sextant/schema/catalog"
)

// Feature is the lineage of one feature.
type Feature struct {
	Ref        string   `json:"feature"` // view@v1:name
	Kind       string   `json:"kind"`    // KindPromQL, KindSQL or KindPush
	Expression string   `json:"expression"`
	Reads      []Read   `json:"reads"`    // canonical metrics, those of the features that SQL reads included
	Tables     []Table  `json:"tables"`   // what SQL reads
	Services   []Reader `json:"services"` // who reads the feature, by itself or through another one
	Fault      string   `json:"fault,omitempty"`
	direct     []string // features that its SQL reads
	under      []string // and those that these read
}

// The kinds of features.
const (
	KindPromQL = "promql"
	KindSQL    = "sql"
	KindPush   = "push"
)

// Read is one canonical metric that a feature is made of.
type Read struct {
	Metric    string     `json:"metric"`
	Selectors []Selector `json:"selectors,omitempty"` // none where SQL reads it through other features
	Through   []string   `json:"through,omitempty"`   // those features
	Origins   []Origin   `json:"origins"`             // none: no exporter of the catalogue has it
}

// Selector is one place of an expression that reads a metric.
type Selector struct {
	Text    string  `json:"selector"`
	Seconds float64 `json:"looks_back_seconds"` // before the tick: range, offset and the subqueries around it
}

// Origin is what one exporter contributes to a canonical metric.
type Origin struct {
	Exporter string `json:"exporter"`
	Vendor   string `json:"vendor,omitempty"`
	Metric   string `json:"metric,omitempty"`     // as exposed; empty where the labels of all its devices' series count
	Way      string `json:"way"`                  // of package catalog: name, events or labels
	Unit     string `json:"unit,omitempty"`       // of the canonical values
	Convert  string `json:"conversion,omitempty"` // canonical = exposed × scale + offset, where that is not the value itself
}

// Table is a table or view of the store that SQL reads.
type Table struct {
	Name     string   `json:"name"`
	View     string   `json:"view,omitempty"`     // the feature view whose rows it has
	Features []string `json:"features,omitempty"` // of the view, that the SQL names
	Through  string   `json:"through,omitempty"`  // the SQL view of the store that reads it
}

// Reader is a service that reads a feature.
type Reader struct {
	Service string `json:"service"`           // name@v1
	Place   int    `json:"place"`             // of the vector, from 0
	Model   string `json:"model,omitempty"`   // that reads the service, where its definition says one
	Through string `json:"through,omitempty"` // the feature of SQL that stands between
}

// Metric is the lineage of a canonical metric.
type Metric struct {
	Name     string    `json:"metric"`
	Origins  []Origin  `json:"origins"`
	Features []Feature `json:"features"` // that read it
}

// Service is the lineage of a service: its features in order.
type Service struct {
	Ref      string    `json:"service"`
	Model    string    `json:"model,omitempty"`
	Features []Feature `json:"features"`
}

// Graph is the lineage of a set of definitions. It does not change after New.
type Graph struct {
	set     *features.Set
	origins map[string][]catalog.Origin
	names   []string            // canonical ones, sorted
	stored  map[string][]string // SQL view of the store to what it reads
	byRef   map[string]*Feature // by view@v1:name
	order   []*Feature
}

// New works out the lineage of all features of set. Lookback is how long a sample stands for
// its series where an expression has no range.
func New(set *features.Set, c *catalog.Catalog, lookback time.Duration) *Graph {
	g := &Graph{set: set, origins: c.Origins(), stored: storeViews(), byRef: map[string]*Feature{}}
	for name := range g.origins {
		g.names = append(g.names, name)
	}
	slices.Sort(g.names)
	for _, v := range set.Views {
		for i := range v.Features {
			f := g.feature(v, i, lookback)
			g.byRef[f.Ref] = f
			g.order = append(g.order, f)
		}
	}
	for _, f := range g.order {
		g.through(f)
	}
	g.readers()
	return g
}

// feature is one feature without what other features decide.
func (g *Graph) feature(v *features.View, i int, lookback time.Duration) *Feature {
	f := &Feature{Ref: refOf(v, i), Kind: KindPromQL, Expression: v.Expression(i), Reads: []Read{}, Tables: []Table{}, Services: []Reader{}}
	switch {
	case v.Push:
		f.Kind = KindPush
	case v.SQL != "":
		f.Kind = KindSQL
		g.tables(f, v)
	default:
		g.expression(f, &v.Features[i], lookback)
	}
	return f
}

func refOf(v *features.View, i int) string { return v.Ref() + ":" + v.Features[i].Name }

// read is the entry of a metric, made where there is none.
func (f *Feature) read(g *Graph, metric string) *Read {
	for i := range f.Reads {
		if f.Reads[i].Metric == metric {
			return &f.Reads[i]
		}
	}
	f.Reads = append(f.Reads, Read{Metric: metric, Origins: g.originsOf(metric)})
	return &f.Reads[len(f.Reads)-1]
}

func (g *Graph) originsOf(metric string) []Origin {
	list := []Origin{}
	for _, o := range g.origins[metric] {
		x := Origin{Exporter: o.Exporter, Vendor: o.Vendor, Metric: o.Exposed(), Way: string(o.Way)}
		if o.Metric != nil {
			x.Unit = o.Unit
			if o.Way == catalog.ByName && (o.Scale != 1 || o.Offset != 0) {
				x.Convert = conversion(o.Scale, o.Offset)
			}
		}
		list = append(list, x)
	}
	return list
}

func conversion(scale, offset float64) string {
	text := fmt.Sprintf("× %g", scale)
	if offset != 0 {
		text += fmt.Sprintf(" + %g", offset)
	}
	return text
}

// readers notes at each feature the services that read it, and at what their SQL features are
// made of, those too.
func (g *Graph) readers() {
	for _, s := range g.set.Services {
		for place, c := range s.Columns {
			f := g.byRef[c.Ref()]
			f.Services = append(f.Services, Reader{Service: s.Ref(), Place: place, Model: s.Model})
			for _, ref := range f.under {
				under := g.byRef[ref]
				under.Services = append(under.Services, Reader{Service: s.Ref(), Place: place, Model: s.Model, Through: f.Ref})
			}
		}
	}
	for _, f := range g.order {
		slices.SortStableFunc(f.Services, func(a, b Reader) int {
			return cmp.Or(strings.Compare(a.Service, b.Service), a.Place-b.Place)
		})
	}
}
