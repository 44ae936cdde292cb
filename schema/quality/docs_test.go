package quality_test

import (
	"flag"
	"fmt"
	"math/bits"
	"os"
	"strings"
	"testing"

	"sextant/schema/quality"
)

var update = flag.Bool("update", false, "write the table of docs/quality.md")

const (
	page  = "../../docs/quality.md"
	begin = "<!-- flags: from schema/quality -->\n"
	end   = "<!-- end -->"
)

// TestDocs keeps the table of the documentation what the package says.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no %q or %q", page, begin, end)
	}
	want := before + begin + table() + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s does not say what schema/quality does: run the test with -update", page)
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("| bit | flag | of | meaning | the value |\n|---|---|---|---|---|\n")
	for _, f := range quality.All {
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s | %s |\n", f.Bit, f.Name, f.Scope, f.Meaning, f.Use)
	}
	return b.String()
}

// TestFlags: each bit is one, has a name of its own, and is found by it.
func TestFlags(t *testing.T) {
	for i, f := range quality.All {
		if bits.TrailingZeros16(f.Bit) != i || bits.OnesCount16(f.Bit) != 1 {
			t.Errorf("%s is bit %d at place %d", f.Name, f.Bit, i)
		}
		if got, ok := quality.Of(f.Name); !ok || got != f {
			t.Errorf("%q names %+v", f.Name, got)
		}
	}
	if got := quality.Text(quality.Stale | quality.Retimed | quality.Blank); got != "retimed,blank,stale" {
		t.Errorf("a set is written %q", got)
	}
	if _, ok := quality.Of("good"); ok || quality.Text(0) != "" {
		t.Error("a flag that is none")
	}
}
