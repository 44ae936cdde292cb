package dashboards

import (
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// interval is the least distance of two points of a chart: a tick.
const interval = "10s"

// tag is what all dashboards have in common; the menu at their top lists them by it.
const tag = "sextant"

// A page is one dashboard.
type page struct {
	uid, title, about string
	file              string // of its queries
	from, refresh     string // time range to begin with, and how often it is asked again
	variables         []variable
	annotations       []annotation
	groups            []group
}

// A group is a row of the page with its heading.
type group struct {
	title  string
	panels []panel
}

// Dashboard is a page, ready to be written.
type Dashboard struct {
	File string // of the generated JSON, without the folder
	dashboard.Dashboard
}

// All builds the dashboards, in the order of the menu.
func All() ([]Dashboard, error) {
	var out []Dashboard
	for _, p := range []page{fleet, node, accelerator, tenantsAndQueues, sla, hours, scheduler, featurePage, pipeline} {
		d, err := p.build()
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", p.uid, err)
		}
		out = append(out, Dashboard{File: p.file + ".json", Dashboard: d})
	}
	return out, nil
}

func (p page) build() (dashboard.Dashboard, error) {
	q, marks := loadQueries(p.file), loadQueries("annotations")
	b := dashboard.NewDashboardBuilder(p.title).Uid(p.uid).Description(p.about).Tags([]string{tag}).Editable().
		Tooltip(dashboard.DashboardCursorSyncCrosshair).Time(p.from, "now").Refresh(p.refresh).Timezone(common.TimeZoneBrowser).
		Timepicker(dashboard.NewTimePickerBuilder().RefreshIntervals([]string{"10s", "30s", "1m", "5m", "15m"})).
		Link(dashboard.NewDashboardLinkBuilder("Sextant").Type(dashboard.DashboardLinkTypeDashboards).Tags([]string{tag}).
			AsDropdown(true).KeepTime(true).IncludeVars(true)).
		WithVariable(sourceVariable("clickhouse", "ClickHouse", ClickHouseType, "Sextant", ClickHouseUID))
	if p.asksPrometheus() {
		b.WithVariable(sourceVariable("prometheus", "PromQL", "prometheus", "Sextant PromQL", PrometheusUID))
	}
	for _, v := range p.variables {
		b.WithVariable(v())
	}
	for _, a := range p.annotations {
		b.Annotation(a.build(marks))
	}
	id := uint32(0)
	for _, g := range p.groups {
		id++
		b.WithRow(dashboard.NewRowBuilder(g.title).Id(id))
		for _, x := range g.panels {
			if err := x.check(); err != nil {
				return dashboard.Dashboard{}, err
			}
			id++
			b.WithPanel(x.build(id, q))
		}
	}
	return b.Build()
}

func (p page) asksPrometheus() bool {
	for _, g := range p.groups {
		for _, x := range g.panels {
			if len(x.prom) > 0 {
				return true
			}
		}
	}
	return false
}

// Encode writes a dashboard as the file that Grafana is provisioned with.
func Encode(d dashboard.Dashboard) ([]byte, error) {
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}
