// Package fleet makes the telemetry of nodes that do not exist, for tests and
// benchmarks: every value is a function of the seed, the node, the series and the tick, so
// two fleets of one seed send the same bytes.
package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sextant/schema/wire"
)

// Base is the time of tick 0, a multiple of any interval in use. Unix ms.
const Base = 1_796_083_200_000

// Interval is the distance of scrapes, ms.
const Interval = 10_000

// Fleet is a number of nodes with PerNode series each. It is not safe for concurrent use.
type Fleet struct {
	seed  uint64
	base  int64 // unix ms of tick 0
	nodes []node
	order []int // nodes by the phase of their scrape
}

type node struct {
	name   string
	protos []proto
	tmpl   *wire.Template
	values []float64
	tick   int   // that values are of
	phase  int64 // ms after the tick at which the node is scraped
}

// New returns a fleet at its start, tick 0 at Base.
func New(nodes int, seed uint64) *Fleet { return NewAt(nodes, seed, Base) }

// NewAt returns a fleet with its tick 0 at base, unix ms. A fleet of a base near now can be
// sent to a broker that stamps its own time.
func NewAt(nodes int, seed uint64, base int64) *Fleet {
	f := &Fleet{seed: seed, base: base, nodes: make([]node, nodes)}
	var protosOf [shapes][]proto
	for s := range protosOf {
		protosOf[s] = protos(s)
	}
	for i := range f.nodes {
		n := &f.nodes[i]
		n.name = fmt.Sprintf("node-%06d.gpu.example.net", i)
		n.protos = protosOf[i%shapes]
		n.phase = int64(mix(seed+uint64(i)) % Interval)
		n.values, n.tick = make([]float64, PerNode), -1
		f.order = append(f.order, i)
	}
	slices.SortFunc(f.order, func(a, b int) int { return cmp.Compare(f.nodes[a].phase, f.nodes[b].phase) })
	return f
}

// Name is the name of node i.
func (f *Fleet) Name(i int) string { return f.nodes[i].name }

// Series describes the series of node i, in the order in which it sends them.
func (f *Fleet) Series(i int) []wire.SeriesDef {
	n := &f.nodes[i]
	defs := make([]wire.SeriesDef, len(n.protos))
	for k, p := range n.protos {
		defs[k].Type = wire.TypeGauge
		if p.kind == count || p.kind == seconds {
			defs[k].Type = wire.TypeCounter
		}
		for _, l := range p.labels {
			l.Value = strings.ReplaceAll(l.Value, "{i}", n.name+":9100")
			if l.Value == "{gpu}" {
				h := mix(f.seed ^ uint64(i)<<8 ^ uint64(p.unit))
				l.Value = fmt.Sprintf("GPU-%08x-%04x-%04x-%04x-%012x", uint32(h), uint16(h>>32), uint16(h>>48), uint16(mix(h)), mix(h)>>16)
			}
			defs[k].Labels = append(defs[k].Labels, l)
		}
	}
	return defs
}

// Scrape is the time at which node i is scraped in a tick, unix ms.
func (f *Fleet) Scrape(i, tick int) int64 {
	return f.base + int64(tick)*Interval + f.nodes[i].phase
}

// Record is the record that node i sends for a tick, in the form in which a consumer
// reads it 20 ms later. Ticks of a node must be asked for in order.
func (f *Fleet) Record(i, tick int, offset int64) wire.Record {
	n := &f.nodes[i]
	if n.tmpl == nil {
		n.tmpl = wire.NewTemplate(f.Series(i))
	}
	at := f.Scrape(i, tick)
	env := wire.Envelope{
		Version: 1, Node: n.name, Agent: fmt.Sprintf("agent-%06d", i), Target: "node/" + n.name + ":9100",
		Seq: uint64(tick + 1), Oldest: uint64(tick + 1), Scrape: at,
	}
	return wire.Record{
		Offset: offset, Ingest: at + 20, Key: []byte(n.name),
		Headers: env.AppendHeaders(nil),
		Value:   n.tmpl.AppendAt(nil, at, f.values(i, tick)),
	}
}

// Log returns what all nodes send in ticks [from, to), in the order of their scrapes.
// The first record has the given offset.
func (f *Fleet) Log(from, to int, offset int64) []wire.Record {
	log := make([]wire.Record, 0, (to-from)*len(f.nodes))
	for tick := from; tick < to; tick++ {
		for _, i := range f.order {
			log = append(log, f.Record(i, tick, offset))
			offset++
		}
	}
	return log
}

// values moves node i to a tick.
func (f *Fleet) values(i, tick int) []float64 {
	n := &f.nodes[i]
	for n.tick < tick {
		n.tick++
		for k := range n.protos {
			h := mix(f.seed ^ uint64(i)<<40 ^ uint64(k)<<24 ^ uint64(n.tick))
			n.values[k] = n.protos[k].next(n.values[k], h, n.tick == 0)
		}
	}
	return n.values
}

// next moves a value by one tick; h is its random bits.
func (p *proto) next(v float64, h uint64, first bool) float64 {
	u := unit(h)
	if first {
		if p.kind == constant || p.kind == clock {
			return p.start
		}
		v = p.start * (0.5 + u/2)
	}
	swing := unit(mix(h)) + unit(mix(h+1)) + u - 1.5
	switch p.kind {
	case walk:
		return math.Abs(math.Round(v + 2*swing*p.step))
	case percent:
		if h%3 == 0 {
			return float64(mix(h) % 101)
		}
		return math.Round(v)
	case decimals:
		return math.Round((v+swing*p.step)*1e3) / 1e3
	case ratio:
		return math.Round(math.Abs(math.Min(1, v+swing*p.step))*1e6) / 1e6
	case noise:
		return math.Abs(v + swing*p.step)
	case pages:
		return math.Min(p.start, math.Abs(math.Round((v+swing*p.step)/4096)*4096))
	case count:
		return math.Round(v) + math.Round(2*u*p.step)
	case seconds:
		return math.Round((v+2*u*p.step)*100) / 100
	case clock:
		return v + Interval/1000
	case constant:
	}
	return v
}

func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// mix is a finalizer: it spreads the bits of x.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
