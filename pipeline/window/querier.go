package window

import (
	"context"
	"fmt"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// Reader shows one group of a store to the PromQL engine, as a storage.Queryable. It is
// used by one query at a time: what a query selected is reused by the next.
type Reader struct {
	st    *Store
	group *group
	node  string // when set, only that node's series

	views []viewedSeries
}

// NewReader returns a reader of no group.
func (st *Store) NewReader() *Reader { return &Reader{st: st} }

// Use points the reader at a group, and at a single node of it unless node is "".
func (r *Reader) Use(group int, node string) {
	r.group, r.node = r.st.groups[group], node
}

// Querier implements storage.Queryable.
func (r *Reader) Querier(mint, maxt int64) (storage.Querier, error) {
	r.views = r.views[:0]
	return &querier{r, mint, maxt}, nil
}

type querier struct {
	*Reader
	mint, maxt int64
}

// Select implements storage.Querier. The matchers are those of a selector of a kept
// expression, so the answer is a list that was kept ready.
func (q *querier) Select(_ context.Context, _ bool, hints *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	i, ok := q.st.find(ms)
	if !ok {
		return storage.ErrSeriesSet(fmt.Errorf("selector {%s} is of no kept expression", selectorKey(ms)))
	}
	lo, hi := q.mint, q.maxt
	if hints != nil {
		lo, hi = hints.Start, hints.End
	}
	list := q.group.list(i)
	if q.node != "" {
		list = ofNode(list, q.node)
	}
	first := len(q.views)
	for _, s := range list {
		if s.newest() < lo {
			continue
		}
		if p := s.span(lo, hi); p.Len() > 0 {
			q.views = append(q.views, viewedSeries{s.Labels, p})
		}
	}
	return &seriesSet{views: q.views[first:len(q.views):len(q.views)], at: -1}
}

// ofNode is the slow way, taken only after a query of the whole group failed.
func ofNode(list []*Series, node string) []*Series {
	var out []*Series
	for _, s := range list {
		if s.node.name == node {
			out = append(out, s)
		}
	}
	return out
}

// LabelValues implements storage.LabelQuerier.
func (q *querier) LabelValues(_ context.Context, name string, _ *storage.LabelHints, ms ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, fmt.Errorf("label values of %s: the window store answers Select only", name)
}

// LabelNames implements storage.LabelQuerier.
func (q *querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, fmt.Errorf("label names: the window store answers Select only")
}

// Close implements storage.LabelQuerier.
func (q *querier) Close() error { return nil }

// viewedSeries is a series between the bounds of one selector.
type viewedSeries struct {
	labels labels.Labels
	points Span
}

// Labels implements storage.Series.
func (v *viewedSeries) Labels() labels.Labels { return v.labels }

// Iterator implements storage.Series and reuses the engine's last iterator.
func (v *viewedSeries) Iterator(it chunkenc.Iterator) chunkenc.Iterator {
	p, ok := it.(*iterator)
	if !ok {
		p = &iterator{}
	}
	p.points, p.i = v.points, -1
	return p
}

type seriesSet struct {
	views []viewedSeries
	at    int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.views) }
func (s *seriesSet) At() storage.Series                { return &s.views[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }
