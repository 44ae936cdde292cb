package lineage

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sextant/features"
	"sextant/schema/catalog"
)

const measured = `
view: measured
version: 1
entity: node
tier: monitoring
interval: 10s
ttl: 1m
owner: tests
description: Measured.
features:
  - {name: heat, dtype: float32, unit: celsius, description: Heat., expr: 'max by (node) (accel_temp_celsius{slice=""})'}
  - {name: watts, dtype: float32, unit: watts, description: Watts., expr: 'max by (node) (max_over_time(accel_power_watts[5m])) / max by (node) (accel_power_watts offset 1m)'}
  - {name: many, dtype: float32, description: Many., expr: 'count by (node) ({__name__=~"accel_fault_(events|last_seconds)"})'}
  - {name: idle, dtype: float32, description: Not read., expr: 'max by (node) (nobody_exposes_this)'}
`

const spread = `
view: spread
version: 1
entity: cluster
tier: business
interval: 10s
ttl: 1m
owner: tests
description: Over nodes.
sql: |
  SELECT 'all' AS cluster, m.heat AS heat_max, t.n AS tasks
  FROM (SELECT max(heat) AS heat FROM {db}.measured WHERE tick = {tick:DateTime64(3)} AND known <= {known:DateTime64(3)}) AS m
  CROSS JOIN (SELECT count() AS n FROM {tasks}) AS t
features:
  - {name: heat_max, dtype: float32, unit: celsius, description: Highest.}
  - {name: tasks, dtype: int64, unit: count, description: Tasks.}
`

const pushed = `
view: told
version: 1
entity: node
tier: business
interval: 10s
ttl: 1h
owner: tests
description: Told.
source: push
features:
  - {name: score, dtype: float32, description: Score.}
`

const state = `
service: state
version: 2
owner: tests
description: Of all.
model: placement-gnn
width: 3
features: [measured:watts, spread:heat_max, told:score]
`

func graph(t testing.TB) *Graph {
	t.Helper()
	fs := fstest.MapFS{}
	for name, text := range map[string]string{"measured": measured, "spread": spread, "pushed": pushed, "state": state} {
		fs[name+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	set, err := features.Read(features.Source{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return New(set, catalog.Default(), time.Minute)
}

func TestFeatureOfPromQL(t *testing.T) {
	f, err := graph(t).Feature("measured:watts")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Reads) != 1 || f.Kind != KindPromQL || f.Fault != "" {
		t.Fatalf("%+v", f)
	}
	r := f.Reads[0]
	want := []Selector{{"accel_power_watts[5m]", 300}, {"accel_power_watts offset 1m", 120}}
	if r.Metric != "accel_power_watts" || !slices.Equal(r.Selectors, want) {
		t.Errorf("%s by %v, want %v", r.Metric, r.Selectors, want)
	}
	dcgm := Origin{Exporter: "dcgm-exporter", Vendor: "nvidia", Metric: "DCGM_FI_DEV_POWER_USAGE", Way: "name", Unit: "watts"}
	if !slices.Contains(r.Origins, dcgm) {
		t.Errorf("no %+v in %+v", dcgm, r.Origins)
	}
	if want := []Reader{{Service: "state@v2", Model: "placement-gnn"}}; !slices.Equal(f.Services, want) {
		t.Errorf("read by %+v, want %+v", f.Services, want)
	}
}

func TestFeatureBySeveralNames(t *testing.T) {
	f, err := graph(t).Feature("measured@v1:many")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range f.Reads {
		names = append(names, r.Metric)
		if !slices.ContainsFunc(r.Origins, func(o Origin) bool { return o.Way == "events" }) {
			t.Errorf("%s is not made of events: %+v", r.Metric, r.Origins)
		}
	}
	if fmt.Sprint(names) != "[accel_fault_events accel_fault_last_seconds]" {
		t.Errorf("reads %q", names)
	}
}

func TestFeatureOfSQL(t *testing.T) {
	g := graph(t)
	f, err := g.Feature("spread:heat_max")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Reads) != 1 || f.Reads[0].Metric != "accel_temp_celsius" || fmt.Sprint(f.Reads[0].Through) != "[measured@v1:heat]" || len(f.Reads[0].Origins) == 0 {
		t.Errorf("reads %+v", f.Reads)
	}
	text, _ := json.Marshal(f.Tables)
	want := `[{"name":"measured","view":"measured@v1","features":["heat"]},{"name":"tasks_at"},{"name":"task_log","through":"tasks_at"}]`
	if string(text) != want {
		t.Errorf("tables %s, want %s", text, want)
	}
	under, err := g.Feature("measured:heat")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Reader{Service: "state@v2", Place: 1, Model: "placement-gnn", Through: "spread@v1:heat_max"}); !slices.Contains(under.Services, want) {
		t.Errorf("heat is read by %+v, want %+v among them", under.Services, want)
	}
}

func TestMetricAndService(t *testing.T) {
	g := graph(t)
	m, err := g.Metric("accel_temp_celsius")
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, f := range m.Features {
		refs = append(refs, f.Ref)
	}
	if fmt.Sprint(refs) != "[measured@v1:heat spread@v1:heat_max spread@v1:tasks]" {
		t.Errorf("read by %q", refs)
	}
	if m, err := g.Metric("nobody_exposes_this"); err != nil || len(m.Origins) != 0 || len(m.Features) != 1 {
		t.Errorf("a metric that no exporter has: %+v, %v", m, err)
	}
	s, err := g.Service("state")
	if err != nil || s.Ref != "state@v2" || s.Model != "placement-gnn" || len(s.Features) != 3 || s.Features[2].Kind != KindPush {
		t.Errorf("service: %+v, %v", s, err)
	}
}

func TestUnknownNames(t *testing.T) {
	g := graph(t)
	_, feature := g.Feature("measured:nothing")
	_, view := g.Feature("nothing:heat")
	_, bare := g.Feature("heat")
	_, metric := g.Metric("no_such_metric")
	_, exposed := g.Metric("DCGM_FI_DEV_POWER_USAGE")
	_, service := g.Service("nothing")
	for want, err := range map[string]error{
		`view measured@v1 has no feature "nothing"`: feature, `view "nothing" is not defined`: view,
		`"heat" has no view: want view:feature`:                                            bare,
		`metric "no_such_metric" is not in the catalogue, and no feature reads it`:         metric,
		`metric "DCGM_FI_DEV_POWER_USAGE" of dcgm-exporter is stored as accel_power_watts`: exposed,
		`service "nothing" is not defined`:                                                 service,
	} {
		if u := (*Unknown)(nil); !errors.As(err, &u) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Every feature that comes with the program leads to something that is measured or told: to
// metrics of the catalogue, or to tables of the store.
func TestBuiltinLineageIsWhole(t *testing.T) {
	set, err := features.Read(features.BuiltinSource())
	if err != nil {
		t.Fatal(err)
	}
	g := New(set, catalog.Default(), time.Minute)
	if len(g.All()) < 100 {
		t.Fatalf("%d features", len(g.All()))
	}
	for _, f := range g.All() {
		if f.Fault != "" || len(f.Reads) == 0 && len(f.Tables) == 0 {
			t.Errorf("%s leads to nothing: %s\n%s", f.Ref, f.Fault, f.Expression)
		}
		for _, r := range f.Reads {
			if len(r.Origins) == 0 {
				t.Errorf("%s reads %s, which no exporter of the catalogue has", f.Ref, r.Metric)
			}
			if !strings.Contains(f.Expression, r.Metric) && len(r.Through) == 0 && !strings.Contains(f.Expression, "__name__") {
				t.Errorf("%s does not name %s: %s", f.Ref, r.Metric, f.Expression)
			}
		}
	}
}
