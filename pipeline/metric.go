package pipeline

// Metric is what the catalogue says of one source metric.
type Metric struct {
	Name, Canonical, Unit, Kind string
	Scale                       float64
	Blank                       []float64
}

// Catalog maps source names.
type Catalog interface {
	Lookup(name string) (*Metric, bool)
}

type noCatalog struct{}

func (noCatalog) Lookup(string) (*Metric, bool) { return nil, false }
