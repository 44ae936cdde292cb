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
	} {
		_, err := Load(fstest.MapFS{"m.yaml": {Data: []byte(c.text)}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

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
