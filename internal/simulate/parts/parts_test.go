package parts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sextant/internal/simulate"
	"sextant/internal/simulate/expose"
	"sextant/schema/inventory"
)

// Every node of the demo's cluster has a document that a reader takes, and says that it
// is simulated; five vendors are among the devices.
func TestDocument(t *testing.T) {
	cfg, err := simulate.Demo(64)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := simulate.New(cfg, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	vendors, kinds := map[string]int{}, map[inventory.LinkKind]int{}
	for _, n := range cluster.Nodes {
		back := documentOf(t, n)
		if !back.Simulated || back.Node != n.Name || len(back.Devices)+len(back.NICs) != len(n.Devices) {
			t.Errorf("%s: %d devices and %d ports of %d, simulated %v", back.Node, len(back.Devices), len(back.NICs), len(n.Devices), back.Simulated)
		}
		for _, v := range back.Devices {
			vendors[v.Vendor]++
			if v.PowerLimit == 0 || v.Memory == 0 || v.Link.Generation() == 0 {
				t.Errorf("%s: %+v", back.Node, v)
			}
		}
		for _, l := range back.Links {
			kinds[l.Kind]++
		}
	}
	if len(vendors) != 5 {
		t.Errorf("devices by vendor %v", vendors)
	}
	for _, k := range []inventory.LinkKind{inventory.LinkNVLink, inventory.LinkXGMI, inventory.LinkHCCS, inventory.LinkPCIeSocket, inventory.LinkRack} {
		if kinds[k] == 0 {
			t.Errorf("no link of kind %s in %v", k, kinds)
		}
	}
}

// documentOf is the node's document as a reader gets it off the topic.
func documentOf(t *testing.T, n *simulate.Node) *inventory.Document {
	t.Helper()
	d, err := Document(n, time.UnixMilli(n.Now))
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := inventory.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// A change of the MIG layout is seen in the document and on the exporter's page, with the
// same names.
func TestLayoutChange(t *testing.T) {
	const file = `
groups: [{name: g, nodes: 1, host: {cpus: 4}, devices: [{vendor: nvidia, model: A100, layout: [3g.40gb, 4g.40gb]}]}]
faults: [{kind: layout, at: 30s, nodes: "*", layout: [1g.10gb, 2g.20gb, 4g.40gb]}]
`
	cfg, err := simulate.Parse("cluster.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	c, err := simulate.New(cfg, nil, time.UnixMilli(1_700_000_000_000))
	if err != nil {
		t.Fatal(err)
	}
	n := c.Nodes[0]
	before := documentOf(t, n)
	c.Step(20 * time.Second)
	if same := documentOf(t, n); same.Hash != before.Hash {
		t.Error("the document of an unchanged node has another hash")
	}
	c.Step(40 * time.Second)
	after := documentOf(t, n)
	if after.Hash == before.Hash {
		t.Fatal("another layout has the same hash")
	}
	at := "devices/" + n.Devices[0].UID + "/slices/"
	old, now := before.Facts(), after.Facts()
	if old[at+"gi1"] != "mig_gpu 3g.40gb" || now[at+"gi1"] != "mig_gpu 1g.10gb" || old[at+"gi3"] != "" || now[at+"gi3"] != "mig_gpu 4g.40gb" {
		t.Errorf("before %v, after %v", old, now)
	}
	page, err := expose.Page(nil, simulate.DCGM, n.View(simulate.DCGM))
	if err != nil {
		t.Fatal(err)
	}
	var slicesOf []string
	for _, s := range after.Series(inventory.MaxSeriesLinks) {
		if s.Family.Name == "inventory_slice_info" {
			slicesOf = append(slicesOf, fmt.Sprint(s.Labels))
		}
	}
	if len(slicesOf) != 3 {
		t.Errorf("slices %q", slicesOf)
	}
	for i, profile := range n.Devices[0].Layout {
		labels := fmt.Sprintf(`GPU_I_PROFILE="%s",GPU_I_ID="%d"`, profile, i+1)
		if !strings.Contains(string(page), labels) {
			t.Errorf("the page has no %s", labels)
		}
		if !slices.ContainsFunc(slicesOf, func(s string) bool {
			return strings.Contains(s, fmt.Sprintf("{slice %d}", i+1)) && strings.Contains(s, "{profile "+profile+"}")
		}) {
			t.Errorf("no series of slice %d, %s, in %q", i+1, profile, slicesOf)
		}
	}
}
