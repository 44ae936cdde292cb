package catalog

import (
	"cmp"
	"slices"
)

// Way says how exposed series become canonical ones.
type Way string

// The ways.
const (
	ByName   Way = "name"   // the row's own series, under the canonical name
	ByEvents Way = "events" // the pipeline sees the row's value change, and writes what happened
	ByLabels Way = "labels" // the labels of all series of a device tell of it: one series of facts
)

// Origin is what an exporter contributes to a canonical metric.
type Origin struct {
	*Metric  // the row; nil where Way is ByLabels
	Exporter string
	Vendor   string // "" for sources that are no vendor's
	Way      Way
}

// Exposed is the name that the exporter gives the metric; "" where no single one is meant.
func (o Origin) Exposed() string {
	if o.Metric == nil {
		return ""
	}
	return o.Name
}

// Origins is, for each canonical metric, what it is made of, by exporter and exposed name. A
// derived metric has the rows whose events it tells of beside its own.
func (c *Catalog) Origins() map[string][]Origin {
	out := map[string][]Origin{}
	for _, m := range c.Metrics() {
		out[m.Canonical] = append(out[m.Canonical], Origin{m, m.Source, m.Vendor, ByName})
		if m.Events != "" {
			for _, name := range []string{m.Events, LastOf(m.Events)} {
				out[name] = append(out[name], Origin{m, m.Source, m.Vendor, ByEvents})
			}
		}
	}
	c.labelOrigins(out)
	for name, list := range out {
		slices.SortStableFunc(list, func(a, b Origin) int {
			return cmp.Or(cmp.Compare(a.Exporter, b.Exporter), cmp.Compare(a.Exposed(), b.Exposed()))
		})
		out[name] = slices.CompactFunc(list, func(a, b Origin) bool {
			return a.Exporter == b.Exporter && a.Exposed() == b.Exposed() && a.Way == b.Way
		})
	}
	return out
}

// labelOrigins adds the metrics of facts and owners, as Page.infos makes them: of every source
// with devices, and where its labels can say so much.
func (c *Catalog) labelOrigins(out map[string][]Origin) {
	for _, s := range c.sources {
		if len(s.uid)+len(s.places) == 0 {
			continue
		}
		suffixes := []string{deviceInfo}
		if len(s.slice) > 0 {
			suffixes = append(suffixes, sliceInfo)
		}
		if len(s.owner) > 0 {
			suffixes = append(suffixes, ownerInfo)
		}
		for _, suffix := range suffixes {
			out[s.class+suffix] = append(out[s.class+suffix], Origin{nil, s.name, s.vendor, ByLabels})
		}
	}
}
