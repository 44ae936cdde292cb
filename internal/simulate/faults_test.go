package simulate

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// faulty is a small cluster of every vendor with one fault.
func faulty(t *testing.T, fault string) *Cluster {
	t.Helper()
	return mustNew(t, mustParse(t, `
groups:
  - name: a
    nodes: 2
    devices:
      - {vendor: nvidia, model: H100, count: 2}
      - {vendor: nvidia, model: A100, count: 1, layout: [3g.40gb, 3g.40gb]}
      - {vendor: ascend, model: 910B3, count: 1}
      - {vendor: bluefield, model: BlueField-3}
faults:
  - `+fault+"\n"))
}

// at moves c to so long after the start.
func at(c *Cluster, after time.Duration) { c.AdvanceTo(start.Add(after)) }

func TestFaultsThatLastBeginAndEnd(t *testing.T) {
	for _, tc := range []struct {
		fault string
		force func(n *Node) bool
	}{
		{`{kind: thermal, at: 60s, for: 30s, device: 1, celsius: 20}`, func(n *Node) bool { return n.Devices[1].heat == 20 }},
		{`{kind: power, at: 60s, for: 30s, device: 0, watts: 200}`, func(n *Node) bool { return n.Devices[0].cap == 200 && n.Devices[0].Power <= 200 }},
		{`{kind: error_code, at: 60s, for: 30s, code: 2162065417}`, func(n *Node) bool { return slices.Equal(n.Devices[3].Errors, []int{2162065417}) }},
		{`{kind: blank, at: 60s, for: 30s, device: 0, metric: DCGM_FI_DEV_GPU_TEMP}`, func(n *Node) bool { return slices.Equal(n.Devices[0].Blank, []string{"DCGM_FI_DEV_GPU_TEMP"}) }},
		{`{kind: unescaped_label, at: 60s, for: 30s, device: 2}`, func(n *Node) bool { return n.Devices[2].Unescaped }},
		{`{kind: clock_skew, at: 60s, for: 30s, skew: 8s}`, func(n *Node) bool { return n.Clock() == n.Now+8000 }},
		{`{kind: clock_skew, at: 60s, for: 30s, skew: 8s, behind: true}`, func(n *Node) bool { return n.Clock() == n.Now-8000 }},
		{`{kind: link_down, at: 60s, for: 30s}`, func(n *Node) bool { return n.Devices[4].PortDown && n.Devices[4].LinkRx == 0 }},
		{`{kind: node_loss, at: 60s, for: 30s}`, func(n *Node) bool { return n.Lost }},
		{`{kind: freeze, at: 60s, for: 30s, exporter: node-exporter}`, func(n *Node) bool { return n.View(NodeExporter) != n }},
	} {
		t.Run(tc.fault, func(t *testing.T) {
			c := faulty(t, tc.fault)
			for _, step := range []struct {
				after time.Duration
				want  bool
			}{{59 * time.Second, false}, {60 * time.Second, true}, {89 * time.Second, true}, {90 * time.Second, false}} {
				at(c, step.after)
				for _, n := range c.Nodes {
					if got := tc.force(n); got != step.want {
						t.Errorf("%s after the start: in force on %s is %t", step.after, n.Name, got)
					}
				}
			}
		})
	}
}

func TestXIDStaysAndItsCountPasses(t *testing.T) {
	c := faulty(t, `{kind: xid, at: 10s, code: 31, device: 0, nodes: sim-a-00}`)
	at(c, 11*time.Second)
	d, other := &c.Nodes[0].Devices[0], &c.Nodes[1].Devices[0]
	if d.XID != 31 || len(d.XIDs) != 1 || other.XID != 0 {
		t.Fatalf("XID %d, %d events; on the other node %d", d.XID, len(d.XIDs), other.XID)
	}
	at(c, 20*time.Minute)
	if d.XID != 31 || len(d.XIDs) != 0 {
		t.Errorf("after 20 minutes: XID %d, %d events in the window", d.XID, len(d.XIDs))
	}
}

func TestECCErrorsAreCounted(t *testing.T) {
	c := faulty(t, `{kind: ecc, every: 10s, class: double, count: 3, device: 0}`)
	at(c, 25*time.Second)
	if d := c.Nodes[0].Devices[0]; d.DoubleBitErrors != 6 || d.DoubleBitErrsAll != 6 || d.SingleBitErrors != 0 {
		t.Errorf("%d double since the boot, %d in all, %d single", d.DoubleBitErrors, d.DoubleBitErrsAll, d.SingleBitErrors)
	}
}

func TestLayoutChangesAndItsWorkIsGone(t *testing.T) {
	c := faulty(t, `{kind: layout, at: 10s, device: 2, layout: [1g.10gb, 1g.10gb, 2g.20gb], nodes: sim-a-00}`)
	at(c, 9*time.Second)
	d := &c.Nodes[0].Devices[2]
	var had []*Job
	for _, u := range d.Units {
		if u.Job != nil {
			had = append(had, u.Job)
		}
	}
	at(c, 10*time.Second)
	profiles := ""
	for _, u := range d.Units {
		profiles += u.Slice.Profile + " "
		if u.Job != nil && slices.Contains(had, u.Job) {
			t.Errorf("%s is still there", u.Job.Name)
		}
	}
	if profiles != "1g.10gb 1g.10gb 2g.20gb " {
		t.Errorf("slices are %s", profiles)
	}
	for _, n := range c.Nodes {
		n.each(func(_ *Device, u *Unit) {
			if u.Job != nil && slices.Contains(had, u.Job) {
				t.Errorf("%s was evicted and is on %s", u.Job.Name, n.Name)
			}
		})
	}
}

func TestALostNodeComesBackRebooted(t *testing.T) {
	c := faulty(t, `{kind: node_loss, at: 60s, for: 2m, nodes: sim-a-01}`)
	at(c, 59*time.Second)
	n := c.Node("sim-a-01")
	boot, joules := n.Boot, n.Devices[0].Joules
	at(c, 3*time.Minute)
	if n.Lost || n.Boot != start.Add(3*time.Minute).UnixMilli() || n.Boot == boot {
		t.Errorf("lost %t, booted at %s", n.Lost, time.UnixMilli(n.Boot).Sub(start))
	}
	if now := n.Devices[0].Joules; now >= joules || now <= 0 {
		t.Errorf("energy went from %g to %g J: the counter did not begin anew", joules, now)
	}
	if c.Node("sim-a-00").Boot == n.Boot {
		t.Error("the other node rebooted too")
	}
}

// TestViews: an exporter with a period sees what was there at its last look, and a frozen
// one sees nothing new.
func TestViews(t *testing.T) {
	c := faulty(t, `{kind: freeze, at: 60s, for: 60s, exporter: dcgm-exporter}`)
	n := c.Nodes[0]
	var looks []int64
	for s := range 60 {
		at(c, time.Duration(s)*time.Second)
		v := n.View(DCGM)
		if age := n.Now - v.Now; age < 0 || age >= 10_000 {
			t.Fatalf("dcgm-exporter's view is %d ms old", age)
		}
		if !slices.Contains(looks, v.Now) {
			looks = append(looks, v.Now)
		}
		if live := n.View(NodeExporter); live != n {
			t.Fatal("node_exporter looks at each scrape")
		}
	}
	if len(looks) < 6 || len(looks) > 7 {
		t.Errorf("looked %d times in a minute, want every 10 s", len(looks))
	}
	at(c, 60*time.Second)
	frozen := n.View(DCGM)
	at(c, 119*time.Second)
	if n.View(DCGM) != frozen {
		t.Error("a frozen exporter looked again")
	}
	joules := frozen.Devices[0].Joules
	at(c, 135*time.Second)
	if v := n.View(DCGM); v == frozen || v.Devices[0].Joules <= joules {
		t.Error("the exporter is still frozen")
	}
}

func TestProbability(t *testing.T) {
	hits := func(seed int) (out []string) {
		cfg := mustParse(t, fmt.Sprintf(`
seed: %d
groups: [{name: a, nodes: 60, devices: [{vendor: nvidia, model: L4}]}]
faults: [{kind: xid, every: 10s, probability: 0.1, code: 13}]
`, seed))
		c := mustNew(t, cfg)
		at(c, 15*time.Second)
		for _, n := range c.Nodes {
			if n.Devices[0].XID == 13 {
				out = append(out, n.Name)
			}
		}
		return out
	}
	one := hits(1)
	if len(one) < 2 || len(one) > 15 {
		t.Errorf("%d of 60 nodes were hit, want about 6", len(one))
	}
	if !slices.Equal(one, hits(1)) || slices.Equal(one, hits(2)) {
		t.Error("who is hit does not follow the seed")
	}
}
