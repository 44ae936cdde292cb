package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/prometheus/model/labels"
)

// promSeries is one series with what was read of it.
type promSeries struct {
	id     uint64
	labels labels.Labels
	times  []int64 // unix ms, increasing
	values []float64
}

// series are those of the table that match, by id.
func (p *Prometheus) series(ctx context.Context, until int64, ms []*labels.Matcher) ([]promSeries, error) {
	// The store may give some that the matchers then refuse: room for them.
	candidates := 4*p.limits.Series + 1
	data := promData{Names: p.db.names, Where: ofNodes(ms) + conditions(ms, seriesColumn), Limit: candidates}
	var out []promSeries
	b := labels.NewScratchBuilder(16)
	read := 0
	var s promSeries
	var name, text string
	err := p.each(ctx, "promql_series.sql", data, []any{until}, func(rows driver.Rows) error {
		if err := rows.Scan(&s.id, &name, &text); err != nil {
			return err
		}
		read++
		s.labels = unpack(&b, name, text)
		if matches(s.labels, ms) {
			out = append(out, s)
		}
		if len(out) > p.limits.Series || read == candidates {
			return tooMuch("the selector matches more series than the limit of %d", p.limits.Series)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read series: %w", err)
	}
	return out, nil
}

// unpack makes labels of name 0xff value 0xff …
func unpack(b *labels.ScratchBuilder, name, text string) labels.Labels {
	b.Reset()
	b.Add(labels.MetricName, name)
	for text != "" {
		k, rest, _ := strings.Cut(text, "\xff")
		v, after, _ := strings.Cut(rest, "\xff")
		if v != "" {
			b.Add(k, v)
		}
		text = after
	}
	b.Sort()
	return b.Labels()
}

// present keeps the series that have a sample within span.
func (p *Prometheus) present(ctx context.Context, span promSpan, list []promSeries) ([]promSeries, error) {
	var out []promSeries
	var id uint64
	for part := range slices.Chunk(list, idsAtOnce) {
		data := promData{Names: p.db.names, IDs: ids(part), Visible: visible()}
		err := p.each(ctx, "promql_present.sql", data, []any{span.from, span.to}, func(rows driver.Rows) error {
			if err := rows.Scan(&id); err != nil {
				return err
			}
			if i, ok := slices.BinarySearchFunc(part, id, byID); ok {
				out = append(out, part[i])
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read which series have samples: %w", err)
		}
	}
	return out, nil
}

func byID(s promSeries, id uint64) int {
	switch {
	case s.id < id:
		return -1
	case s.id > id:
		return 1
	}
	return 0
}

// idsAtOnce keeps a statement below 256 KiB, the longest that a server parses by default.
const idsAtOnce = 8_000

func ids(list []promSeries) string {
	b := make([]byte, 0, 21*len(list))
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, list[i].id, 10)
	}
	return string(b)
}
