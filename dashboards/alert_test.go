package dashboards

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	promparser "github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"go.yaml.in/yaml/v3"
)

const (
	grafanaAlerts   = "../deploy/grafana/provisioning/alerting/sextant.yaml"
	prometheusRules = "../deploy/prometheus/sextant.rules.yaml"
)

// TestGeneratedAlerts wants the files of rules in the repository to be what the code says.
func TestGeneratedAlerts(t *testing.T) {
	for path, write := range map[string]func() ([]byte, error){grafanaAlerts: GrafanaAlerts, prometheusRules: PrometheusRules} {
		text, err := write()
		if err != nil {
			t.Fatal(err)
		}
		compare(t, path, text)
	}
}

// groups reads the file of Prometheus' rules as Prometheus does.
func groups(t *testing.T) *rulefmt.RuleGroups {
	t.Helper()
	text, err := os.ReadFile(prometheusRules)
	if err != nil {
		t.Fatal(err)
	}
	g, errs := rulefmt.Parse(text, false, model.UTF8Validation, promparser.NewParser(promparser.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	return g
}

func TestPrometheusReadsTheRules(t *testing.T) {
	n := 0
	for _, g := range groups(t).Groups {
		n += len(g.Rules)
	}
	want := 0
	for _, a := range Alerts {
		if a.Expr != "" {
			want++
		}
	}
	if n != want || n < 10 {
		t.Errorf("%d rules, want %d", n, want)
	}
}

// TestGrafanaAlertsAreWhole reads the file as Grafana does: each rule has a uid of at most 40
// characters, a condition among its steps, and the data sources that are provisioned.
func TestGrafanaAlertsAreWhole(t *testing.T) {
	text, err := os.ReadFile(grafanaAlerts)
	if err != nil {
		t.Fatal(err)
	}
	var f grafanaFile
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		t.Fatal(err)
	}
	uids, rules := map[string]bool{}, 0
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			rules++
			if len(r.UID) > 40 || uids[r.UID] || r.Condition != r.Data[1].RefID {
				t.Errorf("%s: uid %s, condition %s", r.Title, r.UID, r.Condition)
			}
			uids[r.UID] = true
			if u := r.Data[0].DatasourceUID; u != ClickHouseUID && u != PrometheusUID {
				t.Errorf("%s asks %s", r.Title, u)
			}
			if _, err := time.ParseDuration(r.For); err != nil {
				t.Errorf("%s: %v", r.Title, err)
			}
		}
	}
	if rules != len(Alerts) {
		t.Errorf("%d rules, want %d", rules, len(Alerts))
	}
}

// TestRunbook wants a section for each alert, and none that is left over.
func TestRunbook(t *testing.T) {
	text, err := os.ReadFile("../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(string(text), -1) {
		sections[m[1]] = true
	}
	for _, a := range Alerts {
		if !sections[a.Name] {
			t.Errorf("docs/alerts.md does not tell what to do about %s", a.Name)
		}
		delete(sections, a.Name)
	}
	for name := range sections {
		t.Errorf("docs/alerts.md tells of %s, which is no alert", name)
	}
}

// metricName is a metric of the programs in PromQL.
var metricName = regexp.MustCompile(`\bsextant_[a-z_]+`)

// TestMetricsExist wants each metric of the programs that a rule or a panel names to be
// defined in the source: its name in one string, or its namespace, subsystem and name in
// strings of one package.
func TestMetricsExist(t *testing.T) {
	names := map[string]string{}
	for _, a := range Alerts {
		for _, m := range metricName.FindAllString(a.Expr, -1) {
			names[m] = a.Name
		}
	}
	files, err := filepath.Glob(generated + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metricName.FindAllString(string(text), -1) {
			names[m] = f
		}
	}
	if len(names) < 25 {
		t.Fatalf("only %d metrics are named", len(names))
	}
	packages := stringsOfPackages(t)
	for name, where := range names {
		if !defined(packages, name) {
			t.Errorf("%s names %s, which no program has", where, name)
		}
	}
	for _, wrong := range []string{"sextant_spool_filling", "sextant_ship_fullness", "sextant_pipeline_lag_records"} {
		if defined(packages, wrong) {
			t.Errorf("%s is said to exist", wrong)
		}
	}
}

// defined says whether some package makes a metric of this name.
func defined(packages []map[string]bool, name string) bool {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if short, ok := strings.CutSuffix(name, suffix); ok && defined(packages, short) {
			return true
		}
	}
	for _, p := range packages {
		if p[name] {
			return true
		}
		for _, namespace := range []string{"sextant", "sextant_agent"} {
			rest, ok := strings.CutPrefix(name, namespace+"_")
			if !ok || !p[namespace] {
				continue
			}
			if p[rest] {
				return true
			}
			for i, c := range rest {
				if c == '_' && p[rest[:i]] && p[rest[i+1:]] {
					return true
				}
			}
		}
	}
	return false
}

// stringsOfPackages are the string literals of each package that uses client_golang.
func stringsOfPackages(t *testing.T) []map[string]bool {
	t.Helper()
	by := map[string]map[string]bool{}
	for _, root := range []string{"../cmd", "../collectors", "../features", "../internal", "../pipeline"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, i := range f.Imports {
				if i.Path.Value == `"github.com/prometheus/client_golang/prometheus"` {
					add(by, filepath.Dir(path), f)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var out []map[string]bool
	for _, p := range by {
		out = append(out, p)
	}
	return out
}

func add(by map[string]map[string]bool, dir string, f *ast.File) {
	if by[dir] == nil {
		by[dir] = map[string]bool{}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil {
				by[dir][s] = true
			}
		}
		return true
	})
}

// TestAlertsFire runs each rule of Prometheus over series that a fault makes, and over those
// of a sound system, by Prometheus' own engine and rule evaluation.
func TestAlertsFire(t *testing.T) {
	text, err := os.ReadFile("testdata/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []alertCase
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&cases); err != nil {
		t.Fatal(err)
	}
	fired, silent := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t, fired, silent) })
	}
	for _, a := range Alerts {
		if a.Expr != "" && (!fired[a.Name] || !silent[a.Name]) {
			t.Errorf("%s: fired in a case: %v, silent in one with its series: %v", a.Name, fired[a.Name], silent[a.Name])
		}
	}
}

// alertCase is a script: series in the notation of promtool's unit tests, and the alerts that
// fire at a time, with their labels.
type alertCase struct {
	Name   string
	Series map[string]string
	At     model.Duration
	Fire   []map[string]string // alert: name, and the labels that it must have
	Silent []string            // alerts that must not fire
}

func (c alertCase) run(t *testing.T, fired, silent map[string]bool) {
	var load strings.Builder
	load.WriteString("load 1m\n")
	for series, values := range c.Series {
		fmt.Fprintf(&load, "  %s %s\n", series, values)
	}
	s, err := promqltest.NewLazyLoader(load.String(), promqltest.LazyLoaderOpts{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := firing(t, s, time.Duration(c.At))
	for _, want := range c.Fire {
		if !contains(got[want["alert"]], want) {
			t.Errorf("%v does not fire; %v do", want, got)
		}
		fired[want["alert"]] = true
	}
	for _, name := range c.Silent {
		if len(got[name]) > 0 {
			t.Errorf("%s fires: %v", name, got[name])
		}
		silent[name] = true
	}
}

// firing evaluates all rules once a minute up to a time, and returns what fires then.
func firing(t *testing.T, s *promqltest.LazyLoader, at time.Duration) map[string][]labels.Labels {
	t.Helper()
	out := map[string][]labels.Labels{}
	var made []*rules.AlertingRule
	p := promparser.NewParser(promparser.Options{})
	for _, a := range Alerts {
		if a.Expr == "" {
			continue
		}
		e, err := p.ParseExpr(fmt.Sprintf("%s %s %v", a.Expr, a.Op, a.At))
		if err != nil {
			t.Fatalf("%s: %v", a.Name, err)
		}
		hold, _ := time.ParseDuration(a.lasting())
		made = append(made, rules.NewAlertingRule(a.Name, e, hold, 0, labels.FromStrings("severity", a.Severity),
			labels.FromStrings("summary", a.Summary), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler)))
	}
	for now := time.Duration(0); now <= at; now += time.Minute {
		ts := time.Unix(0, 0).Add(now).UTC()
		s.WithSamplesTill(ts, func(err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range made {
				if _, err := r.Eval(context.Background(), 0, ts, rules.EngineQueryFunc(s.QueryEngine(), s.Storage()), &url.URL{}, 0); err != nil {
					t.Fatalf("%s: %v", r.Name(), err)
				}
			}
		})
	}
	for _, r := range made {
		for _, a := range r.ActiveAlerts() {
			if a.State == rules.StateFiring {
				out[r.Name()] = append(out[r.Name()], a.Labels)
				if strings.Contains(a.Annotations.Get("summary"), "no value") {
					t.Errorf("%s: its summary is %s", r.Name(), a.Annotations.Get("summary"))
				}
			}
		}
	}
	return out
}

func contains(alerts []labels.Labels, want map[string]string) bool {
	for _, l := range alerts {
		all := true
		for name, value := range want {
			all = all && (name == "alert" || l.Get(name) == value)
		}
		if all {
			return true
		}
	}
	return false
}
