package clickhouse

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"sextant/features"
	"sextant/internal/report"
	"sextant/pipeline/derive"
	schema "sextant/schema/sql"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

// rendered is every file of schema/sql with the names of one installation.
func rendered(t *testing.T, n names) string {
	t.Helper()
	v := testView()
	var out strings.Builder
	for _, dir := range []string{"migrations", "features", "views", "queries"} {
		files, err := fs.Glob(schema.Files, dir+"/*.sql")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, files, err)
		}
		for _, f := range files {
			var data any = viewData{names: n, v: v, latest: 1, columns: []string{"node", "tick", "known", "flags", "origin", "busy"}}
			switch {
			case strings.HasSuffix(f, "promql_features.sql"):
				data = featureRows{viewData: viewData{names: n, v: v}}
			case strings.Contains(f, "/promql_"):
				data = promData{Names: n, IDs: "1, 2", Visible: visible(), Label: "node", Limit: 100}
			case strings.Contains(f, "/asof_"):
				data = asOfData{viewData: viewData{names: n, v: v}, Sources: sourcesOf(v, true), AsCorrected: true, From: 0, To: 60_000}
			case strings.Contains(f, "/sla_"):
				data = breachData{names: n, views: 1, Broken: "    fresh AS (SELECT …) -- queries/sla_broken.sql\n"}
			case strings.HasSuffix(f, "queries/feature_profile.sql"), strings.HasSuffix(f, "queries/feature_skew.sql"):
				data = profileData{viewData{names: n, v: v}}
			case strings.HasSuffix(f, "task_snapshot_next.sql"):
				data = nextData{n, derive.At{Tick: 120_000, Known: 130_000}}
			case strings.Contains(f, "/report_"):
				q := &report.Question{GroupBy: []string{"tenant"}}
				data = reportData{n, report.Query{Question: q, GroupBy: []string{"tenant"}, Where: []report.Filter{{Dimension: "day", Values: []string{"2026-01-01"}}}, Top: 20}}
			case strings.Contains(f, "/console_"):
				data = consoleData{accounts: accounts{names: n, days: 30}, Failed: 2, Partial: 1, Seconds: 900}
			case strings.Contains(f, "/pane_"):
				data = paneData{names: n, Series: "SELECT …", Stored: true, Sums: true}
			case strings.Contains(f, "/rollup_"):
				data = rollupData{names: n, Step: 10_000, Interval: 10_000}
			case dir == "views":
				data = accounts{names: n, days: 30}
			}
			text, err := renderFile(schema.Files, f, data)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "---- %s\n%s\n", f, strings.TrimSpace(text))
		}
	}
	return out.String()
}

// The golden files show what a change of a template means, and are the schema to read
// without one.
func TestGoldenSchema(t *testing.T) {
	for file, n := range map[string]names{
		"testdata/schema_one_server.sql": {database: "sextant"},
		"testdata/schema_cluster.sql":    {database: "sextant", cluster: "main"},
	} {
		got := rendered(t, n)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from schema/sql: run the test with -update and read the difference", file)
		}
	}
}

// A feature view is an SQL view of that name: none may take the place of what the schema
// has, on one server or in a cluster.
func TestNamesOfTheSchemaAreTaken(t *testing.T) {
	const definition = "view: %s\nversion: 1\nentity: node\ntier: static\ninterval: 10s\nttl: 1m\nowner: o\ndescription: d\n" +
		"features: [{name: f, expr: max by (node) (m), dtype: float64, description: d}]\n"
	db := openDB(t)
	names := text(t, db, "name", "system.tables WHERE database = '"+db.cfg.Database+"'")
	if len(names) < 20 {
		t.Fatalf("%d tables and views: %q", len(names), names)
	}
	for _, name := range append(names, "samples_local", "features_x_v1", "x_corrected") {
		_, err := features.Load(fstest.MapFS{"v.yaml": {Data: fmt.Appendf(nil, definition, name)}})
		if err == nil || !strings.Contains(err.Error(), "is taken by a table") {
			t.Errorf("a feature view may be called %s: %v", name, err)
		}
	}
	if _, err := features.Load(fstest.MapFS{"v.yaml": {Data: fmt.Appendf(nil, definition, "free")}}); err != nil {
		t.Error(err)
	}
}

// No cluster runs in the tests; the engine reads the statements that one would get.
func TestClusterStatementsParse(t *testing.T) {
	db := openDB(t)
	n := names{database: "sextant", cluster: "main"}
	statements := 0
	for _, part := range strings.Split(rendered(t, n), "---- ")[1:] {
		file, text, _ := strings.Cut(part, "\n")
		if strings.HasPrefix(file, "queries/") {
			continue
		}
		for _, s := range strings.Split(withoutComments(text), ";\n") {
			if s = strings.TrimSuffix(strings.TrimSpace(s), ";"); s == "" {
				continue
			}
			statements++
			if err := db.Exec(t.Context(), "EXPLAIN AST "+s); err != nil {
				t.Errorf("%s: %v\n%s", file, err, s)
			}
			if strings.HasPrefix(s, "CREATE") && !strings.Contains(s, " ON CLUSTER `main`") {
				t.Errorf("%s runs on one server only:\n%s", file, s)
			}
		}
	}
	if statements < 17 {
		t.Errorf("%d statements, want at least 17: six tables twice, a view for each file", statements)
	}
}

func withoutComments(sql string) string {
	var out strings.Builder
	for line := range strings.Lines(sql) {
		if !strings.HasPrefix(line, "--") {
			out.WriteString(line)
		}
	}
	return out.String() + "\n"
}

func TestQuoting(t *testing.T) {
	db := openDB(t)
	for _, s := range []string{`plain`, `it's`, `a\b`, "`", "new\nline", `\'`, "π"} {
		var got string
		one(t, db, "SELECT "+quote(s)+" AS "+ident("c"+s), &got)
		if got != s {
			t.Errorf("quote(%q) reads back as %q", s, got)
		}
	}
}

func TestRetention(t *testing.T) {
	db := openDB(t)
	days := func(table string) string {
		rows := text(t, db, "extract(engine_full, 'TTL (.*) SETTINGS')", "system.tables WHERE database = '"+db.cfg.Database+"' AND name = '"+table+"'")
		return rows[0]
	}
	log := &lockedBuffer{}
	db.log = newLog(log)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if log.String() != "" {
		t.Errorf("nothing changed, and yet: %s", log)
	}
	if got := days("samples"); got != "toDateTime(ts) + toIntervalDay(30)" {
		t.Errorf("default: %q", got)
	}
	if got := days("inventories"); got != "toDateTime(ingest) + toIntervalDay(400) WHERE removed = 0" {
		t.Errorf("inventories: %q", got)
	}
	db.cfg.Retention.SamplesDays, db.cfg.Retention.LedgerDays = 7, 0
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a, b := days("samples"), days("ingest_ledger"); a != "toDateTime(ts) + toIntervalDay(7)" || b != "" {
		t.Errorf("7 days and for ever: %q, %q", a, b)
	}
}
