package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// annotation marks events on every chart of a dashboard. Its query gives time, text and tags.
type annotation struct {
	name, color string
	sql         string // section of annotations.sql
}

var (
	faults         = annotation{"Device faults", bad, "faults"}
	nodeFaults     = annotation{"Device faults", bad, "node_faults"}
	brokenPromises = annotation{"Broken promises", warn, "promises"}
	nodePromises   = annotation{"Broken promises", warn, "node_promises"}
)

func (a annotation) build(q queries) cog.Builder[dashboard.AnnotationQuery] {
	return dashboard.NewAnnotationQueryBuilder().Name(a.name).Enable(true).Hide(false).IconColor(a.color).
		Datasource(*source(ClickHouseType, "${clickhouse}")).
		Target(newQuery("${clickhouse}", "annotation", q.get(a.sql), FormatTable))
}
