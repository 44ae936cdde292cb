package simulate

import (
	"math"
	"reflect"
	"testing"
	"time"
)

var start = time.UnixMilli(1_767_225_600_000)

func mustParse(t testing.TB, text string) *Config {
	t.Helper()
	c, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustNew(t testing.TB, cfg *Config) *Cluster {
	t.Helper()
	c, err := New(cfg, nil, start)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// readings are what a step must keep true of a node, taken before it.
type readings struct {
	boot     int64
	joules   []float64
	counters [][]float64
	cpu      float64
	net      [2]float64
}

func countersOf(d *Device) []float64 {
	return []float64{d.Joules, d.PCIeTxBytes, d.PCIeRxBytes, d.LinkTxBytes, d.LinkRxBytes, d.ReadBytes, d.WriteBytes,
		d.PowerThrottledSec, d.HeatThrottledSec, float64(d.SingleBitErrors), float64(d.DoubleBitErrors), float64(d.LinkDowned)}
}

func take(n *Node) readings {
	r := readings{boot: n.Boot, net: [2]float64{n.Host.RxBytes, n.Host.TxBytes}}
	for i := range n.Devices {
		r.joules = append(r.joules, n.Devices[i].Joules)
		r.counters = append(r.counters, countersOf(&n.Devices[i]))
	}
	for _, c := range n.Host.CPUs {
		r.cpu += c.User + c.System + c.Softirq + c.IOWait + c.Idle
	}
	return r
}

// TestInvariants runs the demo's cluster, with its faults ten times as frequent, for half
// an hour, and looks at every device after every tick.
func TestInvariants(t *testing.T) {
	cfg, err := Demo(15)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cfg.Faults {
		cfg.Faults[i].Probability = min(10*cfg.Faults[i].Probability, 1)
	}
	c := mustNew(t, cfg)
	before := map[string]readings{}
	sawHot, sawCapped := false, false
	for range 1800 {
		for _, n := range c.Nodes {
			before[n.Name] = take(n)
		}
		c.Step(Tick)
		for _, n := range c.Nodes {
			if b := before[n.Name]; b.boot == n.Boot && !n.Lost {
				checkNode(t, n, b)
			}
			for i := range n.Devices {
				sawHot = sawHot || n.Devices[i].throttle < 1
				sawCapped = sawCapped || n.Devices[i].PowerThrottledSec > 0
			}
		}
		if t.Failed() {
			t.Fatalf("at %s", c.Now().Sub(start))
		}
	}
	if !sawHot || !sawCapped {
		t.Errorf("throttled by heat %t, by power %t: the run tried too little", sawHot, sawCapped)
	}
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*max(1, math.Abs(b)) }

// checkNode holds the second that led from b to now against the laws.
func checkNode(t *testing.T, n *Node, b readings) {
	t.Helper()
	for i := range n.Devices {
		d := &n.Devices[i]
		fail := func(what string, args ...any) {
			t.Errorf("%s device %d (%s): "+what, append([]any{n.Name, i, d.Name}, args...)...)
		}
		if got := d.Joules - b.joules[i]; !near(got, d.Power, 1e-6) {
			fail("energy rose by %g J in a second at %g W", got, d.Power)
		}
		for k, v := range countersOf(d) {
			if v < b.counters[i][k] {
				fail("counter %d fell from %g to %g", k, b.counters[i][k], v)
			}
		}
		if d.Power < 0.85*d.Idle || d.Power > d.TDP*1.0001 {
			fail("power %g W is not between idle %g and full %g", d.Power, d.Idle, d.TDP)
		}
		if d.cap > 0 && d.Power > max(d.cap, 1.1*d.Idle)*1.0001 {
			fail("power %g W is above the cap %g", d.Power, d.cap)
		}
		if d.Temperature < room-1 || d.Temperature > d.Hot+25 {
			fail("temperature %g", d.Temperature)
		}
		if d.Clock < d.ClockIdle || d.Clock > d.ClockMax {
			fail("clock %g MHz is not between %g and %g", d.Clock, d.ClockIdle, d.ClockMax)
		}
		checkUnits(t, d, fail)
	}
	checkHost(t, n, b)
}

// checkUnits holds the sums over slices.
func checkUnits(t *testing.T, d *Device, fail func(string, ...any)) {
	t.Helper()
	busy, memory, room := 0.0, 0.0, 0.0
	for _, u := range d.Units {
		if u.Busy < 0 || u.Busy > 1 || u.Tensor > u.Busy || u.Stream < 0 || u.Stream > 1 {
			fail("unit busy %g, tensor %g, stream %g", u.Busy, u.Tensor, u.Stream)
		}
		if u.Memory < 0 || u.Memory > u.Capacity {
			fail("unit has %g of %g bytes", u.Memory, u.Capacity)
		}
		busy, memory, room = busy+u.Busy*u.share(), memory+u.Memory, room+u.Capacity
	}
	if d.Compute && (!near(busy, d.Busy, 1e-9) || !near(memory, d.Memory, 1e-9)) {
		fail("slices sum to busy %g and %g bytes, the device has %g and %g", busy, memory, d.Busy, d.Memory)
	}
	if room > d.Total() {
		fail("slices have %g bytes together, the device %g", room, d.Total())
	}
}

func checkHost(t *testing.T, n *Node, b readings) {
	t.Helper()
	cpu, pods, busy := 0.0, 0.0, 0.0
	for _, c := range n.Host.CPUs {
		cpu += c.User + c.System + c.Softirq + c.IOWait + c.Idle
		busy += c.User + c.System
	}
	if got := cpu - b.cpu; !near(got, float64(len(n.Host.CPUs)), 1e-6) {
		t.Errorf("%s: %d CPUs spent %g s in a second", n.Name, len(n.Host.CPUs), got)
	}
	rx, tx := 0.0, 0.0
	for _, p := range n.Host.Pods {
		pods, rx, tx = pods+p.CPUSeconds, rx+p.RxBytes, tx+p.TxBytes
	}
	if pods > busy*1.000001 || rx > n.Host.RxBytes*1.000001 || tx > n.Host.TxBytes*1.000001 {
		t.Errorf("%s: pods used %g s, received %g, sent %g; the node %g, %g, %g", n.Name, pods, rx, tx, busy, n.Host.RxBytes, n.Host.TxBytes)
	}
	if got := n.Host.RxBytes - b.net[0]; !near(got, n.Host.Rx, 1e-6) {
		t.Errorf("%s: received %g bytes in a second at %g a second", n.Name, got, n.Host.Rx)
	}
	if n.Host.Used > float64(n.Group.Host.Memory) {
		t.Errorf("%s: %g bytes of memory in use", n.Name, n.Host.Used)
	}
}

// TestSameSeedSameCluster cuts the same time in two ways.
func TestSameSeedSameCluster(t *testing.T) {
	run := func(seed uint64, steps ...time.Duration) *Cluster {
		cfg, err := Demo(15)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Seed = seed
		c := mustNew(t, cfg)
		for _, s := range steps {
			c.Step(s)
		}
		return c
	}
	state := func(c *Cluster) (out [][]float64) {
		for _, n := range c.Nodes {
			for i := range n.Devices {
				out = append(out, append(countersOf(&n.Devices[i]), n.Devices[i].Temperature, n.Host.Cores))
			}
		}
		return out
	}
	a := run(1, 10*time.Minute)
	b := run(1, 7*time.Minute, 300*time.Millisecond, 700*time.Millisecond, 3*time.Minute-time.Second)
	if !reflect.DeepEqual(state(a), state(b)) {
		t.Error("the same seed gave another cluster when time was cut in another way")
	}
	if reflect.DeepEqual(state(a), state(run(2, 10*time.Minute))) {
		t.Error("another seed gave the same cluster")
	}
	if got := a.Now().Sub(start); got != 10*time.Minute {
		t.Errorf("virtual time moved by %s", got)
	}
}

func TestAdvanceToCatchesUpAndSleeps(t *testing.T) {
	c := mustNew(t, mustParse(t, "groups: [{name: a, devices: [{vendor: nvidia, model: L4}]}]"))
	c.AdvanceTo(start.Add(30*time.Second + 400*time.Millisecond))
	if got := c.Now().Sub(start); got != 30*time.Second+400*time.Millisecond {
		t.Errorf("now is %s after the start", got)
	}
	c.AdvanceTo(start)
	if got := c.Now().Sub(start); got < 30*time.Second {
		t.Error("time went back")
	}
	ticks := c.ticks
	c.AdvanceTo(start.Add(48 * time.Hour))
	if got := c.Now().Sub(start); got != 48*time.Hour || c.ticks-ticks > 3 {
		t.Errorf("after a sleep of two days: %s, %d ticks", got, c.ticks-ticks)
	}
}

// TestHeatFollowsPowerWithALag puts full work on a cold device and looks at the curve.
func TestHeatFollowsPowerWithALag(t *testing.T) {
	m, err := findModel(NVIDIA, "H100")
	if err != nil {
		t.Fatal(err)
	}
	n, err := newNode(&Group{Name: "a", Nodes: 1, Host: defaultHost, Devices: []Devices{{NVIDIA, "H100", 1, nil}}}, 0, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := &n.Devices[0]
	at := func(seconds int) float64 {
		for range seconds {
			d.Units[0].Busy, d.Units[0].Tensor, d.Units[0].Stream = 1, 0.9, 0.6
			d.step(1, n.rand)
		}
		return d.Temperature
	}
	lagged, warm := at(int(lag)), at(600)
	if want := room + (warm-room)*(1-1/math.E); math.Abs(lagged-want) > 1.5 {
		t.Errorf("%g °C after one time constant, want %g", lagged, want)
	}
	if d.Power != m.TDP || d.Clock >= m.ClockMax {
		t.Errorf("full work: %g W at %g MHz, want the cap %g W and less than %g MHz", d.Power, d.Clock, m.TDP, m.ClockMax)
	}
	d.heat = 35
	if hot := at(900); hot > m.Hot+1.5 || d.throttle >= 1 || d.Power >= m.TDP {
		t.Errorf("in warm air: %g °C, throttle %g, %g W; want the clock to hold it near %g °C", hot, d.throttle, d.Power, m.Hot)
	}
	d.heat = 0
	if at(900); d.throttle != 1 {
		t.Errorf("throttle is still %g in cool air", d.throttle)
	}
}

func TestWorkIsPlacedAndEnds(t *testing.T) {
	c := mustNew(t, mustParse(t, `
groups:
  - {name: a, nodes: 4, devices: [{vendor: nvidia, model: H100, count: 8}]}
  - {name: b, nodes: 2}
workload: {load: 0.6}
`))
	used, seen := 0.0, map[int]bool{}
	kinds := map[string]bool{}
	const hours = 2
	for range hours * 3600 {
		c.Step(Tick)
		for _, n := range c.Nodes {
			n.each(func(_ *Device, u *Unit) {
				if u.Job == nil {
					return
				}
				used++
				seen[u.Job.ID], kinds[u.Job.Kind] = true, true
				if now := float64(c.ticks); u.Job.end() < now-1 || u.Job.Start > now {
					t.Fatalf("%s runs from %g for %g s at %g", u.Job.Name, u.Job.Start, u.Job.Length, now)
				}
			})
		}
	}
	units := 4*8 + 2*4
	if load := used / hours / 3600 / float64(units); load < 0.3 || load > 0.9 {
		t.Errorf("load was %.2f, want about 0.6", load)
	}
	if len(kinds) != len(jobKinds) || len(seen) < 15 {
		t.Errorf("%d jobs of the kinds %v", len(seen), kinds)
	}
}

func TestDemoScales(t *testing.T) {
	for _, nodes := range []int{1, 5, 11, 12, 20, 64, 65, 128, 500} {
		cfg, err := Demo(nodes)
		if err != nil {
			t.Fatal(err)
		}
		got, vendors := 0, map[Vendor]bool{}
		for _, g := range cfg.Groups {
			got += g.Nodes
			for _, d := range g.Devices {
				vendors[d.Vendor] = true
			}
		}
		if got != nodes {
			t.Errorf("asked for %d nodes, got %d", nodes, got)
		}
		if nodes >= 5 && len(vendors) < 6 {
			t.Errorf("%d nodes have devices of %v only", nodes, vendors)
		}
	}
}

func BenchmarkTick(b *testing.B) {
	cfg, err := Demo(64)
	if err != nil {
		b.Fatal(err)
	}
	c := mustNew(b, cfg)
	b.ReportAllocs()
	for b.Loop() {
		c.Step(Tick)
	}
}
