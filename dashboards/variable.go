package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// A variable is one choice at the top of a dashboard.
type variable func() cog.Builder[dashboard.VariableModel]

// Variables. Their queries do not depend on each other: a choice of many values reaches
// another variable's query as its first value only.
var (
	clusters = many("cluster", "Cluster", "Clusters of tasks. The inventory knows no clusters.",
		"SELECT DISTINCT cluster FROM cluster_business WHERE $__timeFilter(tick) ORDER BY cluster")
	nodes   = many("node", "Node", "Nodes that ever sent something.", "SELECT DISTINCT toString(node) AS node FROM agents ORDER BY node")
	vendors = many("vendor", "Vendor", "Makers of accelerators, by the inventory.", "SELECT DISTINCT vendor FROM devices ORDER BY vendor")
	models  = many("model", "Model", "Models of accelerators, by the inventory.", "SELECT DISTINCT model FROM devices ORDER BY model")
	tenants = many("tenant", "Tenant", "Tenants with tasks in the time range.",
		"SELECT DISTINCT tenant FROM tenant_business WHERE $__timeFilter(tick) ORDER BY tenant")
	queueNames = many("queue", "Queue", "Queues with tasks in the time range.",
		"SELECT DISTINCT queue FROM queue_business WHERE $__timeFilter(tick) ORDER BY queue")
	oneNode = queried("node", "Node", "The node that is shown.", "SELECT DISTINCT toString(node) AS node FROM agents ORDER BY node")
)

// queried is a choice of one value of a query.
func queried(name, label, about, sql string) variable { return query(name, label, about, sql, false) }

// many is a choice of some values of a query, or of all.
func many(name, label, about, sql string) variable { return query(name, label, about, sql, true) }

func query(name, label, about, sql string, multi bool) variable {
	return func() cog.Builder[dashboard.VariableModel] {
		b := dashboard.NewQueryVariableBuilder(name).Label(label).Description(about).
			Datasource(*source(ClickHouseType, "${clickhouse}")).Query(dashboard.StringOrMap{String: &sql}).Definition(sql).
			Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortNaturalAsc).Multi(multi).IncludeAll(multi)
		if multi {
			b.Current(dashboard.VariableOption{
				Selected: cog.ToPtr(true),
				Text:     dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
				Value:    dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
			})
		}
		return b
	}
}

// simulated chooses between hardware that exists and hardware that does not.
func simulated() cog.Builder[dashboard.VariableModel] {
	options := make([]dashboard.VariableOption, 0, 3)
	for i, o := range [][2]string{{"All", "all"}, {"Real", "no"}, {"Simulated", "yes"}} {
		options = append(options, dashboard.VariableOption{Selected: cog.ToPtr(i == 0),
			Text: dashboard.StringOrArrayOfString{String: &o[0]}, Value: dashboard.StringOrArrayOfString{String: &o[1]}})
	}
	return dashboard.NewCustomVariableBuilder("simulated").Label("Hardware").Description("Real hardware, simulated, or both.").
		Values(dashboard.StringOrMap{String: cog.ToPtr("All : all, Real : no, Simulated : yes")}).Options(options).Current(options[0])
}

// sourceVariable chooses a data source of a kind, so that a dashboard fits any Grafana.
func sourceVariable(name, label, kind, preferred, uid string) cog.Builder[dashboard.VariableModel] {
	return dashboard.NewDatasourceVariableBuilder(name).Label(label).Type(kind).Current(dashboard.VariableOption{
		Selected: cog.ToPtr(true),
		Text:     dashboard.StringOrArrayOfString{String: &preferred},
		Value:    dashboard.StringOrArrayOfString{String: &uid},
	})
}
