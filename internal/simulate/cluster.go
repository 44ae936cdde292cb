package simulate

import (
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// Tick is the step of the model.
const Tick = time.Second

// Cluster is a simulated cluster at a moment of virtual time. It is not safe for
// concurrent use.
type Cluster struct {
	Config *Config
	Nodes  []*Node

	start  int64 // unix ms of the boot
	ticks  int64 // since the boot
	debt   time.Duration
	groups []*queue
	active []*fault
	draws  []*rand.Rand // by fault
	trace  *Trace
}

// New makes a cluster as it stands at start: booted a few minutes ago, with work on it. The trace is needed
// where the work comes from one.
func New(cfg *Config, trace *Trace, start time.Time) (*Cluster, error) {
	if cfg.Workload.Source == FromTrace && (trace == nil || len(trace.Series) == 0) {
		return nil, errors.New("simulate: the workload comes from a trace, and there is none")
	}
	c := &Cluster{Config: cfg, start: start.Add(-warmUp).UnixMilli(), trace: trace}
	for i := range cfg.Groups {
		g := &cfg.Groups[i]
		q := &queue{group: g, work: &cfg.Workload, rand: rand.New(rand.NewPCG(cfg.Seed, hash("work "+g.Name)))}
		for j := range g.Nodes {
			n, err := newNode(g, j, c.start, cfg.Seed)
			if err != nil {
				return nil, err
			}
			q.nodes = append(q.nodes, n)
		}
		c.Nodes = append(c.Nodes, q.nodes...)
		c.groups = append(c.groups, q)
	}
	for i := range cfg.Faults {
		c.draws = append(c.draws, rand.New(rand.NewPCG(cfg.Seed, uint64(i)+1)))
	}
	next := 0
	for _, q := range c.groups {
		if c.trace != nil && cfg.Workload.Source == FromTrace {
			q.trace, q.next = c.trace, &next
		} else {
			q.warm()
		}
	}
	for range int64(warmUp / Tick) {
		c.tick()
	}
	return c, nil
}

// warmUp is how long the cluster has run, without faults, when it is first seen: memory is
// filled by then, and heat sinks are warm.
const warmUp = 3 * time.Minute

// Now is the virtual time.
func (c *Cluster) Now() time.Time {
	return time.UnixMilli(c.start).Add(time.Duration(c.ticks)*Tick + c.debt)
}

// Step moves virtual time by dt. The model itself moves in whole ticks: what is left over
// counts toward the next.
func (c *Cluster) Step(dt time.Duration) {
	c.debt += dt
	for ; c.debt >= Tick; c.debt -= Tick {
		c.tick()
	}
}

// maxCatchUp bounds the ticks of one AdvanceTo. A machine that slept longer wakes up to a
// cluster that slept too.
const maxCatchUp = time.Hour

// AdvanceTo moves virtual time forward to t; it never goes back.
func (c *Cluster) AdvanceTo(t time.Time) {
	gap := t.Sub(c.Now())
	if gap <= 0 {
		return
	}
	if gap > maxCatchUp {
		c.start += (gap - Tick).Milliseconds()
		gap = Tick
	}
	c.Step(gap)
}

// tick moves everything by one tick, in a fixed order.
func (c *Cluster) tick() {
	c.ticks++
	now := float64(c.ticks) * Tick.Seconds()
	at := c.start + c.ticks*Tick.Milliseconds()
	for _, n := range c.Nodes {
		n.Now = at
	}
	for _, q := range c.groups {
		q.at, q.now = at, now
	}
	c.fail(at)
	for _, q := range c.groups {
		q.step(now)
		for _, n := range q.nodes {
			if !n.Lost {
				n.step(now, Tick.Seconds())
				n.sample(c.ticks)
			}
		}
	}
}

// Node returns the node of that name, or nil.
func (c *Cluster) Node(name string) *Node {
	for _, n := range c.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// hash makes a stream of random numbers of a name.
func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
