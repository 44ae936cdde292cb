package wire

// Label is one label of a series.
type Label struct{ Name, Value string }

// MetricType is the metadata type of a series, with the numbers of
// io.prometheus.write.v2.Metadata.MetricType.
type MetricType uint8

// The metric types of Remote-Write 2.0.
const (
	TypeUnknown MetricType = iota
	TypeCounter
	TypeGauge
	TypeHistogram
	TypeGaugeHistogram
	TypeSummary
	TypeInfo
	TypeStateSet
)

// SeriesDef describes one series of a scrape. Labels are sorted by name and include
// __name__.
type SeriesDef struct {
	Labels []Label
	Type   MetricType
	Unit   string
	Help   string
}
