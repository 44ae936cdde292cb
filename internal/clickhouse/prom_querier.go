package clickhouse

import (
	"context"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// promQuerier answers the selectors of one query.
type promQuerier struct {
	p    *Prometheus
	span promSpan
}

// Select implements storage.Querier. Nothing is read before the first Next.
func (q *promQuerier) Select(ctx context.Context, _ bool, hints *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	span := q.span
	onlyLabels := false
	if hints != nil {
		span = promSpan{hints.Start, hints.End}.clamp()
		onlyLabels = hints.Func == "series"
	}
	return &promSet{at: -1, read: func() ([]promSeries, error) {
		if onlyLabels {
			return q.p.known(ctx, span, ms)
		}
		return q.p.selected(ctx, span, ms)
	}}
}

// Close implements storage.LabelQuerier.
func (*promQuerier) Close() error { return nil }

// selected reads everything that matches, by labels.
func (p *Prometheus) selected(ctx context.Context, span promSpan, ms []*labels.Matcher) ([]promSeries, error) {
	list, err := p.series(ctx, span.to, ms)
	if err != nil {
		return nil, err
	}
	if err := p.samples(ctx, span, list); err != nil {
		return nil, err
	}
	of, err := p.features(ctx, span, ms)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(append(list, of...), func(s promSeries) bool { return len(s.times) == 0 })
	return merged(list), nil
}

// merged sorts by labels, and makes one series of those with equal labels.
func merged(list []promSeries) []promSeries {
	slices.SortFunc(list, func(a, b promSeries) int { return labels.Compare(a.labels, b.labels) })
	out := list[:0]
	for _, s := range list {
		if n := len(out); n > 0 && labels.Equal(out[n-1].labels, s.labels) {
			out[n-1].times, out[n-1].values = union(out[n-1], s)
			continue
		}
		out = append(out, s)
	}
	return out
}

// union is the points of a and those of b at other times.
func union(a, b promSeries) (times []int64, values []float64) {
	i, j := 0, 0
	for i < len(a.times) || j < len(b.times) {
		if j == len(b.times) || i < len(a.times) && a.times[i] <= b.times[j] {
			if j < len(b.times) && a.times[i] == b.times[j] {
				j++
			}
			times, values = append(times, a.times[i]), append(values, a.values[i])
			i++
			continue
		}
		times, values = append(times, b.times[j]), append(values, b.values[j])
		j++
	}
	return times, values
}

// promSet is a storage.SeriesSet that reads when it is first asked.
type promSet struct {
	read func() ([]promSeries, error)
	list []promSeries
	at   int
	err  error
}

func (s *promSet) Next() bool {
	if s.read != nil {
		s.list, s.err = s.read()
		s.read = nil
	}
	s.at++
	return s.err == nil && s.at < len(s.list)
}

func (s *promSet) At() storage.Series                { return &s.list[s.at] }
func (s *promSet) Err() error                        { return s.err }
func (s *promSet) Warnings() annotations.Annotations { return nil }

// Labels implements storage.Series.
func (s *promSeries) Labels() labels.Labels { return s.labels }

// Iterator implements storage.Series, and uses the engine's last iterator again.
func (s *promSeries) Iterator(it chunkenc.Iterator) chunkenc.Iterator {
	p, ok := it.(*promIterator)
	if !ok {
		p = new(promIterator)
	}
	*p = promIterator{series: s, at: -1}
	return p
}

func sortedSet(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for v := range set {
		out = append(out, v)
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
