package collectors

import (
	"strings"
	"testing"
)

// TestInventoryNeedsARestart: every section of the configuration is either read again or
// named when it changes.
func TestInventoryNeedsARestart(t *testing.T) {
	now := Defaults()
	next := Defaults()
	next.Inventory.Rack = "r7"
	if got := strings.Join(fixed(&now, &next), ","); got != "inventory" {
		t.Errorf("sections that need a restart: %q, want inventory", got)
	}
	if got := now.with(&next).Inventory.Rack; got != "" {
		t.Errorf("after the reload the rack is %q: it would be told without being sent", got)
	}
}
