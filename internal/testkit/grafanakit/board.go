package grafanakit

import (
	"fmt"
	"os"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"

	"sextant/dashboards"
)

// A Question is one query of a dashboard, and what becomes of its answer.
type Question struct {
	Name    string // dashboard, panel or variable
	Kind    string // type of the panel; "variable" or "annotation"
	SQL     string // before anything is expanded
	PromQL  string // in place of SQL
	Label   string // column that names the series
	Columns []string
}

// Board is a dashboard as its file says it.
type Board struct {
	Name      string
	Variables map[string]bool // whether a choice of many values
	Questions []Question
}

// Load reads the file of a dashboard, strictly.
func Load(path string) (*Board, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d, err := dashboards.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b := &Board{Name: *d.Title, Variables: map[string]bool{}}
	for _, v := range d.Templating.List {
		b.Variables[v.Name] = v.Multi != nil && *v.Multi
		if v.Type == dashboard.VariableTypeQuery {
			b.Questions = append(b.Questions, Question{Name: b.Name + ": variable " + v.Name, Kind: "variable", SQL: *v.Query.String})
		}
	}
	for _, a := range d.Annotations.List {
		if q, ok := a.Target.(dashboards.Query); ok {
			b.Questions = append(b.Questions, Question{Name: b.Name + ": annotation " + a.Name, Kind: "annotation", SQL: q.RawSQL})
		}
	}
	for _, p := range d.Panels {
		if p.Panel == nil {
			continue
		}
		if err := b.panel(p.Panel); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return b, nil
}

func (b *Board) panel(p *dashboard.Panel) error {
	if len(p.Targets) == 0 {
		return fmt.Errorf("panel %s asks nothing", *p.Title)
	}
	for _, t := range p.Targets {
		q := Question{Name: b.Name + ": " + *p.Title, Kind: p.Type, Label: label(p), Columns: columns(p)}
		switch t := t.(type) {
		case dashboards.Query:
			q.SQL = t.RawSQL
			if format := map[bool]int{true: dashboards.FormatTimeSeries, false: dashboards.FormatTable}[p.Type == "timeseries"]; t.Format != format {
				return fmt.Errorf("panel %s: format %d of a %s", *p.Title, t.Format, p.Type)
			}
		case *prometheus.Dataquery:
			q.PromQL = t.Expr
		case prometheus.Dataquery:
			q.PromQL = t.Expr
		default:
			return fmt.Errorf("panel %s: a query of type %T", *p.Title, t)
		}
		b.Questions = append(b.Questions, q)
	}
	return nil
}

// label is the column in the panel's display name, ${__field.labels.NAME}.
func label(p *dashboard.Panel) string {
	if p.FieldConfig == nil || p.FieldConfig.Defaults.DisplayName == nil {
		return ""
	}
	name, ok := strings.CutPrefix(*p.FieldConfig.Defaults.DisplayName, "${__field.labels.")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(name, "}")
}

// columns are those that the panel has overrides for.
func columns(p *dashboard.Panel) []string {
	var out []string
	if p.FieldConfig == nil {
		return nil
	}
	for _, o := range p.FieldConfig.Overrides {
		if name, ok := o.Matcher.Options.(string); ok && o.Matcher.Id == "byName" {
			out = append(out, name)
		}
	}
	return out
}

// Check says whether an answer is what the panel of a question needs.
func (q Question) Check(a *Answer) error {
	for _, c := range a.Meta {
		if !c.IsTime() && !c.IsNumber() && !c.IsText() {
			return fmt.Errorf("the data source may not read column %s of type %s", c.Name, c.Type)
		}
	}
	switch q.Kind {
	case "timeseries":
		return a.CheckTimeSeries(q.Label)
	case "stat":
		return a.CheckNumber()
	case "bargauge":
		return a.CheckBars()
	case "table":
		return a.CheckTable(q.Columns...)
	case "annotation":
		return a.CheckAnnotations()
	case "variable":
		return a.CheckTable()
	case "alert":
		return a.CheckAlert()
	}
	return fmt.Errorf("nobody checks a %s", q.Kind)
}
