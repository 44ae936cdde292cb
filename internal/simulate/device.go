package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Unit is what work is given: a device, one slice of it, or a share of the CPUs of a node
// without accelerators.
type Unit struct {
	Slice    *Slice  // nil: the whole device
	Capacity float64 // bytes
	Job      *Job    // nil: free

	Busy   float64 // share of time with work on it, of this unit: 0 to 1
	Tensor float64 // share of time with the matrix pipes busy, of this unit
	Stream float64 // of the memory bandwidth that the unit has
	Memory float64 // bytes in use

	noise float64
}

// share is the unit's part of its device.
func (u *Unit) share() float64 {
	if u.Slice != nil {
		return u.Slice.Share
	}
	return 1
}

// Event is something that happened to a device.
type Event struct {
	At   int64 // unix ms
	Code int
}

// Device is one accelerator or network adapter. Its readings agree with each other at the
// end of each step, and its counters are sums of the readings over the steps.
type Device struct {
	*Model
	Index  int // on its node
	UID    string
	Serial string
	PCI    string // 0000:17:00.0
	Layout []string
	Units  []Unit

	Busy, Tensor, Stream           float64 // 0 to 1, of the device
	Memory                         float64 // bytes in use by work
	Power                          float64 // watts, over the last step
	Temperature, MemoryTemperature float64 // °C
	Clock                          float64 // MHz
	PCIeTx, PCIeRx                 float64 // bytes per second, as the device sees it
	LinkTx, LinkRx                 float64 // bytes per second, all links
	PortDown                       bool    // of a network adapter

	// Since the node booted.
	Joules                               float64
	PCIeTxBytes, PCIeRxBytes             float64
	LinkTxBytes, LinkRxBytes             float64
	ReadBytes, WriteBytes                float64 // of the device's memory
	PowerThrottledSec, HeatThrottledSec  float64
	SingleBitErrors, DoubleBitErrors     int
	SingleBitErrorsAll, DoubleBitErrsAll int // survive a boot
	LinkDowned                           int // times that a port of a network adapter went down

	XID    int     // the last, 0 for none
	XIDs   []Event // the last 5 minutes
	Errors []int   // Ascend error codes in force

	// Faults in force, set anew in each step.
	Blank     []string // metrics without a value
	Unescaped bool     // a label of its pod holds a quote
	heat      float64  // °C above the room's
	cap       float64  // watts

	throttle float64 // factor of the clock that heat leaves, 0 to 1
	noise    float64
}

const (
	room        = 27.0 // °C of the air at the inlet
	lag         = 25.0 // s, time constant of a heat sink
	memoryLag   = 45.0 // s
	minThrottle = 0.3  // the clock is never pressed below this factor
	hottest     = 66.0 // °C that a device reaches at its full power in the room's air
)

func newDevice(m *Model, index int, layout []string, r *rand.Rand) (Device, error) {
	d := Device{Model: m, Index: index, Layout: layout, throttle: 1, Temperature: room, MemoryTemperature: room, Clock: m.ClockIdle, Power: m.Idle}
	d.UID = uid(m.Vendor, r)
	d.Serial = fmt.Sprintf("SIM%010d", r.IntN(1e9))
	d.PCI = fmt.Sprintf("0000:%02x:00.0", 0x17+index*9)
	return d, d.cut(layout)
}

// uid is made up, in the form of the vendor's.
func uid(v Vendor, r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	uuid := fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&(1<<48-1))
	switch v {
	case NVIDIA:
		return "GPU-" + uuid
	case Ascend:
		return fmt.Sprintf("%08X-%08X-%08X-%08X-%08X", a>>32, a&0xffffffff, b>>32, b&0xffffffff, uint32(a^b))
	case Gaudi:
		return fmt.Sprintf("01P0-HL2080A0-15-SIM%03d-%02d-%02d-%02d", a%1000, a>>32%100, b%100, b>>32%100)
	default:
		return uuid
	}
}

// cut gives the device the units of a layout. Work on the old ones is gone.
func (d *Device) cut(layout []string) error {
	parts, err := d.slicesOf(layout)
	if err != nil {
		return err
	}
	d.Layout, d.Units = layout, nil
	switch {
	case !d.Compute:
	case parts == nil:
		d.Units = []Unit{{Capacity: d.Model.Memory - d.Reserved}}
	default:
		for i := range parts {
			d.Units = append(d.Units, Unit{Slice: &parts[i], Capacity: parts[i].Memory})
		}
	}
	return nil
}

// Sliced tells whether work is given slices and not the device.
func (d *Device) Sliced() bool { return len(d.Units) > 0 && d.Units[0].Slice != nil }

// Total is the memory of the device in bytes.
func (d *Device) Total() float64 { return d.Model.Memory }

// step moves the device by dt seconds. Its units have their work of this step.
func (d *Device) step(dt float64, r *rand.Rand) {
	d.noise = 0.9*d.noise + 0.1*r.NormFloat64()
	d.Busy, d.Tensor, d.Stream, d.Memory = 0, 0, 0, 0
	for i := range d.Units {
		u := &d.Units[i]
		d.Busy += u.Busy * u.share()
		d.Tensor += u.Tensor * u.share()
		d.Stream += u.Stream * u.share()
		d.Memory += u.Memory
	}
	d.Busy, d.Stream = min(d.Busy, 1), min(d.Stream, 1)
	if d.Compute {
		d.electric(dt)
	} else {
		d.adapter()
	}
	d.thermal(dt)
	d.count(dt)
}

// electric finds the clock that the power cap and the heat allow, and the power at it.
func (d *Device) electric(dt float64) {
	limit := d.TDP
	if d.cap > 0 {
		limit = min(limit, max(d.cap, d.Idle*1.1))
	}
	// Full matrix work at the full clock would draw more than the limit, as it does on
	// real boards: the clock gives way, and the power stays at the limit.
	active := 0.45*d.Busy + 0.5*d.Tensor + 0.2*d.Stream
	dynamic := (d.TDP - d.Idle) * active * (1 + 0.02*d.noise)
	f := 1.0
	if room := limit - d.Idle; dynamic > room {
		f = math.Sqrt(room / dynamic)
		d.PowerThrottledSec += dt
	}
	if d.throttle < 1 && d.throttle < f {
		f = d.throttle
		d.HeatThrottledSec += dt
	}
	d.Power = d.Idle*(1+0.005*d.noise) + dynamic*f*f
	d.Power = min(max(d.Power, d.Idle*0.9), limit)
	d.Clock = d.ClockIdle
	if d.Busy > 0.005 {
		d.Clock += (d.ClockMax - d.ClockIdle) * f
	}
}

// adapter is a network adapter: its power follows its traffic.
func (d *Device) adapter() {
	d.Busy = min((d.LinkTx+d.LinkRx)/(2*d.Link), 1)
	d.Power = d.Idle + (d.TDP-d.Idle)*d.Busy
	d.Clock = d.ClockMax
}

// thermal moves the temperatures toward where the power would bring them, exactly for a
// power that was constant over the step, and lets heat press the clock.
func (d *Device) thermal(dt float64) {
	air := room + d.heat
	steady := air + (hottest-room)*d.Power/d.TDP
	d.Temperature += (steady - d.Temperature) * (1 - math.Exp(-dt/lag))
	memory := steady + 6*d.Stream
	d.MemoryTemperature += (memory - d.MemoryTemperature) * (1 - math.Exp(-dt/memoryLag))
	over := d.Temperature - d.Hot
	switch {
	case over > 0:
		d.throttle = max(d.throttle-0.02*dt*min(over, 3), minThrottle)
	case over < -2:
		d.throttle = min(d.throttle+0.01*dt, 1)
	}
}

// count adds what the step's rates make.
func (d *Device) count(dt float64) {
	d.Joules += d.Power * dt
	d.PCIeTxBytes += d.PCIeTx * dt
	d.PCIeRxBytes += d.PCIeRx * dt
	d.LinkTxBytes += d.LinkTx * dt
	d.LinkRxBytes += d.LinkRx * dt
	d.ReadBytes += d.Stream * d.Bandwidth * 0.7 * dt
	d.WriteBytes += d.Stream * d.Bandwidth * 0.3 * dt
}

// boot forgets what a boot forgets.
func (d *Device) boot() {
	*d = Device{Model: d.Model, Index: d.Index, UID: d.UID, Serial: d.Serial, PCI: d.PCI, Layout: d.Layout, Units: d.Units,
		SingleBitErrorsAll: d.SingleBitErrorsAll, DoubleBitErrsAll: d.DoubleBitErrsAll,
		throttle: 1, Temperature: room, MemoryTemperature: room, Clock: d.ClockIdle, Power: d.Idle}
	for i := range d.Units {
		d.Units[i] = Unit{Slice: d.Units[i].Slice, Capacity: d.Units[i].Capacity}
	}
}

// clone shares nothing that a later step changes.
func (d *Device) clone() Device {
	c := *d
	c.Units = slices.Clone(d.Units)
	c.XIDs = slices.Clone(d.XIDs)
	c.Errors = slices.Clone(d.Errors)
	return c
}
