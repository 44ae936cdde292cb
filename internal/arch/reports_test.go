package arch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	reportRow = regexp.MustCompile(`(?m)^\| (\d+) \|.*\| ([^|]+) \|$`)
	namedTest = regexp.MustCompile("`(Test[A-Za-z0-9]+)(?:/([^`]+))?`")
	declared  = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
)

// TestEachFieldReportHasItsTest keeps docs/field-reports.md true: rows 1 to 19 name tests,
// and the tests are there.
func TestEachFieldReportHasItsTest(t *testing.T) {
	page, err := os.ReadFile("../../docs/field-reports.md")
	if err != nil {
		t.Fatal(err)
	}
	known := declaredTests(t)
	rows := reportRow.FindAllStringSubmatch(string(page), -1)
	for i, row := range rows {
		if row[1] != fmt.Sprint(i+1) {
			t.Errorf("row %s stands where row %d should", row[1], i+1)
		}
		tests := namedTest.FindAllStringSubmatch(row[2], -1)
		if len(tests) == 0 {
			t.Errorf("row %s names no test", row[1])
		}
		for _, name := range tests {
			if folders := known[name[1]]; len(folders) == 0 || name[2] != "" && !hasSubtest(t, folders, name[2]) {
				t.Errorf("row %s: there is no test %s %s", row[1], name[1], name[2])
			}
		}
	}
	if len(rows) != 19 {
		t.Errorf("%d rows, want 19", len(rows))
	}
}

// declaredTests is the folders that declare a test, by its name.
func declaredTests(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, top := range []string{"collectors", "pipeline", "schema", "internal", "features", "cmd"} {
		err := filepath.WalkDir("../../"+top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				found[m[1]] = append(found[m[1]], filepath.Dir(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// hasSubtest says whether a folder has a subtest: a name in a table, or a file of testdata.
func hasSubtest(t *testing.T, folders []string, name string) bool {
	t.Helper()
	for _, folder := range folders {
		for _, pattern := range []string{"testdata/" + name + ".txt", "testdata/*/" + name} {
			if files, err := filepath.Glob(filepath.Join(folder, pattern)); err == nil && len(files) > 0 {
				return true
			}
		}
		tables, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range tables {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), `"`+name+`"`) {
				return true
			}
		}
	}
	return false
}
