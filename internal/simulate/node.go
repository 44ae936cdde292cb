package simulate

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Node is a simulated machine.
type Node struct {
	Name    string
	Group   *Group
	Now     int64 // unix ms of the simulation
	Boot    int64 // unix ms
	Host    HostState
	Devices []Device
	Slots   []Unit // of a node without accelerators: shares of its CPUs

	// Faults in force.
	Lost bool
	Skew time.Duration // of its clock

	frozen []string // exporters
	views  map[string]*Node
	rand   *rand.Rand
}

// Clock is what the node's own clock says, in unix ms.
func (n *Node) Clock() int64 { return n.Now + n.Skew.Milliseconds() }

// Exporters lists what runs on the node.
func (n *Node) Exporters() []string { return n.Group.exporters() }

func newNode(g *Group, i int, now int64, seed uint64) (*Node, error) {
	name := g.nodeName(i)
	r := rand.New(rand.NewPCG(seed, hash(name)))
	n := &Node{Name: name, Group: g, Now: now, Boot: now, Host: newHost(g.Host, r), views: map[string]*Node{}, rand: r}
	compute := false
	for _, ds := range g.Devices {
		m, err := findModel(ds.Vendor, ds.Model)
		if err != nil {
			return nil, err
		}
		compute = compute || m.Compute
		for range ds.Count {
			d, err := newDevice(m, len(n.Devices), ds.Layout, r)
			if err != nil {
				return nil, err
			}
			n.Devices = append(n.Devices, d)
		}
	}
	if !compute {
		n.Slots = make([]Unit, max(g.Host.CPUs/8, 1))
	}
	return n, nil
}

// each calls f with every unit of the node, and its device (nil for a share of the CPUs).
func (n *Node) each(f func(*Device, *Unit)) {
	for i := range n.Slots {
		f(nil, &n.Slots[i])
	}
	for i := range n.Devices {
		d := &n.Devices[i]
		for j := range d.Units {
			f(d, &d.Units[j])
		}
	}
}

// step moves the node by dt seconds, to the virtual second now.
func (n *Node) step(now, dt float64) {
	n.pods(now)
	fabric := 0.0
	for i := range n.Devices {
		d := &n.Devices[i]
		d.PCIeRx, d.PCIeTx = 0, 0
		if d.Compute {
			d.LinkTx, d.LinkRx = 0, 0
		}
	}
	n.each(func(d *Device, u *Unit) { fabric = max(fabric, n.work(d, u, now, dt)) })
	n.adapters(fabric, dt)
	n.Host.step(n.Group.Host, dt, n.rand)
	for i := range n.Devices {
		n.Devices[i].step(dt, n.rand)
	}
}

// work lets the unit do what its job wants, and the job's pod what it wants of the host.
// It returns the job's traffic between nodes.
func (n *Node) work(d *Device, u *Unit, now, dt float64) float64 {
	u.noise = 0.9*u.noise + 0.1*n.rand.NormFloat64()
	if u.Job == nil {
		u.Busy, u.Tensor, u.Stream = 0, 0, 0
		u.Memory = max(u.Memory-u.Capacity*dt/5, 0)
		return 0
	}
	want := u.Job.at(now - u.Job.Start)
	jitter := 1 + 0.05*u.noise
	u.Busy = clamp01(want.busy * jitter)
	u.Tensor = min(clamp01(want.tensor*jitter), u.Busy)
	u.Stream = clamp01(want.stream * jitter)
	bytes := want.memory * u.Capacity
	if want.bytes > 0 {
		bytes = min(want.bytes, 0.97*u.Capacity)
	}
	// Memory fills as fast as the host can hand it over, and is freed at once.
	u.Memory += min(bytes-u.Memory, 2*gib*dt)
	u.Memory = max(u.Memory, 0)
	if d != nil {
		d.PCIeRx += want.pcieRx * jitter * d.PCIe * u.share()
		d.PCIeTx += want.pcieTx * jitter * d.PCIe * u.share()
		d.LinkTx += want.link * jitter * d.Link * u.share()
		d.LinkRx += want.link * jitter * d.Link * u.share()
	}
	p := n.podOf(u.Job)
	p.wanted += want.cpus * jitter
	p.rx, p.tx, p.dsk = p.rx+want.rx*jitter, p.tx+want.tx*jitter, p.dsk+(want.diskRead+want.diskWr)*jitter
	p.WorkingSet += min(want.hostMemory, 0.02*float64(n.Group.Host.Memory)) * min((now-u.Job.Start)/30, 1)
	return want.fabric * jitter
}

func clamp01(v float64) float64 { return min(max(v, 0), 1) }

// adapters share the traffic between nodes; without one it goes over eth0.
func (n *Node) adapters(fabric, dt float64) {
	nics := 0
	for i := range n.Devices {
		if d := &n.Devices[i]; !d.Compute && !d.PortDown {
			nics++
		}
	}
	for i := range n.Devices {
		d := &n.Devices[i]
		if d.Compute {
			continue
		}
		if d.PortDown {
			d.LinkTx, d.LinkRx = 0, 0
			continue
		}
		rate := min(fabric/float64(nics)+2e5, d.Link)
		d.LinkTx, d.LinkRx = rate, rate
		n.Host.FabricTxBys += rate * dt
		n.Host.FabricRxBytes += rate * dt
	}
}

// pods makes the list of pods that of the jobs here, and forgets what the last step wanted.
func (n *Node) pods(now float64) {
	here := map[int]*Job{}
	n.each(func(_ *Device, u *Unit) {
		if u.Job != nil {
			here[u.Job.ID] = u.Job
		}
	})
	n.Host.Pods = slices.DeleteFunc(n.Host.Pods, func(p Pod) bool { return here[p.Job.ID] != p.Job })
	for i := range n.Host.Pods {
		p := &n.Host.Pods[i]
		p.wanted, p.rx, p.tx, p.dsk, p.WorkingSet = 0, 0, 0, 0, 0
		delete(here, p.Job.ID)
	}
	n.each(func(_ *Device, u *Unit) { // in a fixed order, unlike a map's
		if j := u.Job; j != nil && here[j.ID] != nil {
			delete(here, j.ID)
			started := n.Now - int64(max(now-j.Start, 0)*1000)
			n.Host.Pods = append(n.Host.Pods, Pod{Job: j, Name: j.Pod(n), Started: started})
		}
	})
}

func (n *Node) podOf(j *Job) *Pod {
	for i := range n.Host.Pods {
		if n.Host.Pods[i].Job.ID == j.ID {
			return &n.Host.Pods[i]
		}
	}
	panic("BUG: a unit's job has no pod")
}

// reboot starts the node anew: what was counted is gone.
func (n *Node) reboot() {
	n.Boot = n.Now
	fresh := newHost(n.Group.Host, n.rand)
	fresh.DiskUsed = n.Host.DiskUsed
	n.Host = fresh
	for i := range n.Slots {
		n.Slots[i] = Unit{}
	}
	for i := range n.Devices {
		n.Devices[i].boot()
	}
	clear(n.views)
}

// sample lets the exporters whose turn it is look at the node. One that looks at each
// scrape sees the node itself, unless it is frozen.
func (n *Node) sample(second int64) {
	for _, e := range n.Exporters() {
		period := int64(n.Group.period(e))
		frozen := slices.Contains(n.frozen, e)
		switch {
		case frozen && n.views[e] != nil:
		case frozen, period > 1 && (second%period == int64(hash(n.Name+e)%uint64(period)) || n.views[e] == nil):
			n.views[e] = n.clone()
		case period == 1:
			delete(n.views, e)
		}
	}
}

// View is the node as an exporter last saw it.
func (n *Node) View(exporter string) *Node {
	if v := n.views[exporter]; v != nil {
		return v
	}
	return n
}

// clone shares nothing that a later step changes.
func (n *Node) clone() *Node {
	c := *n
	c.Host = n.Host.clone()
	c.Devices = make([]Device, len(n.Devices))
	for i := range n.Devices {
		c.Devices[i] = n.Devices[i].clone()
	}
	c.Slots = slices.Clone(n.Slots)
	c.views, c.rand = nil, nil
	return &c
}
