package rules

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sextant/features"
)

const file = `groups:
  - name: node-exporter.rules
    interval: 15s
    rules:
      - record: instance:node_num_cpu:sum
        expr: count by (instance) (node_cpu_seconds_total{mode="idle"})
      - record: instance:node_load1_per_cpu:ratio
        expr: max by (instance) (node_load1) / instance:node_num_cpu:sum
      - record: instance_device:busy:ratio
        expr: max by (instance, device) (busy)
      - alert: HostDown
        expr: up == 0
      - record: job:up:sum
        expr: sum by (job) (up)
      - record: raw
        expr: node_load1
      - record: instance:load:avg5m
        expr: avg_over_time(instance:node_num_cpu:sum[5m])
      - record: instance:far:max
        expr: max by (instance) (max_over_time(x[2h]))
      - record: instance:other:sum
        expr: instance:unknown:sum
      - record: broken
        expr: sum by (
      - record: gpu:temperature:celsius
        expr: max by (instance, uid) (temperature)
  - name: second
    rules:
      - record: cluster:up:sum
        expr: sum by (cluster) (up)
`

func TestImport(t *testing.T) {
	views, skipped, err := Import("r.yml", []byte(file), Options{Owner: "me", Tier: "monitoring", Interval: 10 * time.Second, Rename: map[string]string{"instance": "node"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	files := fstest.MapFS{}
	for _, v := range views {
		for _, f := range v.Features {
			got = append(got, fmt.Sprintf("%s %s %v %s:%s %s %s", v.Interval, v.Entity, v.Keys, v.Name, f.Name, f.Unit, f.Expr))
		}
		files[v.Name+".yaml"] = &fstest.MapFile{Data: []byte(v.YAML())}
	}
	want := []string{
		`20s node [node] node_exporter_rules_node:instance_node_num_cpu_sum none count by (node) (node_cpu_seconds_total{mode="idle"})`,
		`20s node [node] node_exporter_rules_node:instance_node_load1_per_cpu_ratio ratio max by (node) (node_load1) / (count by (node) (node_cpu_seconds_total{mode="idle"}))`,
		`20s device [node uid] node_exporter_rules_device:gpu_temperature_celsius celsius max by (node, uid) (temperature)`,
		`10s cluster [cluster] second_cluster:cluster_up_sum none sum by (cluster) (up)`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if back, err := features.Load(files); err != nil || len(back) != 3 {
		t.Errorf("the output loads %d views: %v", len(back), err)
	}
	reasons := []string{
		"r.yml:9: instance_device:busy:ratio: its result has the labels (device, node), which are the keys of no entity",
		"r.yml:11: HostDown: an alert is no feature",
		"r.yml:13: job:up:sum: its result has the labels (job), which are the keys of no entity",
		"r.yml:15: raw: the labels of its result are not decided by the expression",
		"r.yml:17: instance:load:avg5m: it reads instance:node_num_cpu:sum, which another rule records, and not just its latest value",
		"r.yml:19: instance:far:max: feature instance_far_max: looks back more than 1h0m0s, so the store computes its view, every 1m0s at most",
		"r.yml:21: instance:other:sum: it reads instance:unknown:sum, which another rule records and no target exposes",
		"r.yml:23: broken: ",
	}
	if len(skipped) != len(reasons) {
		t.Fatalf("%d skipped, want %d: %v", len(skipped), len(reasons), skipped)
	}
	for i, r := range reasons {
		if !strings.HasPrefix(skipped[i].String(), r) {
			t.Errorf("%s\nwant %s", skipped[i], r)
		}
	}
}

func TestNoRuleFile(t *testing.T) {
	for _, text := range []string{"", "view: x", "groups: 7", "groups: [", "groups: []"} {
		if _, _, err := Import("r.yml", []byte(text), Options{}); err == nil || !strings.HasPrefix(err.Error(), "r.yml: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(file))
	f.Fuzz(func(t *testing.T, text []byte) {
		views, _, err := Import("r.yml", text, Options{Owner: "me", Tier: "static", Interval: time.Minute, Rename: map[string]string{"instance": "node"}})
		if err != nil {
			return
		}
		for _, v := range views {
			if err := features.Check(v); err != nil {
				t.Errorf("%s does not load: %v", v.Name, err)
			}
		}
	})
}
