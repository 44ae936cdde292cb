package features

import (
	"slices"
	"testing"
)

func TestBuiltin(t *testing.T) {
	views, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, v := range views {
		refs = append(refs, v.Ref())
	}
	if want := []string{"link_static@v1", "node_monitoring@v1", "node_static@v1"}; !slices.Equal(refs, want) {
		t.Errorf("views %v", refs)
	}
}
