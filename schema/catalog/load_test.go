package catalog

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

const head = "source: x\nevidence: S\nmetrics:\n"

func TestLoadFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "m.yaml:1: the file is empty"},
		{"no YAML", "a: [", "m.yaml: line 1: "},
		{"a list", "- a\n", "m.yaml:1: want a mapping with keys source, evidence, metrics"},
		{"unknown key at the top", head + "metric: []\n", `m.yaml:4: unknown key "metric"`},
		{"key twice", "source: x\nsource: y\nevidence: S\nmetrics: []\n", "m.yaml:2: key source is given twice"},
		{"no source", "evidence: S\nmetrics: []\n", "m.yaml:1: source is missing"},
		{"no evidence", "source: x\nmetrics: []\n", "m.yaml:1: evidence is missing"},
		{"bad evidence", "source: x\nevidence: A\nmetrics: []\n", `m.yaml:2: unknown evidence "A"`},
		{"no metrics", "source: x\nevidence: S\n", "m.yaml:1: metrics is missing"},
		{"metrics as text", "source: x\nevidence: S\nmetrics: all\n", "m.yaml:1: metrics is missing, or no list"},
		{"row as text", head + "  - up\n", "m.yaml:4: want a mapping with keys name, kind"},
		{"unknown key", head + "  - {name: a, kind: gauge, unit: none, help: h, typ: x}\n", `m.yaml:4: unknown key "typ"`},
		{"no name", head + "  - {kind: gauge, unit: none, help: h}\n", "m.yaml:4: name is missing"},
		{"no kind", head + "  - {name: a, unit: none, help: h}\n", "m.yaml:4: kind is missing"},
		{"no unit", head + "  - {name: a, kind: gauge, help: h}\n", "m.yaml:4: unit is missing"},
		{"no help", head + "  - {name: a, kind: gauge, unit: none, help: ''}\n", "m.yaml:4: help is empty"},
		{"bad kind", head + "  - name: a\n    kind: number\n    unit: none\n    help: h\n", `m.yaml:5: unknown kind "number", want one of gauge, counter`},
		{"bad unit", head + "  - name: a\n    kind: gauge\n    unit: MiB\n    help: h\n", `m.yaml:6: unknown unit "MiB", want one of amperes, bytes`},
		{"bad source unit", row("unit: bytes, canonical: b, from: furlong"), `m.yaml:4: unknown source unit "furlong"`},
		{"source unit of another kind", row("unit: seconds, canonical: b, from: MiB"), "m.yaml:4: MiB converts to bytes, not to seconds"},
		{"from and scale", row("unit: bytes, canonical: b, from: MiB, scale: 2"), "m.yaml:4: from and scale exclude"},
		{"scale 0", row("unit: bytes, canonical: b, scale: 0"), "m.yaml:4: scale is 0"},
		{"scale as text", row("unit: bytes, canonical: b, scale: big"), `m.yaml:4: "big" is not a finite number`},
		{"scale infinite", row("unit: bytes, canonical: b, scale: Inf"), `m.yaml:4: "Inf" is not a finite number`},
		{"scaled under its own name", row("unit: bytes, from: MiB"), "m.yaml:4: a is scaled, so it needs a canonical name"},
		{"canonical with a dot", row("unit: bytes, canonical: b.c"), `m.yaml:4: canonical name "b.c" has other characters`},
		{"range upside down", row("unit: none, min: 1, max: 1"), "m.yaml:4: min 1 is not below max 1"},
		{"min as list", row("unit: none, min: [1]"), "m.yaml:4: \"\" is not a finite number"},
		{"blank as number", row("unit: none, blank: 7"), "m.yaml:4: blank is no list"},
		{"blank with text", row("unit: none, blank: [7, x]"), `m.yaml:4: "x" is not a finite number`},
		{"name twice", row("unit: none") + "  - {name: a, kind: gauge, unit: none, help: h}\n", "m.yaml:5: a is in the catalogue already, at m.yaml:4"},
		{"steps back on a gauge", row("unit: none, steps_back: 3"), "m.yaml:4: steps_back 3: want a positive number, on a counter"},
		{"steps back by nothing", head + "  - {name: a, kind: counter, unit: none, help: h, steps_back: 0}\n", "m.yaml:4: steps_back 0: want"},
		{"events without a row", row("unit: none, events: b_events"), "m.yaml:4: events: b_events is no gauge"},
		{"events without a last time", row("unit: none, events: b_events") + "  - {name: b_events, kind: gauge, unit: none, help: h}\n", "m.yaml:4: events: b_last_seconds is no gauge"},
		{"events under another name", row("unit: none, events: b") + "  - {name: b, kind: gauge, unit: none, help: h}\n", "m.yaml:4: events: b is no gauge of the catalogue named …_events"},
		{"newest as text", "source: x\nevidence: S\nnewest: maybe\nmetrics: []\n", `m.yaml:3: newest "maybe": want true`},
		{"bad default scope", "source: x\nevidence: S\nscope: planet\nmetrics: []\n", `m.yaml:3: unknown scope "planet", want one of host, device`},
		{"bad scope", row("unit: none, scope: planet"), `m.yaml:4: unknown scope "planet"`},
		{"claims without a vendor", "source: x\nevidence: S\nclaims: [a_]\nmetrics: []\n", "m.yaml:3: claims without a vendor"},
		{"raw without a vendor", head + "  - {name: a, kind: gauge, raw: why}\n", "m.yaml:4: raw is for vendors' metrics"},
		{"a claim of everything", vendor + "claims: [\"\"]\nmetrics: []\n", "m.yaml:4: a claim of every name"},
		{"claims as text", vendor + "claims: a_\nmetrics: []\n", "m.yaml:4: claims is no list"},
		{"a claim without label", vendor + "claims: [{prefix: a_}]\nmetrics: []\n", "m.yaml:4: label is missing"},
		{"identity as list", vendor + "identity: []\nmetrics: []\n", "m.yaml:4: want a mapping with keys uid"},
		{"unknown key of identity", vendor + "identity: {id: [a]}\nmetrics: []\n", `m.yaml:4: unknown key "id"`},
		{"a place without a kind", vendor + "identity: {place: [pci_bus_id]}\nmetrics: []\n", `m.yaml:4: place "pci_bus_id" is not kind=label`},
		{"a place that calls itself an id", vendor + "identity: {place: [uid=x]}\nmetrics: []\n", `m.yaml:4: place "uid=x" is not kind=label`},
		{"uid as text", vendor + "identity: {uid: UUID}\nmetrics: []\n", "m.yaml:4: uid is no list"},
		{"an empty uid", vendor + "identity: {uid: [\"\"]}\nmetrics: []\n", "m.yaml:4: uid holds an empty text"},
		{"owner as list", vendor + "identity: {owner: [pod]}\nmetrics: []\n", "m.yaml:4: owner is no mapping"},
		{"bad class", vendor + "identity: {class: tpu}\nmetrics: []\n", `m.yaml:4: unknown class "tpu", want accel or nic`},
		{"bad pattern", vendor + "identity: {void: [\"[\"]}\nmetrics: []\n", `m.yaml:4: void holds "[", which is no pattern`},
		{"a vendor's metric without a name", vendor + "metrics:\n  - {name: a, kind: gauge, unit: none, help: h}\n", "m.yaml:5: a has neither a canonical name nor raw"},
		{"raw and scaled", vendor + "metrics:\n  - {name: a, kind: gauge, raw: why, scale: 2}\n", "m.yaml:5: raw and scale exclude each other"},
		{"offset as text", row("unit: none, canonical: b, offset: x"), `m.yaml:4: "x" is not a finite number`},
		{"offset under its own name", row("unit: none, offset: 1"), "m.yaml:4: a is scaled, so it needs a canonical name"},
		{"two units of one name", row("unit: bytes, canonical: b") + "  - {name: c, kind: gauge, unit: watts, help: h, canonical: b}\n", `m.yaml:5: b is a gauge in "watts" here and a gauge in "bytes" at m.yaml:4`},
		{"two kinds of one name", row("unit: none, canonical: b") + "  - {name: c, kind: counter, unit: none, help: h, canonical: b}\n", `m.yaml:5: b is a counter in "" here and a gauge in "" at m.yaml:4`},
		{"a row behind one for all", row("unit: none") + "  - {name: a, kind: gauge, unit: none, help: h, when: {x: y}}\n", "m.yaml:5: a is in the catalogue already, at m.yaml:4"},
		{"an alias that is taken", row("unit: none") + "  - {name: b, kind: gauge, unit: none, help: h, aliases: [a]}\n", "m.yaml:5: a is in the catalogue already, at m.yaml:4"},
		{"when as list", row("unit: none, when: [x]"), "m.yaml:4: when is no mapping"},
		{"add without value", row("unit: none, add: {x: ''}"), "m.yaml:4: x is empty, or no text"},
		{"a label twice", row("unit: none, add: {x: y, x: z}"), "m.yaml:4: "},
		{"rank 10", row("unit: none, rank: 10"), "m.yaml:4: rank 10 is no digit"},
		{"rank 0.5", row("unit: none, rank: 0.5"), "m.yaml:4: rank 0.5 is no digit"},
		{"fold min", row("unit: none, fold: min"), `m.yaml:4: unknown fold "min", want max`},
		{"unknown word of blanks", row("unit: none, blank: [int]"), `m.yaml:4: "int" is not a finite number`},
	} {
		_, err := Load(fstest.MapFS{"m.yaml": {Data: []byte(c.text)}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

const vendor = "source: x\nvendor: v\nevidence: S\n"

// row is a file of one metric named a, with further keys.
func row(keys string) string {
	return head + "  - {name: a, kind: gauge, help: h, " + keys + "}\n"
}

func TestLoadTellsEveryFaultAtOnce(t *testing.T) {
	_, err := Load(fstest.MapFS{
		"a.yaml": {Data: []byte(head + "  - {name: a, kind: x, unit: y, help: h}\n  - {name: b, kind: gauge, unit: none, help: h, min: z}\n")},
		"b.yaml": {Data: []byte(head + "  - {name: b, kind: gauge, unit: none, help: h}\n")},
	})
	want := []string{`a.yaml:4: unknown kind "x"`, `a.yaml:4: unknown unit "y"`, `a.yaml:5: "z" is not`, "b.yaml:4: b is in the catalogue already, at a.yaml:5"}
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	for i, w := range want {
		if len(lines) != len(want) || !strings.HasPrefix(lines[i], w) {
			t.Fatalf("faults:\n%v\nwant:\n%s", err, strings.Join(want, "\n"))
		}
	}
}

func TestLoadWithoutFiles(t *testing.T) {
	if _, err := Load(fstest.MapFS{"readme.md": {}}); err == nil {
		t.Error("an empty folder loads")
	}
	if _, err := Load(fstest.MapFS{"a.yaml": {Mode: fs.ModeDir}}); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder named a.yaml: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(head + "  - {name: a, kind: gauge, unit: bytes, help: h, canonical: b, from: MiB, min: 0, blank: [1]}\n"))
	f.Add([]byte("a: &x [*x]"))
	f.Add([]byte(vendor + "claims: [a_, {prefix: b, label: c}]\nprefixes: ['', p_]\nblanks: {i: [1]}\nidentity: {uid: [u], place: [pci=p], split: {a: '*'}, owner: {pod: [p]}}\nmetrics:\n  - {name: a, kind: gauge, unit: none, help: h, canonical: b, when: {x: ['', y]}, blank: [i], rank: 1, fold: max}\n  - {name: a, kind: gauge, raw: r}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Load(fstest.MapFS{"m.yaml": {Data: text}})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "m.yaml") {
				t.Fatal(err)
			}
			return
		}
		for _, m := range c.Metrics() {
			if m.Name == "" || m.Canonical == "" || m.Kind == Unknown || m.Help == "" || m.Scale == 0 {
				t.Fatalf("accepted %+v", m)
			}
		}
	})
}

func BenchmarkNormalize(b *testing.B) {
	m, _ := Default().Lookup("node_network_speed_bytes")
	b.ReportAllocs()
	for b.Loop() {
		m.Normalize(1.25e9)
	}
}

func BenchmarkLookup(b *testing.B) {
	c := Default()
	b.ReportAllocs()
	for b.Loop() {
		c.Lookup("node_cpu_seconds_total")
	}
}
