package clickhouse

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"
)

// How many statements read the samples of one selector at the same time, and the fewest
// series that are worth one.
const (
	readers     = 4
	seriesFewer = 250
)

// samples reads what span holds of the series of list, which are sorted by id. The
// neighbours of one statement are neighbours on disk.
func (p *Prometheus) samples(ctx context.Context, span promSpan, list []promSeries) error {
	if err := p.checkRange(span); err != nil {
		return err
	}
	part := min(idsAtOnce, max(seriesFewer, (len(list)+readers-1)/readers))
	var read atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for from := 0; from < len(list); from += part {
		some := list[from:min(from+part, len(list))]
		g.Go(func() error { return p.samplesOf(ctx, span, some, &read) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("read samples: %w", err)
	}
	return nil
}

// samplesOf is one statement. The points of all its series are in two columns; a series
// has a part of each. Nothing is allocated for a sample.
func (p *Prometheus) samplesOf(ctx context.Context, span promSpan, list []promSeries, read *atomic.Int64) error {
	var (
		times  []int64
		values []float64
		id     uint64
		t      int64
		v      float64
		at     = -1 // of list
		dest   = []any{&id, &t, &v}
	)
	ends := make([]int, len(list)) // index after the last point of each series
	data := promData{Names: p.db.names, IDs: ids(list), Visible: visible()}
	err := p.each(ctx, "promql_samples.sql", data, []any{span.from, span.to}, func(rows driver.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		for at < 0 || list[at].id != id {
			if at++; at == len(list) {
				panic("BUG: samples of a series that was not asked for")
			}
			ends[at] = len(times)
		}
		times, values = append(times, t), append(values, v)
		ends[at] = len(times)
		if n := len(times); n&(1<<12-1) == 0 && read.Add(1<<12) > int64(p.limits.Samples) {
			return tooMuch("the selector reads more samples than the limit of %d", p.limits.Samples)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if read.Add(int64(len(times)&(1<<12-1))) > int64(p.limits.Samples) {
		return tooMuch("the selector reads more samples than the limit of %d", p.limits.Samples)
	}
	first := 0
	for i := range list[:at+1] {
		list[i].times, list[i].values = times[first:ends[i]:ends[i]], values[first:ends[i]:ends[i]]
		first = ends[i]
	}
	return nil
}
