package dashboards

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated files")

// generated is the folder of the JSON, as Grafana is provisioned with it.
const generated = "../deploy/grafana/dashboards"

func build(t *testing.T) []Dashboard {
	t.Helper()
	ds, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// TestGenerated wants the files in the repository to be what the code says.
func TestGenerated(t *testing.T) {
	want := map[string]bool{}
	for _, d := range build(t) {
		want[d.File] = true
		text, err := Encode(d.Dashboard)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, filepath.Join(generated, d.File), text)
	}
	files, err := filepath.Glob(generated + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[filepath.Base(f)] {
			t.Errorf("%s is of no dashboard", f)
		}
	}
}

// compare writes a file with -update, and wants it to be there as it is without.
func compare(t *testing.T, path string, text []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(have, text) {
		t.Errorf("%s is stale (%v): make dashboards", path, err)
	}
}

// TestSchema reads each file by the SDK's types, strictly: an unknown key, a wrong type or a
// missing field is an error. Writing it again gives the same file.
func TestSchema(t *testing.T) {
	for _, d := range build(t) {
		text, err := os.ReadFile(filepath.Join(generated, d.File))
		if err != nil {
			t.Fatal(err)
		}
		back, err := Read(text)
		if err != nil {
			t.Errorf("%s: %v", d.File, err)
			continue
		}
		again, err := Encode(back)
		if err != nil || !reflect.DeepEqual(plain(t, again), plain(t, text)) {
			t.Errorf("%s: read and written again it is another (%v)", d.File, err)
		}
	}
}

// plain is a JSON text without the order of its keys.
func plain(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSchemaIsStrict: the check before would say something.
func TestSchemaIsStrict(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(generated, "fleet.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"rawSql"`, `"rawSQL2"`}, {`"gridPos"`, `"gridpos2"`}, {`"refresh": "30s"`, `"refresh": 30`}, {`"showLegend"`, `"showLegends"`},
	} {
		broken := strings.Replace(string(text), c[0], c[1], 1)
		if broken == string(text) {
			t.Errorf("%s is not in the file", c[0])
		}
		if _, err := Read([]byte(broken)); err == nil {
			t.Errorf("%s in place of %s is no error", c[1], c[0])
		}
	}
}

// variableUse is a variable in a query or a link, without those of Grafana itself.
var variableUse = regexp.MustCompile(`\$\{?([a-z]+)\b`)

// TestVariables wants each variable that a dashboard uses to be defined by it, and each that
// it defines to be used.
func TestVariables(t *testing.T) {
	for _, d := range build(t) {
		defined, used := []string{}, map[string]bool{"clickhouse": true, "prometheus": true}
		for _, v := range d.Templating.List {
			defined = append(defined, v.Name)
		}
		text, err := json.Marshal(d.Panels)
		if err != nil {
			t.Fatal(err)
		}
		marks, err := json.Marshal(d.Annotations)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range variableUse.FindAllSubmatch(append(text, marks...), -1) {
			used[string(m[1])] = true
			if !slices.Contains(defined, string(m[1])) {
				t.Errorf("%s uses $%s, which it does not define", d.File, m[1])
			}
		}
		for _, name := range defined {
			if !used[name] {
				t.Errorf("%s defines %s and does not use it", d.File, name)
			}
		}
	}
}

// TestLinks wants each link to lead to a dashboard of ours, and to a variable that it has.
func TestLinks(t *testing.T) {
	has := map[string]map[string]bool{}
	ds := build(t)
	for _, d := range ds {
		has[*d.Uid] = map[string]bool{}
		for _, v := range d.Templating.List {
			has[*d.Uid][v.Name] = true
		}
	}
	link := regexp.MustCompile(`/d/([a-z-]+)/\?\$\{__url_time_range\}(?:\\u0026var-([a-z]+)=)?`)
	found := 0
	for _, d := range ds {
		text, err := json.Marshal(d.Panels)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			found++
			if has[m[1]] == nil || m[2] != "" && !has[m[1]][m[2]] {
				t.Errorf("%s links to %s with %q", d.File, m[1], m[2])
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d links were found", found)
	}
}

// TestGrid wants each line of panels to fill the width, or to be a line's end, and no two
// panels to overlap.
func TestGrid(t *testing.T) {
	for _, d := range build(t) {
		taken := map[string]string{}
		ids := map[uint32]bool{}
		for _, p := range d.Panels {
			if p.Panel == nil {
				continue
			}
			g := *p.Panel.GridPos
			if ids[*p.Panel.Id] || g.X+g.W > 24 {
				t.Errorf("%s: %s: id %d twice, or wider than the page", d.File, *p.Panel.Title, *p.Panel.Id)
			}
			ids[*p.Panel.Id] = true
			for x := g.X; x < g.X+g.W; x++ {
				for y := g.Y; y < g.Y+g.H; y++ {
					at := fmt.Sprint(x, ",", y)
					if taken[at] != "" {
						t.Fatalf("%s: %s lies over %s", d.File, *p.Panel.Title, taken[at])
					}
					taken[at] = *p.Panel.Title
				}
			}
		}
	}
}

// TestUnusedQueries: a section of SQL that no panel asks is left over.
func TestUnusedQueries(t *testing.T) {
	used := map[string]bool{}
	for _, d := range build(t) {
		text, err := json.Marshal(d.Dashboard)
		if err != nil {
			t.Fatal(err)
		}
		for name, sql := range loadQueries(strings.TrimSuffix(d.File, ".json")) {
			quoted, _ := json.Marshal(sql)
			if !bytes.Contains(text, quoted) {
				t.Errorf("%s: no panel asks %s", d.File, name)
			}
		}
		for name, sql := range loadQueries("annotations") {
			quoted, _ := json.Marshal(sql)
			used[name] = used[name] || bytes.Contains(text, quoted)
		}
	}
	for name, is := range used {
		if !is {
			t.Errorf("no dashboard has the annotation %s", name)
		}
	}
}

// TestConfigMaps wants the generator of ConfigMaps to name each file.
func TestConfigMaps(t *testing.T) {
	text, err := os.ReadFile("../deploy/grafana/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range build(t) {
		if !strings.Contains(string(text), "- dashboards/"+d.File+"\n") {
			t.Errorf("kustomization.yaml does not name %s", d.File)
		}
	}
}
