package features

import (
	"fmt"

	"github.com/prometheus/prometheus/model/labels"

	"sextant/internal/testkit/fleet"
	"sextant/pipeline"
	"sextant/pipeline/window"
	"sextant/schema/quality"
)

// originals is how many nodes have telemetry of their own. A node of a larger fleet has
// that of one of them, under its own name.
const originals = 64

// telemetry is what the nodes sent, as the pipeline normalises it, without the series that
// no expression reads.
type telemetry struct{ nodes []node }

type node struct {
	series []labels.Labels
	ticks  [][]point // in the order in which they were scraped
}

type point struct {
	series int // index into node.series
	t      int64
	v      float64
}

// record has a machine of the pipeline read what a fleet sends in so many ticks.
func record(ticks int, keep *window.Store) (*telemetry, error) {
	f := fleet.New(originals, 1)
	m, err := pipeline.NewMachine(pipeline.Config{Topic: "bench"}, pipeline.Checkpoint{})
	if err != nil {
		return nil, err
	}
	index := map[string]int{}
	for i := range originals {
		index[f.Name(i)] = i
	}
	r := recorder{t: &telemetry{make([]node, originals)}, places: map[uint64]place{}, nodes: index, keep: keep}
	for tick := range ticks {
		for _, rec := range f.Log(tick, tick+1, int64(tick*originals)) {
			if err := m.Add(rec); err != nil {
				return nil, err
			}
		}
		batch := m.Take()
		r.take(batch)
		m.Recycle(batch)
	}
	return r.t, nil
}

// recorder sorts the samples of batches by node and tick.
type recorder struct {
	t      *telemetry
	places map[uint64]place // by series id, of those that are read
	nodes  map[string]int
	keep   *window.Store
}

type place struct{ node, series int }

func (r *recorder) take(b *pipeline.Batch) {
	for i := range b.Series {
		r.series(&b.Series[i])
	}
	for i := range r.t.nodes {
		r.t.nodes[i].ticks = append(r.t.nodes[i].ticks, nil)
	}
	for i, id := range b.Samples.Series {
		p, ok := r.places[id]
		if !ok || b.Samples.Flags[i]&(quality.Late|quality.Unusable) != 0 {
			continue
		}
		last := &r.t.nodes[p.node].ticks[len(r.t.nodes[p.node].ticks)-1]
		*last = append(*last, point{p.series, b.Samples.Time[i], b.Samples.Value[i]})
	}
}

func (r *recorder) series(row *pipeline.SeriesRow) {
	b := labels.NewBuilder(labels.EmptyLabels())
	b.Set(labels.MetricName, row.Name)
	for _, l := range row.Labels {
		b.Set(l.Name, l.Value)
	}
	ls := b.Labels()
	if r.keep.NewSeries(row.Node, ls) == nil {
		return
	}
	n := &r.t.nodes[r.nodes[row.Node]]
	r.places[row.ID] = place{r.nodes[row.Node], len(n.series)}
	n.series = append(n.series, ls)
}

func nameOf(i int) string { return fmt.Sprintf("node-%06d.gpu.example.net", i) }

// seriesOf returns the labels of node i's series.
func (t *telemetry) seriesOf(i int) []labels.Labels {
	n := &t.nodes[i%originals]
	out := make([]labels.Labels, len(n.series))
	b := labels.NewBuilder(labels.EmptyLabels())
	for k, ls := range n.series {
		b.Reset(ls)
		b.Set("node", nameOf(i))
		out[k] = b.Labels()
	}
	return out
}

// pointsOf returns what node i sent in a tick.
func (t *telemetry) pointsOf(i, tick int) []point { return t.nodes[i%originals].ticks[tick] }
