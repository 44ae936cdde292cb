package features

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSQLReads(t *testing.T) {
	for _, tt := range []struct{ name, sql, want string }{
		{"a table", "SELECT a, max(b) AS c FROM {db}.plain", "plain: FROM SELECT a b db max plain"},
		{"quoted", "SELECT 1 FROM {db}.`odd name`", "odd name: FROM SELECT db"},
		{"tasks", "SELECT count() AS n FROM {tasks}", "tasks_at: FROM SELECT count tasks"},
		{"in a string or comment", "SELECT '{db}.not' AS x -- {db}.nor\nFROM {db}.yes", "yes: FROM SELECT db yes"},
		{"the words of its own SELECT", "SELECT outer FROM (SELECT inner FROM {db}.deep WHERE f(x) > 1) AS d", "deep: FROM SELECT WHERE db deep f inner x"},
		{"read twice", "SELECT a FROM (SELECT b FROM {db}.t) AS x, (SELECT c FROM {db}.t) AS y", "t: FROM SELECT b c db t"},
		{"whole rows", "SELECT t.*, 2 * 3 AS six FROM {db}.t AS t", "t: * FROM SELECT db t"},
		{"a product is no row", "SELECT a * b AS six FROM {db}.t", "t: FROM SELECT a b db t"},
		{"nothing", "SELECT 1", ""},
	} {
		var got []string
		for _, r := range (&View{SQL: tt.sql}).SQLReads() {
			got = append(got, r.Name+": "+strings.Join(r.Words, " "))
		}
		if fmt.Sprint(got) != fmt.Sprintf("[%s]", tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The built-in views read what their text says.
func TestSQLReadsOfBuiltinViews(t *testing.T) {
	set, err := Read(BuiltinSource())
	if err != nil {
		t.Fatal(err)
	}
	cluster, _ := set.View("cluster_business")
	var names []string
	for _, r := range cluster.SQLReads() {
		names = append(names, r.Name)
		if r.Name == "node_monitoring" && (!slices.Contains(r.Words, "cpu_utilization_1m") || slices.Contains(r.Words, "cpu_utilization_30s")) {
			t.Errorf("of node_monitoring it reads %q", r.Words)
		}
	}
	if fmt.Sprint(names) != "[tasks_at nodes_at node_monitoring]" {
		t.Errorf("cluster_business reads %q", names)
	}
}
