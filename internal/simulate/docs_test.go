package simulate

import (
	"os"
	"strings"
	"testing"
)

// TestTheDocumentNamesEverything that a cluster file can ask for, and the example uses
// every kind of fault.
func TestTheDocumentNamesEverything(t *testing.T) {
	doc := readText(t, "../../docs/simulate.md")
	example := readText(t, "../../deploy/simulate.example.yaml")
	for _, m := range models {
		if !strings.Contains(doc, "`"+m.Name+"`") {
			t.Errorf("docs/simulate.md does not name the model %s", m.Name)
		}
	}
	for kind := range faultInfos {
		if !strings.Contains(doc, "| `"+string(kind)+"` |") {
			t.Errorf("docs/simulate.md does not explain the fault %s", kind)
		}
		if !strings.Contains(example, "{kind: "+string(kind)+",") {
			t.Errorf("deploy/simulate.example.yaml does not show the fault %s", kind)
		}
	}
	for _, e := range Exporters() {
		if !strings.Contains(doc, "| `"+e+"` |") {
			t.Errorf("docs/simulate.md does not say what is sure of %s", e)
		}
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
