package lineage

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"sextant/features"
	"sextant/schema/sql"
)

// tables notes what the SQL of a view reads: rows of other views with the features that the
// text names, and the store's own tables, through its SQL views down to what is written.
// Which of them one feature of the view needs is not told apart: all stand at each.
func (g *Graph) tables(f *Feature, v *features.View) {
	for _, r := range v.SQLReads() {
		t := Table{Name: r.Name}
		if under, ok := g.viewOf(r.Name); ok {
			t.View = under.Ref()
			for i, x := range under.Features {
				if slices.Contains(r.Words, x.Name) || slices.Contains(r.Words, features.AllColumns) {
					t.Features = append(t.Features, x.Name)
					f.direct = append(f.direct, refOf(under, i))
				}
			}
		}
		f.Tables = append(f.Tables, t)
		g.below(f, r.Name)
	}
}

// viewOf finds the feature view whose rows a table or SQL view of the store has.
func (g *Graph) viewOf(name string) (*features.View, bool) {
	name = strings.TrimSuffix(name, features.CorrectedSuffix)
	if v, ok := g.set.View(name); ok {
		return v, true
	}
	for _, v := range g.set.Views {
		if v.Table() == name {
			return v, true
		}
	}
	return nil, false
}

// below notes what an SQL view of the store reads, and what that reads.
func (g *Graph) below(f *Feature, name string) {
	for _, under := range g.stored[name] {
		if !slices.ContainsFunc(f.Tables, func(t Table) bool { return t.Name == under }) {
			f.Tables = append(f.Tables, Table{Name: under, Through: name})
			g.below(f, under)
		}
	}
}

var storeRead = regexp.MustCompile(`\{\{\.DB\}\}\.([a-z_0-9]+)`)

// counted is what an SQL view reads by a template: {{.Counted (print .DB ".task_log") …}}.
var counted = regexp.MustCompile(`print \.DB "\.([a-z_0-9]+)"`)

// storeViews are the SQL views of the store, each with the tables and views in its text.
func storeViews() map[string][]string {
	files, err := fs.Glob(sql.Files, "views/*.sql")
	if err != nil || len(files) == 0 {
		panic(fmt.Sprint("BUG: the SQL of the store is not there: ", err))
	}
	out := map[string][]string{}
	for _, file := range files {
		text, err := fs.ReadFile(sql.Files, file)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		name := strings.TrimSuffix(path.Base(file), ".sql")
		for _, m := range append(storeRead.FindAllSubmatch(text, -1), counted.FindAllSubmatch(text, -1)...) {
			if read := string(m[1]); read != name && !slices.Contains(out[name], read) {
				out[name] = append(out[name], read)
			}
		}
	}
	return out
}

// through adds to a feature of SQL the metrics of the features that it reads, however deep.
func (g *Graph) through(f *Feature) {
	seen := map[string]bool{f.Ref: true}
	var add func(refs []string)
	add = func(refs []string) {
		for _, ref := range refs {
			if seen[ref] {
				continue
			}
			seen[ref] = true
			f.under = append(f.under, ref)
			for _, r := range g.byRef[ref].Reads {
				if len(r.Selectors) > 0 {
					x := f.read(g, r.Metric)
					x.Through = append(x.Through, ref)
				}
			}
			add(g.byRef[ref].direct)
		}
	}
	add(f.direct)
}
