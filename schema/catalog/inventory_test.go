package catalog

import (
	"testing"

	"sextant/schema/inventory"
)

// TestInventoryIsListed keeps the rows of the static tier in step with the series that the
// agent makes: a name that the catalogue lacks would be nobody's metric.
func TestInventoryIsListed(t *testing.T) {
	rows := 0
	for _, all := range Default().byName {
		for _, m := range all {
			if m.Source == "inventory" {
				rows++
			}
		}
	}
	for _, f := range inventory.Families() {
		if m, ok := Default().Lookup(f.Name); !ok || m.Source != "inventory" || m.Help != f.Help {
			t.Errorf("%s: the catalogue says %+v, the agent %q", f.Name, m, f.Help)
		}
	}
	if rows != len(inventory.Families()) {
		t.Errorf("%d rows for %d families", rows, len(inventory.Families()))
	}
}
