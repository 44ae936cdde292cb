package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var decisionTitle = regexp.MustCompile(`^# (\d+)\. (.+)\n`)

// TestDecisionsAreListed keeps the index of docs/adr true: a row for each decision, in order,
// with its number, its title and its file, and a line on what was decided.
func TestDecisionsAreListed(t *testing.T) {
	files, err := filepath.Glob("../../docs/adr/[0-9]*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d decisions, %v", len(files), err)
	}
	var want []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		title := decisionTitle.FindStringSubmatch(string(text))
		if title == nil || strings.TrimLeft(filepath.Base(f)[:4], "0") != title[1] {
			t.Errorf("%s: its first line is not \"# NUMBER. Title\" with the number of its name", filepath.Base(f))
			continue
		}
		want = append(want, "| "+title[1]+" | ["+title[2]+"]("+filepath.Base(f)+") | ")
	}
	index, err := os.ReadFile("../../docs/adr/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(index)) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| | ") {
			rows = append(rows, line)
		}
	}
	for i, w := range want {
		if i >= len(rows) || !strings.HasPrefix(rows[i], w) || len(strings.TrimSpace(rows[i])) < len(w)+20 {
			t.Fatalf("row %d of the index of docs/adr does not begin with %q, or says nothing behind it", i+1, w)
		}
	}
	if len(rows) != len(want) {
		t.Errorf("the index of docs/adr has %d rows for %d decisions", len(rows), len(want))
	}
}
