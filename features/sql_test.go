package features

import (
	"strings"
	"testing"
	"testing/fstest"
)

// spanning is a view of SQL with this query, whose first line is line 10.
func spanning(query string) string {
	return head + "sql: |\n  " + strings.ReplaceAll(query, "\n", "\n  ") + "\nfeatures:\n  - name: x\n    dtype: float64\n    description: An x.\n"
}

const goodSQL = `-- a comment; with 'signs
SELECT node, count() AS x /* now() */ FROM {db}.task_log
WHERE time < {tick:DateTime64(3)} AND ingest <= {known:DateTime64(3)} AND node != 'it''s; now()'
GROUP BY node`

func TestViewOfSQL(t *testing.T) {
	for _, query := range []string{goodSQL, "WITH t AS (SELECT node FROM {tasks}) SELECT node, count() AS x FROM t GROUP BY node"} {
		views, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(spanning(query))}})
		if err != nil {
			t.Fatal(err)
		}
		v := views[0]
		if v.SQL != query || v.Features[0].Expr != "" || v.Expression(0) != query {
			t.Errorf("%q, %+v", v.SQL, v.Features)
		}
		if w, err := v.Window(0); w != 0 || err != nil {
			t.Errorf("window %v, %v", w, err)
		}
	}
}

func TestViewOfSQLRefuses(t *testing.T) {
	edit := func(part, by string) string { return spanning(strings.Replace(goodSQL, part, by, 1)) }
	for _, c := range []struct{ name, text, want string }{
		{"no select", edit("SELECT node", "DROP TABLE node"), "f.yaml:9: sql: want one SELECT"},
		{"insert", edit("SELECT node", "INSERT INTO a SELECT node"), "sql: want one SELECT"},
		{"in brackets", edit("SELECT node", "(SELECT 1) SELECT node"), "sql: want one SELECT"},
		{"two statements", spanning(goodSQL + ";\nDROP TABLE samples"), "sql: a ; ends a statement"},
		{"no tick", edit("{tick:DateTime64(3)}", "1"), "sql: {tick:DateTime64(3)} is not used"},
		{"no known", edit("{known:DateTime64(3)}", "1"), "sql: {known:DateTime64(3)} is not used"},
		{"other parameter", edit("count()", "{n:UInt8}"), "sql: {n:UInt8} is none of {db},"},
		{"clock", edit("count()", "Now64 (3)"), "sql: now64 answers otherwise in a replay"},
		{"clock without brackets", edit("count()", "CURRENT_TIMESTAMP"), "sql: current_timestamp answers otherwise"},
		{"chance", edit("count()", "rand()"), "sql: rand answers otherwise"},
		{"network", edit("{db}.task_log", "url('http://a', CSV)"), "sql: url reads beside the store"},
		{"quoted function", edit("{db}.task_log", "`url`('http://a', CSV)"), "sql: a quoted name is called"},
		{"quoted clock", edit("count()", `"now" ()`), "sql: a quoted name is called"},
		{"server", edit("{db}.task_log", "system.processes"), "sql: system reads beside the store"},
		{"quoted server", edit("{db}.task_log", "`System` .processes"), "sql: the databases of the server are beside the store"},
		{"settings", spanning(goodSQL + " SETTINGS max_memory_usage = 0"), "sql: SETTINGS is not for the query to say"},
		{"open string", spanning(goodSQL + " 'x"), "sql: a ' has no end"},
		{"open comment", spanning(goodSQL + " /* x"), "sql: a comment has no end"},
		{"long", spanning("SELECT " + strings.Repeat("x", maxSQL)), "sql: 65543 bytes, the limit is 65536"},
		{"empty", head + "sql: \"\"\nfeatures:\n  - name: x\n    dtype: float64\n    description: An x.\n", "f.yaml:9: sql: want one SELECT"},
		{"expr", spanning(goodSQL) + "    expr: y\n", "f.yaml:18: feature x: expr has no meaning in a view of sql"},
		{"label", spanning(goodSQL) + "    label: y\n", "f.yaml:18: feature x: label has no meaning in a view of sql"},
		{"let", strings.Replace(spanning(goodSQL), "features:", "let:\n  a: b\nfeatures:", 1), "let: a is never used"},
	} {
		_, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(c.text)}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
}

// The views of SQL that come with the program have what the models expect of them.
func TestBusinessViews(t *testing.T) {
	views, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	least := map[string]int{"task_business": 32, "queue_business": 20, "tenant_business": 20, "cluster_business": 20, "node_business": 20, "node_kubernetes": 20, "rack_business": 10}
	for _, v := range views {
		if len(v.Features) < least[v.Name] {
			t.Errorf("%s has %d features, want %d", v.Name, len(v.Features), least[v.Name])
		}
		if _, ok := least[v.Name]; ok && v.SQL == "" {
			t.Errorf("%s has no SQL", v.Name)
		}
		delete(least, v.Name)
	}
	if len(least) > 0 {
		t.Errorf("missing: %v", least)
	}
}
