package dashboards

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// A link goes to another dashboard, with the time range and one variable set.
type link struct {
	title, uid string
	variable   string // that gets the value that was clicked; empty: none
}

// Links to dashboards, by what is clicked.
var (
	toNode      = &link{"Node", "sextant-node", "node"}
	toVendor    = &link{"Accelerators of this vendor", "sextant-accelerators", "vendor"}
	toModel     = &link{"Accelerators of this model", "sextant-accelerators", "model"}
	toTenant    = &link{"Tenant", "sextant-tenants", "tenant"}
	toQueue     = &link{"Queue", "sextant-tenants", "queue"}
	toPromises  = &link{"Broken promises", "sextant-sla", ""}
	toTenantSLA = &link{"Broken promises of this tenant", "sextant-sla", "tenant"}
	toPipeline  = &link{"Pipeline", "sextant-pipeline", ""}
	toScheduler = &link{"Scheduler", "sextant-scheduler", ""}
	toAll       = &link{"Accelerators", "sextant-accelerators", ""}
)

// url is the address on the same Grafana. value is what Grafana puts into the variable.
func (l *link) url(value string) string {
	u := "/d/" + l.uid + "/?${__url_time_range}"
	if l.variable != "" {
		u += "&var-" + l.variable + "=" + escaped(value)
	}
	return u
}

// escaped has Grafana escape the value for a URL.
func escaped(value string) string { return strings.TrimSuffix(value, "}") + ":percentencode}" }

func (l *link) builders(value string) []cog.Builder[dashboard.DashboardLink] {
	return []cog.Builder[dashboard.DashboardLink]{
		dashboard.NewDashboardLinkBuilder(l.title).Type(dashboard.DashboardLinkTypeLink).Url(l.url(value)),
	}
}
