package dashboards

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// A kind is how a panel draws its answer.
type kind int

const (
	series kind = iota // lines over time
	number             // one large number
	rows               // a table
	bars               // a bar for each row
)

// A panel is what is asked, and how the answer looks.
type panel struct {
	kind  kind
	title string
	about string // what it shows, and what to make of it
	width uint32 // of 24
	tall  uint32 // 0: as its kind usually is

	sql  string   // section of the dashboard's file
	prom []metric // or PromQL

	unit   string
	max    float64 // of the axis; 0: none
	steps  []step
	label  string // column that names the series; empty: the columns of values do
	link   *link  // of each series, or of each row of bars
	stack  bool
	counts bool    // values are counts of a step, drawn as columns
	signed bool    // values may be below 0
	lines  bool    // the thresholds are drawn as lines
	fields []field // columns of a table
}

// A metric is a PromQL query and the name of its series.
type metric struct{ expr, legend string }

// A field is how a column of a table looks.
type field struct {
	name  string
	unit  string
	steps []step
	link  *link
}

// Units of Grafana.
const (
	ratio    = "percentunit"
	byteSize = "bytes"
	rate     = "binBps"
	seconds  = "s"
	watts    = "watt"
	celsius  = "celsius"
	count    = "short"
	perSec   = "cps"
	when     = "dateTimeFromNow"
	instant  = "dateTimeAsIso"
)

// build makes the SDK's panel. interval is the least distance of two points.
func (p panel) build(id uint32, q queries) cog.Builder[dashboard.Panel] {
	targets := p.targets(q)
	switch p.kind {
	case number:
		return p.number(id, targets)
	case rows:
		return p.table(id, targets)
	case bars:
		return p.bars(id, targets)
	case series:
	}
	return p.lineChart(id, targets)
}

// datasource is the variable that the panel's data source is in.
func (p panel) datasource() *common.DataSourceRef {
	if len(p.prom) > 0 {
		return source("prometheus", "${prometheus}")
	}
	return source(ClickHouseType, "${clickhouse}")
}

func (p panel) targets(q queries) []cog.Builder[variants.Dataquery] {
	if len(p.prom) == 0 {
		format := FormatTable
		if p.kind == series {
			format = FormatTimeSeries
		}
		return []cog.Builder[variants.Dataquery]{newQuery("${clickhouse}", "A", q.get(p.sql), format)}
	}
	var out []cog.Builder[variants.Dataquery]
	for i, m := range p.prom {
		b := prometheus.NewDataqueryBuilder().RefId(string(rune('A' + i))).Datasource(*p.datasource()).Expr(m.expr).LegendFormat(m.legend)
		if p.kind == series {
			b.Range()
		} else {
			b.Instant()
		}
		out = append(out, b)
	}
	return out
}

func (p panel) lineChart(id uint32, targets []cog.Builder[variants.Dataquery]) cog.Builder[dashboard.Panel] {
	b := timeseries.NewPanelBuilder().Id(id).Title(p.title).Description(p.about).Datasource(*p.datasource()).
		Span(p.width).Height(cmp.Or(p.tall, 8)).Targets(targets).Interval(interval).Unit(p.unit).
		ShowPoints(common.VisibilityModeNever).SpanNulls(common.BoolOrFloat64{Bool: cog.ToPtr(false)}).LineWidth(1).
		Thresholds(thresholds(defaultSteps(p.steps))).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeTable).
			Placement(common.LegendPlacementBottom).Calcs([]string{"mean", "max", "lastNotNull"})).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	if !p.signed {
		b.Min(0)
	}
	if p.max > 0 {
		b.Max(p.max)
	}
	if p.counts {
		b.DrawStyle(common.GraphDrawStyleBars).FillOpacity(60)
	}
	if p.label != "" {
		b.DisplayName("${__field.labels." + p.label + "}")
	}
	if p.stack {
		b.Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
		if !p.counts {
			b.FillOpacity(30)
		}
	}
	if p.lines {
		b.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
	}
	if p.link != nil {
		b.DataLinks(p.link.builders("${__field.labels." + p.label + "}"))
	}
	return b
}

func (p panel) number(id uint32, targets []cog.Builder[variants.Dataquery]) cog.Builder[dashboard.Panel] {
	b := stat.NewPanelBuilder().Id(id).Title(p.title).Description(p.about).Datasource(*p.datasource()).
		Span(p.width).Height(cmp.Or(p.tall, 4)).Targets(targets).Unit(p.unit).Thresholds(thresholds(defaultSteps(p.steps))).
		ColorMode(common.BigValueColorModeValue).GraphMode(common.BigValueGraphModeNone).TextMode(common.BigValueTextModeValue).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}).Values(false))
	if p.link != nil {
		b.DataLinks(p.link.builders(""))
	}
	return b
}

func (p panel) bars(id uint32, targets []cog.Builder[variants.Dataquery]) cog.Builder[dashboard.Panel] {
	b := bargauge.NewPanelBuilder().Id(id).Title(p.title).Description(p.about).Datasource(*p.datasource()).
		Span(p.width).Height(cmp.Or(p.tall, 8)).Targets(targets).Unit(p.unit).Min(0).Thresholds(thresholds(defaultSteps(p.steps))).
		Orientation(common.VizOrientationHorizontal).DisplayMode(common.BarGaugeDisplayModeBasic).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}).Values(true).Limit(50))
	if p.link != nil {
		b.DataLinks(p.link.builders("${__data.fields[0]}"))
	}
	return b
}

func (p panel) table(id uint32, targets []cog.Builder[variants.Dataquery]) cog.Builder[dashboard.Panel] {
	b := table.NewPanelBuilder().Id(id).Title(p.title).Description(p.about).Datasource(*p.datasource()).
		Span(p.width).Height(cmp.Or(p.tall, 10)).Targets(targets).Filterable(true).Thresholds(thresholds(neutral)).
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{"sum"}))
	for _, f := range p.fields {
		b.OverrideByName(f.name, f.properties())
	}
	return b
}

func defaultSteps(s []step) []step {
	if len(s) == 0 {
		return neutral
	}
	return s
}

// properties are the overrides of a column.
func (f field) properties() []dashboard.DynamicConfigValue {
	var out []dashboard.DynamicConfigValue
	add := func(id string, v any) { out = append(out, dashboard.DynamicConfigValue{Id: id, Value: v}) }
	if f.unit != "" {
		add("unit", f.unit)
	}
	if f.steps != nil {
		add("thresholds", dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: thresholdSteps(f.steps)})
		add("custom.cellOptions", map[string]any{"type": "color-text"})
	}
	if f.link != nil {
		add("links", []map[string]any{{"title": f.link.title, "url": f.link.url("${__value.raw}")}})
	}
	return out
}

// check says what is wrong with a panel, in the words of a developer.
func (p panel) check() error {
	switch {
	case p.title == "" || p.about == "" || p.width == 0 || p.width > 24:
		return fmt.Errorf("panel %q: a title, a description and a width of 1 to 24", p.title)
	case (p.sql == "") == (len(p.prom) == 0):
		return fmt.Errorf("panel %q: one of SQL and PromQL", p.title)
	case p.kind != rows && p.unit == "":
		return fmt.Errorf("panel %q: a unit", p.title)
	case p.kind == rows && !slices.ContainsFunc(p.fields, func(f field) bool { return f.unit != "" || f.link != nil }):
		return fmt.Errorf("panel %q: units or links of its columns", p.title)
	}
	return nil
}
