package main

import (
	"testing"
	"time"

	"sextant/internal/simulate"
	"sextant/schema/inventory"
)

// Every node of the demo's cluster has a document that a reader takes, and says that it
// is simulated; five vendors are among the devices.
func TestSimulatedInventory(t *testing.T) {
	cfg, err := simulate.Demo(demoNodes)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := simulate.New(cfg, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	vendors, fabric := map[string]int{}, 0
	for _, n := range cluster.Nodes {
		d := simulatedInventory(n)
		d.Since, d.Collected = 1, 1
		if err := d.Seal(); err != nil {
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
		if !back.Simulated || back.Node != n.Name || len(back.Devices)+len(back.NICs) != len(n.Devices) {
			t.Errorf("%s: %d devices and %d ports of %d, simulated %v", back.Node, len(back.Devices), len(back.NICs), len(n.Devices), back.Simulated)
		}
		for _, v := range back.Devices {
			vendors[v.Vendor]++
		}
		for _, l := range back.Links {
			if l.Kind == inventory.LinkNVLink || l.Kind == inventory.LinkXGMI || l.Kind == inventory.LinkHCCS {
				fabric++
			}
		}
	}
	if len(vendors) != 5 || fabric == 0 {
		t.Errorf("devices by vendor %v, %d fabric links", vendors, fabric)
	}
}
