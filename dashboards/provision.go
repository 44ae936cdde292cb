package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/expr"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"go.yaml.in/yaml/v3"
)

// written heads each generated file of rules.
const written = "# Written by `make dashboards` from dashboards/alert.go; do not edit. Runbook: docs/alerts.md\n"

// runbook is the section of the runbook for an alert.
func (a Alert) runbook() string { return "docs/alerts.md#" + strings.ToLower(a.Name) }

// grafanaFile is what Grafana reads from provisioning/alerting.
type grafanaFile struct {
	APIVersion int            `yaml:"apiVersion"`
	Groups     []grafanaGroup `yaml:"groups"`
}

type grafanaGroup struct {
	OrgID    int           `yaml:"orgId"`
	Name     string        `yaml:"name"`
	Folder   string        `yaml:"folder"`
	Interval string        `yaml:"interval"`
	Rules    []grafanaRule `yaml:"rules"`
}

type grafanaRule struct {
	UID          string            `yaml:"uid"`
	Title        string            `yaml:"title"`
	Condition    string            `yaml:"condition"`
	Data         []grafanaData     `yaml:"data"`
	For          string            `yaml:"for"`
	NoDataState  string            `yaml:"noDataState"`
	ExecErrState string            `yaml:"execErrState"`
	Labels       map[string]string `yaml:"labels"`
	Annotations  map[string]string `yaml:"annotations"`
}

type grafanaData struct {
	RefID         string        `yaml:"refId"`
	Range         relativeRange `yaml:"relativeTimeRange"`
	DatasourceUID string        `yaml:"datasourceUid"`
	Model         any           `yaml:"model"`
}

// relativeRange is in seconds before now.
type relativeRange struct {
	From int `yaml:"from"`
	To   int `yaml:"to"`
}

// GrafanaAlerts is the file of Grafana's alert rules.
func GrafanaAlerts() ([]byte, error) {
	q := loadQueries("alerts")
	f := grafanaFile{APIVersion: 1}
	for _, a := range Alerts {
		r, err := a.grafana(q)
		if err != nil {
			return nil, fmt.Errorf("alert %s: %w", a.Name, err)
		}
		last := len(f.Groups) - 1
		if last < 0 || f.Groups[last].Name != a.Group {
			f.Groups = append(f.Groups, grafanaGroup{OrgID: 1, Name: a.Group, Folder: "Sextant", Interval: "1m"})
			last++
		}
		f.Groups[last].Rules = append(f.Groups[last].Rules, r)
	}
	return encodeYAML(f)
}

// grafana is a rule of two steps: A asks, B compares.
func (a Alert) grafana(q queries) (grafanaRule, error) {
	ask, uid := any(a.promQuery()), PrometheusUID
	if a.SQL != "" {
		ask, uid = newQuery(ClickHouseUID, "A", q.get(a.SQL), FormatTable), ClickHouseUID
	}
	model, err := generic(ask)
	if err != nil {
		return grafanaRule{}, err
	}
	compare, err := generic(a.threshold())
	if err != nil {
		return grafanaRule{}, err
	}
	silent := "OK"
	if a.Absent {
		silent = "Alerting"
	}
	span := relativeRange{From: alertRange}
	return grafanaRule{
		UID: strings.ToLower(a.Name), Title: a.Name, Condition: "B", For: a.lasting(), NoDataState: silent, ExecErrState: "Error",
		Data: []grafanaData{
			{RefID: "A", Range: span, DatasourceUID: uid, Model: model},
			{RefID: "B", Range: span, DatasourceUID: "__expr__", Model: compare},
		},
		Labels:      map[string]string{"severity": a.Severity},
		Annotations: map[string]string{"summary": a.Summary, "runbook": a.runbook(), "__dashboardUid__": a.Page},
	}, nil
}

func (a Alert) promQuery() prometheus.Dataquery {
	instant := true
	return prometheus.Dataquery{RefId: cog.ToPtr("A"), Expr: a.Expr, Instant: &instant, Datasource: source("prometheus", PrometheusUID)}
}

func (a Alert) threshold() *expr.TypeThreshold {
	kind := map[string]expr.ExprTypeThresholdConditionsEvaluatorType{">": "gt", "<": "lt"}[a.Op]
	t := expr.NewTypeThreshold()
	t.RefId, t.Expression, t.Datasource = cog.ToPtr("B"), "A", source("__expr__", "__expr__")
	t.Conditions = []expr.ExprTypeThresholdConditions{{Evaluator: expr.ExprTypeThresholdConditionsEvaluator{Type: kind, Params: []float64{a.At}}}}
	return t
}

func (a Alert) lasting() string {
	if a.For == "" {
		return "0s"
	}
	return a.For
}

// rulesFile is what Prometheus reads.
type rulesFile struct {
	Groups []rulesGroup `yaml:"groups"`
}

type rulesGroup struct {
	Name  string `yaml:"name"`
	Rules []rule `yaml:"rules"`
}

type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// PrometheusRules is the file of Prometheus' rules: the alerts over the programs' metrics.
func PrometheusRules() ([]byte, error) {
	var f rulesFile
	for _, a := range Alerts {
		if a.Expr == "" {
			continue
		}
		last := len(f.Groups) - 1
		if name := "sextant-" + a.Group; last < 0 || f.Groups[last].Name != name {
			f.Groups = append(f.Groups, rulesGroup{Name: name})
			last++
		}
		f.Groups[last].Rules = append(f.Groups[last].Rules, rule{
			Alert: a.Name, Expr: fmt.Sprintf("%s %s %v", a.Expr, a.Op, a.At), For: a.For,
			Labels: map[string]string{"severity": a.Severity}, Annotations: map[string]string{"summary": a.Summary, "runbook": a.runbook()}})
	}
	return encodeYAML(f)
}

// generic is a value as its JSON says it, for a writer of YAML.
func generic(v any) (out any, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(text, &out)
}

func encodeYAML(v any) ([]byte, error) {
	out := bytes.NewBufferString(written)
	e := yaml.NewEncoder(out)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return out.Bytes(), e.Close()
}
