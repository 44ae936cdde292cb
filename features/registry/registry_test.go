package registry

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sextant/features"
)

const nodeView = `view: box
version: 1
entity: node
tier: monitoring
interval: 10s
ttl: 1m
owner: tests
description: A view to test with.
features:
  - {name: load, expr: "max by (node) (load)", dtype: float32, unit: ratio, max: 9, description: Load.}
  - {name: heat, expr: max by (node) (heat), dtype: float32, unit: celsius, default: 20, description: Heat.}
`

const nodeService = `service: state
version: 1
owner: tests
description: What a model reads.
width: 1
features: ["box:load"]
`

// definitions reads texts as files a.yaml, b.yaml, …
func definitions(t *testing.T, texts ...string) *features.Set {
	t.Helper()
	files := fstest.MapFS{}
	for i, text := range texts {
		files[string(rune('a'+i))+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	set, err := features.Read(features.Source{FS: files})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// ledger is a history in memory: the newest record of each version.
type ledger map[string]Record

func (l ledger) add(rs ...Record) {
	for _, r := range rs {
		r.At, r.Who = time.Unix(1, 0), "me"
		l[r.Ref()] = r
	}
}

func (l ledger) state(t *testing.T) *State {
	t.Helper()
	var rs []Record
	for _, r := range l {
		rs = append(rs, r)
	}
	s, err := NewState(rs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// applied is a history in which texts are in force.
func applied(t *testing.T, texts ...string) ledger {
	t.Helper()
	l := ledger{}
	l.add(l.state(t).Plan(definitions(t, texts...), false).Records()...)
	return l
}

// lines are a plan in short: what happens to what, and because of which changes.
func lines(p *Plan) string {
	var out []string
	for _, i := range p.Items {
		line := i.Action + " " + i.Ref
		for _, c := range i.Changes {
			line += fmt.Sprintf(" (%s %s %s", c.Action, c.Feature, c.What)
			if c.Breaks {
				line += "!"
			}
			line += ")"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestPlan(t *testing.T) {
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(nodeView) }
	v2 := edit("version: 1", "version: 2", "(load)", "(load5)")
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"nothing", []string{nodeView, nodeService}, ""},
		{"layout and comments", []string{edit("max by (node) (load)", "max  by(node)( load )", "features:", "# why\nfeatures:"), nodeService}, ""},
		{"a new column", []string{nodeView + "  - {name: new, expr: max by (node) (x), dtype: bool, description: New.}\n", nodeService}, "update box@v1 (add new feature)"},
		{"the model of a service", []string{nodeView, nodeService + "model: m\n"}, "update state@v1 (change  model)"},
		{"texts for people", []string{edit("Heat.", "How hot.", "owner: tests", "owner: me"), nodeService}, "update box@v1 (change  owner) (change heat description)"},
		{"another expression", []string{edit("(load)", "(load5)"), nodeService}, "refuse box@v1 (change load expr!)"},
		{"another range", []string{edit("max: 9", "max: 10"), nodeService}, "refuse box@v1 (change load max!)"},
		{"another type", []string{edit("float32, unit: celsius", "float64, unit: celsius"), nodeService}, "refuse box@v1 (change heat dtype!)"},
		{"another interval", []string{edit("interval: 10s", "interval: 20s"), nodeService}, "refuse box@v1 (change  interval!)"},
		{"a default that no service serves", []string{edit("default: 20", "default: 21"), nodeService}, "update box@v1 (change heat default)"},
		{"a default that a service serves", []string{edit("max: 9", "max: 9, default: 1"), nodeService}, "refuse box@v1 (change load default!)\nrefuse state@v1 (change  place 0!)"},
		{"a dropped column", []string{nodeView[:strings.Index(nodeView, "  - {name: heat")], nodeService}, "update box@v1 (drop heat feature)"},
		{"a column that a service reads is dropped", []string{edit("name: load", "name: other")}, "refuse box@v1 (add other feature) (drop load feature!)\nkeep state@v1"},
		{"a longer service", []string{nodeView, strings.NewReplacer("width: 1", "width: 2", `"box:load"`, `"box:load", "box:heat"`).Replace(nodeService)}, "refuse state@v1 (change  place 1!)"},
		{"a service version", []string{nodeView, nodeService, strings.Replace(nodeService, "version: 1", "version: 2", 1)}, "create state@v2"},
		{"a view version beside the old", []string{v2, strings.Replace(nodeService, "box:", "box@v2:", 1)}, "create box@v2\nrefuse state@v1 (change  place 0!)\nkeep box@v1"},
		{"a view version under an unpinned service", []string{nodeView, v2, nodeService}, "create box@v2\nrefuse state@v1 (change  place 0!)"},
		{"a view version, the service is pinned", []string{nodeView, v2, strings.Replace(nodeService, "box:", "box@v1:", 1)}, "create box@v2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := applied(t, nodeView, nodeService).state(t).Plan(definitions(t, c.files...), false)
			if got := lines(p); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if refused := strings.Contains(c.want, "refuse"); (p.Refused() != nil) != refused {
				t.Errorf("refused: %v", p.Refused())
			}
		})
	}
}

// The query of a view of SQL is what its rows mean.
func TestQueryNeedsANewVersion(t *testing.T) {
	a, b := features.View{Name: "q", SQL: "SELECT 1"}, features.View{Name: "q", SQL: "SELECT 2"}
	if c := DiffViews(&a, &b); len(c) != 1 || !c[0].Breaks || c[0].What != "sql" {
		t.Errorf("%+v", c)
	}
}

func TestRefusalSaysWhatToDo(t *testing.T) {
	p := applied(t, nodeView).state(t).Plan(definitions(t, strings.Replace(nodeView, "(load)", "(load5)", 1)), false)
	const want = "a.yaml:10: view box@v1: load: expr changed: needs box@v2, or take the change back"
	if err := p.Refused(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if p = applied(t, nodeView).state(t).Plan(definitions(t, strings.Replace(nodeView, "(load)", "(load5)", 1)), true); p.Refused() != nil || p.Pending() != 1 {
		t.Errorf("with replace: %v, %d pending", p.Refused(), p.Pending())
	}
}

// Both versions run until the old one is retired, and that waits for the services.
func TestRetire(t *testing.T) {
	l := applied(t, nodeView, nodeService)
	v2 := strings.NewReplacer("version: 1", "version: 2", "(load)", "(load5)").Replace(nodeView)
	s2 := strings.NewReplacer("version: 1", "version: 2", "box:", "box@v2:").Replace(nodeService)
	files := definitions(t, v2, s2)
	l.add(l.state(t).Plan(files, false).Records()...)
	refs := func() (out string) {
		s := l.state(t)
		for _, v := range s.Active.Views {
			out += v.Ref() + " "
		}
		for _, x := range s.Active.Services {
			out += x.Ref() + " "
		}
		return out
	}
	if got := refs(); got != "box@v1 box@v2 state@v1 state@v2 " {
		t.Fatalf("in force: %s", got)
	}
	if _, err := l.state(t).Retire("box@v1"); err == nil || err.Error() != "service state@v1 reads box@v1: retire the service first" {
		t.Errorf("a view that a service reads: %v", err)
	}
	for _, ref := range []string{"state@v1", "box@v1"} {
		r, err := l.state(t).Retire(ref)
		if err != nil {
			t.Fatal(err)
		}
		l.add(r)
	}
	if got := refs(); got != "box@v2 state@v2 " {
		t.Errorf("in force: %s", got)
	}
	if _, err := l.state(t).Retire("box@v1"); err == nil || !strings.Contains(err.Error(), "is retired already, since 1970-01-01T00:00:01Z by me") {
		t.Errorf("twice: %v", err)
	}
	if _, err := l.state(t).Retire("box@v9"); err == nil {
		t.Error("a version that never was")
	}
	// Files that still hold it do not bring it back.
	if got := lines(l.state(t).Plan(definitions(t, nodeView, v2, s2), false)); got != "keep box@v1" {
		t.Errorf("plan: %s", got)
	}
	r, err := l.state(t).Restore("box@v1")
	if err != nil {
		t.Fatal(err)
	}
	if l.add(r); refs() != "box@v1 box@v2 state@v2 " {
		t.Errorf("restored: %s", refs())
	}
	if _, err := l.state(t).Restore("box@v1"); err == nil {
		t.Error("restored twice")
	}
}

// A program with files older than what is in force starts; one with newer files does not.
func TestMissing(t *testing.T) {
	grown := nodeView + "  - {name: new, expr: max by (node) (x), dtype: bool, description: New.}\n"
	if err := applied(t, grown).state(t).Missing(definitions(t, nodeView)); err != nil {
		t.Errorf("older files: %v", err)
	}
	if err := applied(t, nodeView).state(t).Missing(definitions(t, strings.Replace(nodeView, "Heat.", "Hot.", 1))); err != nil {
		t.Errorf("another text: %v", err)
	}
	for _, files := range []*features.Set{definitions(t, grown), definitions(t, nodeView, nodeService), definitions(t, strings.Replace(nodeView, "(heat)", "(hot)", 1))} {
		if err := applied(t, nodeView).state(t).Missing(files); err == nil || !strings.Contains(err.Error(), "run 'sextant features apply'") {
			t.Errorf("newer files: %v", err)
		}
	}
}

func TestStateRefusesWhatItCannotRead(t *testing.T) {
	l := applied(t, nodeView, nodeService)
	delete(l, "box@v1") // the service reads it
	var rs []Record
	for _, r := range l {
		rs = append(rs, r)
	}
	if _, err := NewState(rs); err == nil || !strings.Contains(err.Error(), "0 of 1 can be read") {
		t.Errorf("a service without its view: %v", err)
	}
}
