package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"sextant/features"
	"sextant/internal/clickhouse"
	chdb "sextant/internal/embedded/clickhouse"
	"sextant/internal/fetch"
)

var update = flag.Bool("update", false, "write the generated page docs/features.md")

const (
	featuresPage = "../../docs/features.md"
	pageHead     = `# Features

Written by ` + "`go test ./cmd/sextant -run TestFeaturesPage -update`" + ` from the definitions in ` + "`features/views` and `features/services`" + `; do not edit.

A feature is one column of its view's table, ` + "`NULL`" + ` where it has no value or one outside its range. It is asked for as ` + "`view:feature`" + `
over HTTP, and is in SQL under the view's name. **Looks back** is how far before a tick it reads. **Computed** says where its windows are computed, and how:
in the stream, the memory of the pipeline, by the compiled expression, or by the PromQL engine, which gives the same numbers at many times the cost, and why; in the
store, once the samples of a tick are stored, by the query of the view (sql), or by the expression over panes of 5 minutes and of an hour, for windows of more than 1 h ([how](long-windows.md)).
`
)

// TestFeaturesPage keeps the page that lists all features in step with the definitions.
func TestFeaturesPage(t *testing.T) {
	set := builtinSet(t)
	rows, err := listOf(set)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(pageHead)
	for _, v := range set.Views {
		pageOfView(&b, v, rows)
	}
	for _, s := range set.Services {
		pageOfService(&b, s)
	}
	if *update {
		if err := os.WriteFile(featuresPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(featuresPage)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s differs from the definitions: run the test with -update", featuresPage)
	}
}

func builtinSet(t *testing.T) *features.Set {
	t.Helper()
	set, err := definitionsIn([]string{builtinViews})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func pageOfView(b *strings.Builder, v *features.View, rows map[string]listed) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\nEntity %s, keys `%s`, tier %s, every %s, TTL %s, table `%s`, owner %s.\n\n", v.Ref(), v.Description,
		v.Entity, strings.Join(v.Keys, "`, `"), v.Tier, v.Interval, v.TTL, v.Table(), v.Owner)
	if v.SQL != "" {
		fmt.Fprintf(b, "```sql\n%s\n```\n\n", strings.TrimSpace(v.SQL))
	}
	b.WriteString("| feature | type | unit | range | meaning | looks back | computed | expression |\n|---|---|---|---|---|---|---|---|\n")
	for i := range v.Features {
		f := &v.Features[i]
		row := rows[v.Ref()+":"+f.Name]
		expr := "the column of the query"
		if f.Expr != "" {
			expr = "`" + pageCell(f.Expr) + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", f.Name, f.DType, f.Unit, f.Range(), pageCell(f.Description), row.Window,
			pageCell(row.computed()), expr)
	}
}

func pageOfService(b *strings.Builder, s *features.Service) {
	fmt.Fprintf(b, "\n## Service %s\n\n%s\n\nKeys `%s`, width %d, owner %s, hash `%s`.\n\n| place | feature | type | unit | meaning |\n|---|---|---|---|---|\n",
		s.Ref(), s.Description, strings.Join(s.Keys, "`, `"), len(s.Columns), s.Owner, s.Hash()[:12])
	for i, c := range s.Columns {
		fmt.Fprintf(b, "| %d | `%s` | %s | %s | %s |\n", i, c.Ref(), c.Def().DType, c.Def().Unit, pageCell(c.Def().Description))
	}
}

// pageCell keeps a text inside one cell of a table.
func pageCell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// TestListAgreesWithTheTables: what is listed is a column of its table, and nothing else is.
func TestListAgreesWithTheTables(t *testing.T) {
	set := builtinSet(t)
	db, cfg := storeWith(t, set)
	rows, err := listOf(set)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range rows {
		want = append(want, r.Table+"."+r.Ref[strings.LastIndex(r.Ref, ":")+1:]+" "+r.DType)
	}
	slices.Sort(want)
	found, err := db.Query(t.Context(), `
		SELECT table, name, lower(extract(type, '(Float32|Float64|Int64|String|Bool)'))
		FROM system.columns
		WHERE database = ? AND table LIKE 'features\\_%' AND NOT table LIKE '%\\_corrected' AND type LIKE '%Nullable%'`, cfg.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var got []string
	for found.Next() {
		var table, name, kind string
		if err := found.Scan(&table, &name, &kind); err != nil {
			t.Fatal(err)
		}
		got = append(got, table+"."+name+" "+kind)
	}
	slices.Sort(got)
	if err := found.Err(); err != nil || len(got) == 0 || !slices.Equal(got, want) {
		t.Errorf("%v: tables have alone %q, listed are alone %q", err, without(got, want), without(want, got))
	}
}

// storeWith is the engine of this process, with definitions in force.
func storeWith(t *testing.T, set *features.Set) (*clickhouse.DB, clickhouse.Config) {
	t.Helper()
	lib, err := fetch.Chdb(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	server, err := chdb.Start(context.Background(), chdb.Config{Dir: t.TempDir(), Library: lib})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg := clickhouse.DefaultConfig()
	cfg.Addr, cfg.Protocol = []string{server.Addr()}, "http"
	db, err := clickhouse.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := applyDefinitions(t.Context(), db, set, applying{who: "test"}); err != nil {
		t.Fatal(err)
	}
	return db, cfg
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
