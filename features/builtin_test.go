package features

import "testing"

func TestBuiltin(t *testing.T) {
	views, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, v := range views {
		refs = append(refs, v.Ref())
	}
	if len(refs) != 2 || refs[0] != "node_monitoring@v1" || refs[1] != "node_static@v1" {
		t.Errorf("views %v", refs)
	}
}
