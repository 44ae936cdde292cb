package clickhouse

import (
	"slices"
	"testing"
	"time"

	"sextant/internal/simulate"
	"sextant/internal/simulate/parts"
	"sextant/pipeline/inventory"
	schema "sextant/schema/inventory"
	"sextant/schema/wire"
)

func owner(namespace, pod string) []wire.Label {
	return []wire.Label{{Name: "namespace", Value: namespace}, {Name: "pod", Value: pod}}
}

// TestSlices has a MIG device as case 02 has it (power once, memory by slice, one slice
// without an engine reading), a slice that nothing is read of, one that the inventory does
// not know, and a time-sliced device with two owners.
func TestSlices(t *testing.T) {
	db := openDB(t)
	d := inventoryOf("n1", "6.1", t0)
	d.Devices[0].Slices = []schema.Slice{
		{ID: "gi3", Kind: "mig_gpu", Profile: "1g.6gb", Memory: 6 << 30, Cores: 1}, {ID: "gi4", Kind: "mig_gpu", Profile: "1g.6gb"}, {ID: "gi5", Kind: "mig_gpu", Profile: "2g.12gb"}}
	writeInventory(t, db, rowOf(t, d, 0, t0+10))

	b := &readings{now: time.Now().UnixMilli()}
	b.add("accel_power_watts", "nvidia", "GPU-1", "", 0, 118.25)
	b.add("accel_mem_used_bytes", "nvidia", "GPU-1", "3", 0, 3925868544)
	b.add("accel_mem_used_bytes", "nvidia", "GPU-1", "4", 0, 536870912)
	b.add("accel_engine_active_ratio", "nvidia", "GPU-1", "3", 0, 0.25)
	b.add("accel_owner_info", "nvidia", "GPU-1", "3", 0, 1, owner("team-y", "infer-0")...)
	b.add("accel_owner_info", "nvidia", "GPU-1", "4", 0, 1, owner("team-y", "infer-1")...)
	b.add("accel_busy_ratio", "huawei", "VDIE-1", "100", 0, 0.42)
	b.add("accel_slice_info", "huawei", "VDIE-1", "100", 0, 1, wire.Label{Name: "profile", Value: "4.00"})
	b.add("accel_busy_ratio", "nvidia", "GPU-9", "", 0, 0.7)
	b.add("accel_owner_info", "nvidia", "GPU-9", "", 0, 1, owner("b", "p2")...)
	b.add("accel_owner_info", "nvidia", "GPU-9", "", 0, 1, owner("a", "p1")...)
	b.write(t, db)

	show := func(column string) string { return "ifNull(toString(" + column + "), '-')" }
	got := text(t, db, "device, slice, kind, profile, "+show("memory_bytes")+", "+show("mem_used_bytes")+", "+show("busy_ratio")+", "+show("engine_active_ratio")+", arrayStringConcat(owners, ' ')",
		"{db}.slices ORDER BY device, slice")
	want := []string{
		"GPU-1 3 mig_gpu 1g.6gb 6442450944 3925868544 - 0.25 team-y/infer-0",
		"GPU-1 4 mig_gpu 1g.6gb - 536870912 - - team-y/infer-1",
		"GPU-1 5 mig_gpu 2g.12gb - - - - ",
		"VDIE-1 100  4.00 - - 0.42 - ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("slices %q, want %q", got, want)
	}
	got = text(t, db, "device, slice, "+show("busy_ratio")+", "+show("mem_used_bytes")+", "+show("power_watts")+", arrayStringConcat(owners, ' ')",
		"{db}.accelerators WHERE slice = '' ORDER BY device")
	want = []string{
		"GPU-1  - 4462739456 118.25 ", // busy does not exist in MIG mode; memory is the sum of the slices
		"GPU-9  0.7 - - a/p1 b/p2",    // one reading, whoever shares the device
	}
	if !slices.Equal(got, want) {
		t.Errorf("devices %q, want %q", got, want)
	}
}

// TestLayoutChangeIsHistory slices a simulated device in another way, and finds it in the
// views.
func TestLayoutChangeIsHistory(t *testing.T) {
	cfg, err := simulate.Parse("cluster.yaml", []byte(`
groups: [{name: g, nodes: 1, host: {cpus: 4}, devices: [{vendor: nvidia, model: A100, layout: [3g.40gb, 4g.40gb]}]}]
faults: [{kind: layout, at: 10s, nodes: "*", layout: [7g.80gb]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := simulate.New(cfg, nil, time.UnixMilli(t0))
	if err != nil {
		t.Fatal(err)
	}
	db := openDB(t)
	n := c.Nodes[0]
	var rows []inventory.Row
	for i := range 2 {
		d, err := parts.Document(n, time.UnixMilli(n.Now))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, rowOf(t, d, int64(i), n.Now+5))
		c.Step(20 * time.Second)
	}
	writeInventory(t, db, rows...)
	at := "devices/" + n.Devices[0].UID + "/slices/"
	got := text(t, db, "fact, before, after", "{db}.inventory_changes ORDER BY fact")
	want := []string{at + "gi1 mig_gpu 3g.40gb mig_gpu 7g.80gb", at + "gi2 mig_gpu 4g.40gb "}
	if !slices.Equal(got, want) {
		t.Errorf("changes %q, want %q", got, want)
	}
	if got := text(t, db, "slice, profile, cores, simulated", "{db}.slices"); !slices.Equal(got, []string{"1 7g.80gb 7 1"}) {
		t.Errorf("slices %q", got)
	}
}
