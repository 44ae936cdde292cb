package features

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// head is a view's first eight lines; features follow from line 9 on.
const head = `view: box
version: 1
entity: node
tier: monitoring
interval: 10s
ttl: 1m
owner: tests
description: A view to test with.
`

// one is a view with one feature of this expression, which stands on line 11.
func one(expr string) string {
	return head + "features:\n  - name: x\n    expr: " + expr + "\n    dtype: float64\n    description: An x.\n"
}

func TestLoadReadsEveryField(t *testing.T) {
	views, err := Load(fstest.MapFS{"a/box.yaml": {Data: []byte(`
view: gpu_box
version: 3
entity: gpu
keys: [node, gpu]
tier: static
interval: 1m
ttl: 2h
owner: tests
description: All fields.
let:
  m: kind="a"
features:
  - name: util
    expr: max by (node, gpu) (util{${m}})
    dtype: float32
    unit: ratio
    description: Utilisation.
    default: 0.5
    min: 0
    max: 1
  - name: model
    expr: group by (node, gpu, model_name) (info)
    label: model_name
    dtype: string
    description: Model.
`)}})
	if err != nil {
		t.Fatal(err)
	}
	v := views[0]
	if v.Ref() != "gpu_box@v3" || v.Table() != "features_gpu_box_v3" || v.Entity != "gpu" || v.Tier != "static" ||
		strings.Join(v.Keys, " ") != "node gpu" || v.Interval != time.Minute || v.TTL != 2*time.Hour ||
		v.Owner != "tests" || v.Description != "All fields." || v.File != "a/box.yaml" || v.Line != 2 {
		t.Errorf("view: %+v", v)
	}
	util, model := v.Features[0], v.Features[1]
	if util.Expr != `max by (node, gpu) (util{kind="a"})` || util.DType != Float32 || util.Unit != "ratio" ||
		*util.Default != 0.5 || *util.Min != 0 || *util.Max != 1 || util.Line != 14 {
		t.Errorf("first feature: %+v", util)
	}
	if model.DType != String || model.Label != "model_name" || model.Unit != "none" || model.Default != nil {
		t.Errorf("second feature: %+v", model)
	}
}

func TestLoadReportsEveryFaultAtOnce(t *testing.T) {
	_, err := Load(fstest.MapFS{
		"b.yaml": {Data: []byte(strings.Replace(one("sum by (node) (x"), "view: box", "view: crate", 1))},
		"a.yaml": {Data: []byte(strings.Replace(head, "ttl: 1m", "ttl: soon\nspeed: 3", 1) + `let:
  unused: a="b"
features:
  - name: Bad-Name
    expr: rate(x)
    dtype: float16
    description: D.
  - name: y
    expr: |
      sum by (node) (x)
        + (
    dtype: float64
    unit: parsecs
    description: D.
  - name: y
    expr: x{${nope}}
    dtype: string
    min: 2
    max: 1
`)}})
	want := []string{
		`a.yaml:6: ttl: "soon" is no duration above 0, like 10s or 5m`,
		`a.yaml:7: unknown key "speed": want view, version,`,
		`a.yaml:11: let: unused is never used`,
		`a.yaml:13: name: "Bad-Name" is no name`,
		`a.yaml:14: feature Bad-Name: expr: 1:6: parse error: expected type range vector in call to function "rate", got instant vector`,
		`a.yaml:15: feature Bad-Name: dtype "float16" is none of`,
		`a.yaml:20: feature y: expr: 2:6: parse error: unclosed left parenthesis`,
		`a.yaml:22: unit: "parsecs" is none of`,
		`a.yaml:24: description is missing`,
		`a.yaml:24: feature y: a string needs label`,
		`a.yaml:24: feature y: a string has no default, min or max`,
		`a.yaml:24: feature y: min 2 is above max 1`,
		`a.yaml:24: feature y is already defined at line 17`,
		`a.yaml:25: feature y: expr: ${nope} is not defined under let`,
		`b.yaml:11: feature x: expr: 1:17: parse error: unclosed left parenthesis`,
		`b.yaml:11: feature x: expr: 1:1: parse error: no arguments for aggregate expression provided`,
	}
	var faults Faults
	if !errors.As(err, &faults) {
		t.Fatalf("error is %T: %v", err, err)
	}
	got := strings.Split(err.Error(), "\n")
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || strings.HasPrefix(g, w)
		}
		if !found {
			t.Errorf("missing: %s", w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d faults, want %d:\n%s", len(got), len(want), err)
	}
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", `f.yaml:1: the file is empty`},
		{"no mapping", "- a\n", `f.yaml:1: want a mapping`},
		{"yaml syntax", "view: box\n  version: [\n", `f.yaml:2: yaml: mapping values are not allowed`},
		{"second document", one("x") + "---\nview: y\n", `one file holds one view`},
		{"key twice", one("x") + "owner: me\n", `f.yaml:14: key "owner" is already set at line 7`},
		{"alias", "view: &a box\nowner: *a\n", `f.yaml:2: owner: aliases are not supported`},
		{"version 0", strings.Replace(one("x"), "version: 1", "version: 0", 1), `f.yaml:2: version: "0" is not a number`},
		{"interval", strings.Replace(one("x"), "interval: 10s", "interval: 15s", 1), `f.yaml:5: interval: 15s is not a multiple of 10s`},
		{"interval 0", strings.Replace(one("x"), "interval: 10s", "interval: 0s", 1), `f.yaml:5: interval: "0s" is no duration above 0`},
		{"ttl", strings.Replace(one("x"), "ttl: 1m", "ttl: 5s", 1), `f.yaml:6: ttl: 5s is not between the interval`},
		{"tier", strings.Replace(one("x"), "tier: monitoring", "tier: gold", 1), `f.yaml:4: tier: "gold" is none of static,`},
		{"double underscore", strings.Replace(one("x"), "view: box", "view: a__b", 1), `f.yaml:1: view: "a__b" is no name`},
		{"reserved view", strings.Replace(one("x"), "view: box", "view: samples", 1), `f.yaml:1: view: the name "samples" is taken`},
		{"reserved feature", strings.Replace(one("x"), "name: x", "name: tick", 1), `f.yaml:10: name: "tick" is a column`},
		{"key as feature", strings.Replace(one("x"), "name: x", "name: node", 1), `f.yaml:10: name: "node" is a column`},
		{"no features", head + "features: []\n", `f.yaml:9: features: want a list of 1 to`},
		{"null", strings.Replace(one("x"), "owner: tests", "owner:", 1), `f.yaml:7: owner: want one value`},
		{"label", one("x") + "    label: y\n", `f.yaml:14: feature x: label belongs to dtype string`},
		{"number", one("x") + "    min: .nan\n", `f.yaml:14: min: ".nan" is no finite number`},
		{"default", one("x") + "    min: 1\n    default: 0\n", `f.yaml:10: feature x: default 0 is out of range`},

		{"matrix", one("x[1m]"), `f.yaml:11: feature x: expr: gives range vector`},
		{"string", one(`'"text"'`), `f.yaml:11: feature x: expr: gives string`},
		{"labels", one("sum by (cpu) (x)"), `gives the labels (cpu): want (node)`},
		{"no labels", one("1 - sum(x)"), `gives the labels (): want (node)`},
		{"labels below functions", one("clamp(avg by (node, cpu) (rate(x[1m])), 0, 1)"), `gives the labels (node, cpu): want (node)`},
		{"labels of on", one("sum by (node, a) (x) / on (a) sum by (a) (y)"), `gives the labels (a): want (node)`},
		{"labels of ignoring", one("sum by (node, a) (x) / ignoring (node) sum by (a) (y)"), `gives the labels (a): want (node)`},
		{"labels of or", one("x or sum by (a) (y)"), `gives the labels (a): want (node)`},
		{"vector()", one("vector(1)"), `gives the labels (): want (node)`},
		{"at", one("x @ 100"), `the @ modifier pins a time`},
		{"at end", one("max_over_time(x[1m:10s] @ end())"), `the @ modifier pins a time`},
		{"future", one("x offset -1m"), `a negative offset reads the time after the tick`},
		{"long in a view of the stream", one("rate(x[40m] offset 40m)"), `f.yaml:10: feature x: looks back more than 1h0m0s, so the store computes its view, every 1m0s at most: give it a view of its own`},
		{"nested window", one("max_over_time(rate(x[30m])[40m:1m])"), `looks back 1h10m0s`},
		{"rate over one sample", one("rate(x[10s])"), `rate over 10s holds fewer than two samples`},
		{"computed duration", one("rate(x[1m+5m])"), `f.yaml:11: feature x: expr: `},
		{"experimental", one("mad_over_time(x[1m])"), `f.yaml:11: feature x: expr: 1:1: parse error`},
		{"long", one("x + " + strings.Repeat("1 + ", maxExpr/4) + "1"), `expr: longer than 8192 bytes`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			views, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(tt.text)}})
			if err == nil {
				t.Fatalf("loaded %+v", views[0])
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got:\n%v\nwant: %s", err, tt.want)
			}
		})
	}
}

// What the text does not decide must load: the check may miss, but never refuse a right
// expression.
func TestLoadAccepts(t *testing.T) {
	for _, expr := range []string{
		"x", "1", "time()", "sum without (cpu) (x)", "topk by (node) (1, x)", "abs(x) * 2", "x and sum by (a) (y)",
		"max by (node) (x) or sum by (node) (y)", "sum by (node, a) (x) / on (node) sum by (node) (y)",
		"x * on (a) group_left sum by (a) (y)", "histogram_quantile(0.9, sum by (node, le) (rate(x[1m])))",
		`label_replace(sum by (a) (x), "node", "$1", "a", "(.*)")`, "rate(x[20s])", "x offset 1m",
		"-sum by (node) (x)", "(sum by (node) (x))", "absent(x)", "max_over_time(rate(x[1m])[30m:10s])",
	} {
		if _, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(one(expr))}}); err != nil {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

func TestLoadRefusesSetsThatDoNotFit(t *testing.T) {
	second := strings.Replace(one("x"), "version: 1", "version: 2", 1)
	_, err := Load(fstest.MapFS{"a.yaml": {Data: []byte(one("x"))}, "b.yml": {Data: []byte(one("x"))}})
	if err == nil || err.Error() != "b.yml:1: view box@v1 is already defined at a.yaml:1" {
		t.Errorf("same version twice: %v", err)
	}
	_, err = Load(fstest.MapFS{"a.yaml": {Data: []byte(one("x"))}, "b.yaml": {Data: []byte(strings.Replace(second, "entity: node", "entity: rack", 1))}})
	if err == nil || !strings.Contains(err.Error(), "b.yaml:1: view box@v2 has entity rack [rack], but box@v1 has node [node]") {
		t.Errorf("another entity: %v", err)
	}
	views, err := Load(fstest.MapFS{"b.yaml": {Data: []byte(one("x"))}, "a.yaml": {Data: []byte(second)}})
	if err != nil || views[0].Version != 1 || views[1].Version != 2 {
		t.Errorf("two versions: %v, %v", views, err)
	}
	if _, err := Load(fstest.MapFS{"a.txt": {}}); err == nil {
		t.Error("a folder without views loaded")
	}
	big := fstest.MapFS{"a.yaml": {Data: make([]byte, maxFileSize+1)}}
	if _, err := Load(big); err == nil || err.Error() != "a.yaml:1: larger than 1048576 bytes" {
		t.Errorf("large file: %v", err)
	}
}

func TestWindow(t *testing.T) {
	lookback := 5 * time.Minute
	for expr, want := range map[string]time.Duration{
		"1":                        0,
		"x":                        lookback,
		"x offset 1m":              6 * time.Minute,
		"rate(x[1m])":              time.Minute,
		"rate(x[1m] offset 2m)":    3 * time.Minute,
		"rate(x[10m]) + y":         10 * time.Minute,
		"max_over_time(x[1m:10s])": 6 * time.Minute,
		"max_over_time(rate(x[1m])[4m:10s] offset 1m)": 6 * time.Minute,
	} {
		v := &View{Features: []Feature{{Name: "x", Expr: expr}}}
		if got, err := v.Window(lookback); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", expr, got, err, want)
		}
	}
	if _, err := (&View{Features: []Feature{{Name: "x", Expr: "("}}}).Window(0); err == nil {
		t.Error("no error for an expression that does not parse")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(one("sum by (node) (x)"))
	f.Add(head + "let: {a: b}\nfeatures: [{name: x, expr: '${a}', dtype: int64}]\n")
	f.Add("a: &a [*a]\n---\n")
	f.Add("features: {}\nlet: []\nkeys: {a: 1}")
	f.Fuzz(func(t *testing.T, text string) {
		views, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(text)}})
		if err != nil && err.Error() == "" {
			t.Error("an error that says nothing")
		}
		for _, v := range views {
			if _, err := v.Window(time.Minute); err != nil {
				t.Errorf("loaded, but does not parse again: %v", err)
			}
		}
	})
}

// A fragment may use those above it, and no other.
func TestFragmentsNest(t *testing.T) {
	features := "\nfeatures:\n  - {name: x, expr: 'max by (node) (${both})', dtype: float64, unit: none, description: D.}\n"
	views, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(head + "let:\n  m: kind=\"a\"\n  both: x{${m}} + y{${m}}" + features)}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := views[0].Features[0].Expr, `max by (node) (x{kind="a"} + y{kind="a"})`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	grows := "let:\n  a: " + strings.Repeat("x", 100) + "\n  b: " + strings.Repeat("${a}", 50) + "\n  both: " + strings.Repeat("${b}", 50)
	for text, want := range map[string]string{
		"let:\n  both: ${m}\n  m: x": "let: both: ${m} is not defined under let",
		"let:\n  both: x + ${both}":  "let: both: ${both} is not defined under let",
		"let:\n  m: x\n  both: y":    "let: m is never used",
		grows:                        "let: both: longer than 8192 bytes",
	} {
		if _, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(head + text + features)}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}
