package clickhouse

import (
	"math"
	"math/rand/v2"

	"sextant/pipeline"
)

// mix makes samples as a fleet of nodes sends them: of 150 series of a node, a fifth are
// constants, a fifth small integers that walk, a fifth shares of a hundred with two
// decimals, a quarter counters and the rest floats full of noise. A scrape is 10 s after
// the last, give or take a few milliseconds, and all its samples have its time. The same
// seed gives the same samples.
type mix struct {
	rng    *rand.Rand
	start  int64
	nodes  []mixNode
	scrape int // scrapes made of every node
}

type mixNode struct {
	prefix uint64
	offset int64
	series []mixSeries
}

type mixSeries struct {
	id    uint64
	kind  int
	value float64
	rate  float64
}

const mixPerNode = 150

const (
	mixConstant = iota
	mixWalk
	mixPercent
	mixCounter
	mixNoise
)

func mixKind(i int) int {
	switch i %= 20; {
	case i < 4:
		return mixConstant
	case i < 8:
		return mixWalk
	case i < 12:
		return mixPercent
	case i < 17:
		return mixCounter
	}
	return mixNoise
}

func newMix(nodes int, start int64) *mix {
	m := &mix{rng: rand.New(rand.NewPCG(1, 2)), start: start}
	for range nodes {
		n := mixNode{prefix: m.rng.Uint64() >> 48 << 48, offset: m.rng.Int64N(10_000)}
		for i := range mixPerNode {
			n.series = append(n.series, m.newSeries(n.prefix, mixKind(i)))
		}
		m.nodes = append(m.nodes, n)
	}
	return m
}

func (m *mix) newSeries(prefix uint64, kind int) mixSeries {
	s := mixSeries{id: prefix | m.rng.Uint64()>>16, kind: kind}
	switch kind {
	case mixConstant:
		s.value = float64(m.rng.IntN(1 << 30))
	case mixWalk:
		s.value = float64(m.rng.IntN(64))
	case mixPercent:
		s.value = float64(m.rng.IntN(10_000)) / 100
	case mixCounter:
		s.value = float64(m.rng.Uint64() >> 24)
		s.rate = math.Exp(m.rng.Float64() * 16) // one to nine million a scrape
	}
	return s
}

func (m *mix) next(s *mixSeries) float64 {
	switch s.kind {
	case mixWalk:
		s.value = max(0, s.value+float64(m.rng.IntN(5)-2)*float64(m.rng.IntN(2)))
	case mixPercent:
		s.value = math.Round(100*min(100, max(0, s.value+m.rng.NormFloat64()))) / 100
	case mixCounter:
		s.value += math.Floor(s.rate * (0.5 + m.rng.Float64()))
	case mixNoise:
		s.value = 50 + 10*m.rng.NormFloat64()
	}
	return s.value
}

// scrapeNode appends the next scrape of node i, in the order of its page.
func (m *mix) scrapeNode(out *pipeline.Samples, i int) (t int64) {
	n := &m.nodes[i]
	t = m.start + int64(m.scrape)*10_000 + n.offset
	if m.rng.IntN(4) == 0 {
		t += m.rng.Int64N(7) - 3
	}
	for j := range n.series {
		s := &n.series[j]
		out.Series = append(out.Series, s.id)
		out.Time = append(out.Time, t)
		out.Value = append(out.Value, m.next(s))
		out.Flags = append(out.Flags, 0)
	}
	return t
}

// scrapeAll appends a scrape of every node.
func (m *mix) scrapeAll(out *pipeline.Samples) {
	for i := range m.nodes {
		m.scrapeNode(out, i)
	}
	m.scrape++
}
