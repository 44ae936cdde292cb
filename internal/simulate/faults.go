package simulate

import (
	"slices"
	"time"
)

// fault is a fault that befell a node.
type fault struct {
	*Fault
	node   *Node
	device int // index; -1 for a fault of the node
	until  int64
}

// xidWindow is how long an XID is in DCGM_EXP_XID_ERRORS_COUNT, which counts a window.
const xidWindow = 5 * time.Minute

// fail begins and ends faults at the virtual time at, and puts those that last in force.
func (c *Cluster) fail(at int64) {
	for i := range c.Config.Faults {
		if f := &c.Config.Faults[i]; c.due(f) {
			c.strike(f, i, at)
		}
	}
	for _, n := range c.Nodes {
		n.Skew, n.frozen = 0, nil
		for i := range n.Devices {
			d := &n.Devices[i]
			d.heat, d.cap, d.Blank, d.Unescaped, d.Errors, d.PortDown = 0, 0, nil, false, nil, false
			d.XIDs = slices.DeleteFunc(d.XIDs, func(e Event) bool { return e.At <= at-xidWindow.Milliseconds() })
		}
	}
	c.active = slices.DeleteFunc(c.active, func(f *fault) bool {
		over := at >= f.until
		if over && f.Kind == FaultNodeLoss {
			f.node.Lost = false
			f.node.reboot()
		}
		return over
	})
	for _, f := range c.active {
		f.apply()
	}
}

// due says whether the fault may happen in this tick.
func (c *Cluster) due(f *Fault) bool {
	since := c.ticks - int64(warmUp/Tick)
	if f.At > 0 {
		return since == int64(f.At.D()/Tick)
	}
	return since > 0 && since%int64(f.Every.D()/Tick) == 0
}

// strike lets the fault befall nodes. Random numbers are drawn for each node that matches,
// so that one node's luck does not move another's.
func (c *Cluster) strike(f *Fault, index int, at int64) {
	r := c.draws[index]
	for _, n := range c.Nodes {
		if !f.matches(n.Name) || !faultInfos[f.Kind].possible(n.Group, f) {
			continue
		}
		hit, which := r.Float64() < f.Probability, r.Float64()
		if !hit || n.Lost {
			continue
		}
		device := n.victim(f, which)
		if device < 0 && faultInfos[f.Kind].device != nil {
			continue // the device that could have it has changed
		}
		begun := &fault{Fault: f, node: n, device: device, until: at + f.For.D().Milliseconds()}
		c.begin(begun, at)
	}
}

// victim is the device that the fault befalls: the one that the fault names, or one of
// those that can have it. -1 for none.
func (n *Node) victim(f *Fault, which float64) int {
	can := faultInfos[f.Kind].device
	if can == nil {
		return -1
	}
	var may []int
	for i := range n.Devices {
		if (f.Device == nil || *f.Device == i) && can(&n.Devices[i], f) {
			may = append(may, i)
		}
	}
	if len(may) == 0 {
		return -1
	}
	return may[int(which*float64(len(may)))]
}

// begin does what happens once, and keeps what lasts.
func (c *Cluster) begin(f *fault, at int64) {
	switch f.Kind {
	case FaultXID:
		d := &f.node.Devices[f.device]
		d.XID = f.Code
		d.XIDs = append(d.XIDs, Event{At: at, Code: f.Code})
		return
	case FaultECC:
		d := &f.node.Devices[f.device]
		if f.Class == "double" {
			d.DoubleBitErrors += f.Count
			d.DoubleBitErrsAll += f.Count
		} else {
			d.SingleBitErrors += f.Count
			d.SingleBitErrorsAll += f.Count
		}
		return
	case FaultLayout:
		d := &f.node.Devices[f.device]
		c.queueOf(f.node).evict(f.node, "the device was sliced in another way", func(of *Device) bool { return of == d })
		if err := d.cut(f.Layout); err != nil {
			panic("BUG: a layout passed the check: " + err.Error())
		}
		return
	case FaultLinkDown:
		f.node.Devices[f.device].LinkDowned++
	case FaultNodeLoss:
		c.queueOf(f.node).evict(f.node, "the node was lost", func(*Device) bool { return true })
		f.node.Lost = true
	}
	c.active = append(c.active, f)
}

func (c *Cluster) queueOf(n *Node) *queue {
	for _, q := range c.groups {
		if q.group == n.Group {
			return q
		}
	}
	panic("BUG: a node without its group")
}

// apply puts a lasting fault in force for this tick.
func (f *fault) apply() {
	n := f.node
	var d *Device
	if f.device >= 0 {
		d = &n.Devices[f.device]
	}
	switch f.Kind {
	case FaultThermal:
		d.heat = max(d.heat, f.Celsius)
	case FaultPower:
		if d.cap == 0 || f.Watts < d.cap {
			d.cap = f.Watts
		}
	case FaultError:
		if !slices.Contains(d.Errors, f.Code) && len(d.Errors) < maxErrorCodes {
			d.Errors = append(d.Errors, f.Code)
		}
	case FaultBlank:
		d.Blank = append(d.Blank, f.Metric)
	case FaultLinkDown:
		d.PortDown = true
	case FaultUnescaped:
		d.Unescaped = true
	case FaultFreeze:
		n.frozen = append(n.frozen, f.Exporter)
	case FaultClockSkew:
		n.Skew = f.Skew.D()
		if f.Behind {
			n.Skew = -n.Skew
		}
	}
}

// maxErrorCodes are the places that npu-exporter has for codes of a chip.
const maxErrorCodes = 10
