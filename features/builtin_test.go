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
	want := []string{"cluster_business@v1", "device_monitoring@v1", "device_static@v1", "link_monitoring@v1", "link_static@v1", "node_accelerators@v1", "node_business@v1", "node_daily@v1",
		"node_kubernetes@v1", "node_monitoring@v1", "node_static@v1", "node_topology@v1", "node_trend@v1", "queue_business@v1", "rack_business@v1", "task_business@v1", "tenant_business@v1"}
	if !slices.Equal(refs, want) {
		t.Errorf("views %v", refs)
	}
}
