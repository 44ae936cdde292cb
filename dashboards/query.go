package dashboards

import (
	"bytes"
	"encoding/json"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
)

// ClickHouseType is the id of the data source plugin.
const ClickHouseType = "grafana-clickhouse-datasource"

// Formats of the answer to a Query.
const (
	FormatTimeSeries = 0 // columns: time, then labels (strings) and values (numbers), by time
	FormatTable      = 1
)

// Query is a query of the ClickHouse data source, as its SQL editor stores it.
type Query struct {
	RefID      string                `json:"refId"`
	Datasource *common.DataSourceRef `json:"datasource,omitempty"`
	EditorType string                `json:"editorType"`
	QueryType  string                `json:"queryType"`
	Format     int                   `json:"format"`
	RawSQL     string                `json:"rawSql"`
}

// newQuery asks the data source of a uid, which may be a variable.
func newQuery(uid, refID, sql string, format int) *Query {
	kind := "table"
	if format == FormatTimeSeries {
		kind = "timeseries"
	}
	return &Query{RefID: refID, Datasource: source(ClickHouseType, uid), EditorType: "sql", QueryType: kind, Format: format, RawSQL: sql}
}

func source(kind, uid string) *common.DataSourceRef {
	return &common.DataSourceRef{Type: &kind, Uid: &uid}
}

// Build implements cog.Builder: a query is its own builder.
func (q *Query) Build() (variants.Dataquery, error) { return *q, nil }

// ImplementsDataqueryVariant marks a query for the SDK.
func (Query) ImplementsDataqueryVariant() {}

// DataqueryType is the plugin that a query is of.
func (Query) DataqueryType() string { return ClickHouseType }

// Validate implements variants.Dataquery.
func (Query) Validate() error { return nil }

// Equals compares two queries, data sources by what they name.
func (q Query) Equals(other variants.Dataquery) bool {
	o, ok := other.(Query)
	if !ok {
		return false
	}
	a, errA := json.Marshal(q)
	b, errB := json.Marshal(o)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// Register makes the SDK able to read dashboards back, those of this package among them.
// An unknown key of a query is an error.
func Register() {
	plugins.RegisterDefaultPlugins()
	read := func(raw []byte) (variants.Dataquery, error) {
		var q Query
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err := d.Decode(&q)
		return q, err
	}
	cog.NewRuntime().RegisterDataqueryVariant(variants.DataqueryConfig{
		Identifier: ClickHouseType, DataqueryUnmarshaler: read, StrictDataqueryUnmarshaler: read})
}

// Uids of the data sources that are provisioned with the dashboards.
const (
	ClickHouseUID = "sextant"
	PrometheusUID = "sextant-promql"
)
