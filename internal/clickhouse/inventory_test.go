package clickhouse

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sextant/pipeline/inventory"
	schema "sextant/schema/inventory"
	"sextant/schema/wire"
)

// inventoryOf is a node with two accelerators behind a switch and one port, with the
// given kernel.
func inventoryOf(node, kernel string, since int64) *schema.Document {
	at := func(pci string) schema.PCIPlace {
		return schema.PCIPlace{PCI: pci, PCIID: "10de:2330", NUMA: 0, Driver: "nvidia", DriverVersion: "550.54.15",
			Link: &schema.PCILink{Speed: 32, Width: 16, MaxWidth: 16, Bandwidth: schema.Bandwidth(32, 16)}}
	}
	port := at("0000:03:00.0")
	port.NUMA, port.Link = -1, nil
	device := func(id string) schema.Part { return schema.Part{Kind: schema.PartDevice, ID: id} }
	return &schema.Document{
		Version: schema.Version, Node: node, Since: since, Collected: since, Simulated: node == "sim",
		Host: schema.Host{Kernel: kernel, Arch: "x86_64"}, CPU: schema.CPU{Model: "Xeon", Sockets: 2, Cores: 64, Threads: 128},
		Memory: schema.Memory{Total: 1 << 40}, NUMA: []schema.NUMANode{{ID: 0, Distances: []int{10}}},
		Devices: []schema.Device{
			{ID: "GPU-1", UID: "GPU-1", Vendor: "nvidia", Kind: "gpu", Model: "H100", Memory: 80 << 30, PCIPlace: at("0000:01:00.0"),
				Slices: []schema.Slice{{ID: "gi1", Kind: "mig_gpu", Profile: "1g.10gb"}}},
			{ID: "0000:02:00.0", Vendor: "nvidia", Kind: "gpu", PCIPlace: at("0000:02:00.0")}},
		NICs:  []schema.NIC{{ID: "0000:03:00.0", Name: "eth0", Type: "ethernet", Speed: 5e10, Up: true, PCIPlace: port}},
		Disks: []schema.Disk{{ID: "wwn-1", Name: "nvme0n1", Size: 1 << 40, PCIPlace: schema.PCIPlace{NUMA: -1}}},
		Links: []schema.Link{
			{From: device("GPU-1"), To: device("0000:02:00.0"), Kind: schema.LinkPCIeSwitch, Bandwidth: 63e9, Hops: 1, Distance: 10, Origin: schema.OriginDerived},
			{From: schema.Part{Kind: schema.PartNode, ID: node}, To: schema.Part{Kind: schema.PartPlace, ID: "r7"}, Kind: schema.LinkRack, Origin: schema.OriginConfigured}},
		Place: schema.Place{Rack: "r7", Zone: "z1"}, Labels: map[string]string{"pool": "train"},
		Kubernetes: &schema.Kubernetes{Name: node, Labels: map[string]string{"a": "b"}, Taints: []schema.Taint{{Key: "gpu", Value: "yes", Effect: "NoSchedule"}},
			Allocatable: map[string]string{"nvidia.com/gpu": "2"}, Cordoned: true},
	}
}

// rowOf is the record of a document, as the pipeline would read it off Kafka.
func rowOf(t *testing.T, d *schema.Document, offset, ingest int64) inventory.Row {
	t.Helper()
	if err := d.Seal(); err != nil {
		t.Fatal(err)
	}
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	row, err := inventory.Decode(&wire.Record{Offset: offset, Ingest: ingest, Key: []byte(d.Node), Value: b})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func writeInventory(t *testing.T, db *DB, rows ...inventory.Row) {
	t.Helper()
	if err := db.NewInventorySink().WriteInventory(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}

func TestInventoryViews(t *testing.T) {
	db := openDB(t)
	writeInventory(t, db, rowOf(t, inventoryOf("n1", "6.1", t0), 0, t0+10), rowOf(t, inventoryOf("sim", "6.1", t0), 1, t0+10))
	for _, c := range []struct{ name, columns, from, want string }{
		{"nodes", "node, kernel, cpu_model, sockets, cores, threads, memory_bytes, numa_nodes, accelerators, nics, rack, zone, cordoned, labels['pool'], taints[1], allocatable['nvidia.com/gpu'], simulated",
			"nodes WHERE node = 'n1'", "n1 6.1 Xeon 2 64 128 1099511627776 1 2 1 r7 z1 1 train gpu=yes:NoSchedule 2 0"},
		{"device", "id, uid, vendor, kind, model, memory_bytes, driver_version, pci, numa, link_width, link_bandwidth, slice_ids[1], slice_profiles[1]",
			"devices WHERE node = 'n1' AND model != ''", "GPU-1 GPU-1 nvidia gpu H100 85899345920 550.54.15 0000:01:00.0 0 16 63015384615.38462 gi1 1g.10gb"},
		{"what is unknown is NULL", "id, memory_bytes IS NULL, numa IS NULL", "devices WHERE node = 'n1' AND model = ''", "0000:02:00.0 1 0"},
		{"port", "id, name, speed, up, numa IS NULL, link_bandwidth IS NULL, simulated", "nics WHERE node = 'sim'", "0000:03:00.0 eth0 50000000000 1 1 1 1"},
		{"link", "from_part, from_id, to_id, kind, bandwidth, latency IS NULL, hops, distance, length(features)", "links WHERE node = 'n1' AND kind = 'pcie_switch'",
			"device GPU-1 0000:02:00.0 pcie_switch 63000000000 1 1 10 32"},
		{"rack", "count(), uniqExact(from_id)", "links WHERE to_part = 'place' AND to_id = 'r7'", "2 2"},
		{"disk", "id, kind, bytes", "inventory_parts WHERE part = 'disk' AND node = 'n1'", "wwn-1 ssd 1099511627776"},
	} {
		if got := text(t, db, c.columns, "{db}."+c.from); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestInventoryHistory(t *testing.T) {
	db := openDB(t)
	hour := int64(3600_000)
	first := inventoryOf("n1", "6.1", t0)
	again := inventoryOf("n1", "6.1", t0)
	again.Collected += hour
	restarted := inventoryOf("n1", "6.1", t0+2*hour)
	changed := inventoryOf("n1", "6.8", t0+3*hour)
	changed.Devices = changed.Devices[:1]
	changed.Links = changed.Links[1:]
	rows := []inventory.Row{rowOf(t, first, 0, t0+5), rowOf(t, again, 1, t0+hour+5), rowOf(t, restarted, 2, t0+2*hour+5), rowOf(t, changed, 3, t0+3*hour+5)}
	for _, r := range rows {
		writeInventory(t, db, r)
	}
	check := func(what, columns, from string, want ...string) {
		t.Helper()
		if got := text(t, db, columns, "{db}."+from); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	look := func() {
		t.Helper()
		check("an unchanged document is one row", "dateDiff('hour', since, collected), dateDiff('hour', (SELECT min(since) FROM {db}.inventories), since)", "inventories FINAL ORDER BY since", "1 0", "0 2", "0 3")
		check("newest", "kernel, accelerators", "nodes", "6.8 1")
		check("only the newest's parts", "id", "devices", "GPU-1")
		check("only the newest's links", "kind", "links", "rack")
		check("changes", "fact, before, after", "inventory_changes WHERE fact NOT LIKE 'devices/%' ORDER BY fact", "host/kernel 6.1 6.8")
		check("the lost device", "count() > 0, uniqExact(time), countIf(after != '')", "inventory_changes WHERE fact LIKE 'devices/0000:02:00.0/%'", "1 1 0")
	}
	look()
	writeInventory(t, db, rows...) // another cut
	writeInventory(t, db, rows[1:3]...)
	look()

	// A node that is gone, and comes back.
	writeInventory(t, db, inventory.Row{Offset: 4, Ingest: t0 + 4*hour, Node: "n1"})
	check("gone", "count()", "nodes", "0")
	check("gone, its parts", "(SELECT count() FROM {db}.devices), (SELECT count() FROM {db}.links)", "nodes RIGHT JOIN (SELECT 1) AS one ON 1", "0 0")
	writeInventory(t, db, rowOf(t, inventoryOf("n1", "6.8", t0+5*hour), 5, t0+5*hour+5))
	check("back", "kernel", "nodes", "6.8")
}

func TestInventoryErrorNamesTheTable(t *testing.T) {
	db := openDB(t)
	mustExec(t, db, "DROP TABLE {db}.inventory_links")
	err := db.NewInventorySink().WriteInventory(context.Background(), []inventory.Row{rowOf(t, inventoryOf("n1", "6.1", t0), 0, t0)})
	if err == nil || !strings.Contains(err.Error(), "2 rows to inventory_links: ") {
		t.Errorf("%v", err)
	}
	var nodes uint64
	if one(t, db, "SELECT count() FROM {db}.inventories", &nodes); nodes != 0 {
		t.Error("a node is visible without its links")
	}
}

// Every query that the documentation shows runs and finds something.
func TestDocumentedInventoryQueries(t *testing.T) {
	doc, err := os.ReadFile("../../docs/inventory.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sql, found := strings.Cut(string(doc), "```sql\n")
	sql, _, _ = strings.Cut(sql, "```")
	statements := regexp.MustCompile(`(?s)SELECT .*?;`).FindAllString(sql, -1)
	if !found || len(statements) < 5 {
		t.Fatalf("%d statements in %q", len(statements), sql)
	}
	db := openDB(t)
	for i, kernel := range []string{"6.1", "6.8"} {
		d := inventoryOf("n1", kernel, t0+int64(i)*1000)
		d.Devices[0].Link.Width = 8
		d.Devices[0].DriverVersion += kernel
		d.Links = append(d.Links, schema.Link{From: schema.Part{Kind: schema.PartDevice, ID: "GPU-1"}, To: schema.Part{Kind: schema.PartNIC, ID: "0000:03:00.0"},
			Kind: schema.LinkPCIeSwitch, Bandwidth: 3e10, Origin: schema.OriginDerived})
		writeInventory(t, db, rowOf(t, d, int64(i), t0+int64(i)*1000))
	}
	writeInventory(t, db, rowOf(t, inventoryOf("n2", "6.1", t0), 2, t0))
	table := regexp.MustCompile(`\b(FROM|JOIN) (\w+)`)
	for _, s := range statements {
		var n uint64
		one(t, db, "SELECT count() FROM ("+table.ReplaceAllString(strings.TrimSuffix(s, ";"), "$1 {db}.$2")+")", &n)
		if n == 0 {
			t.Errorf("nothing is found by %s", s)
		}
	}
}
