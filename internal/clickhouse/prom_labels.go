package clickhouse

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/metadata"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// known is what matches, without samples. Within a span that names both ends it is what
// has a sample there; without, whatever was seen before its end.
func (p *Prometheus) known(ctx context.Context, span promSpan, ms []*labels.Matcher) ([]promSeries, error) {
	list, err := p.series(ctx, span.to, ms)
	if err != nil {
		return nil, err
	}
	if span.bounded() {
		if list, err = p.present(ctx, span, list); err != nil {
			return nil, err
		}
	}
	of, err := p.featureKeys(ctx, span, ms)
	if err != nil {
		return nil, err
	}
	return merged(append(list, of...)), nil
}

// LabelNames implements storage.LabelQuerier.
func (q *promQuerier) LabelNames(ctx context.Context, hints *storage.LabelHints, ms ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	set := map[string]bool{}
	if len(ms) == 0 {
		set[labels.MetricName] = true
		for _, v := range q.p.views {
			for _, k := range v.Keys {
				set[k] = true
			}
		}
		err := q.p.column(ctx, "promql_label_names.sql", promData{Limit: labelLimit(hints)}, q.span.to, set)
		return limited(set, hints), nil, err
	}
	list, err := q.p.known(ctx, q.span, ms)
	for _, s := range list {
		s.labels.Range(func(l labels.Label) { set[l.Name] = true })
	}
	return limited(set, hints), nil, err
}

// LabelValues implements storage.LabelQuerier.
func (q *promQuerier) LabelValues(ctx context.Context, name string, hints *storage.LabelHints, ms ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	set := map[string]bool{}
	if len(ms) == 0 {
		if name == labels.MetricName {
			for _, v := range q.p.views {
				for i := range v.Features {
					set[featureMetric(v, &v.Features[i])] = true
				}
			}
		}
		err := q.p.column(ctx, "promql_label_values.sql", promData{Label: seriesColumn(name), Limit: labelLimit(hints)}, q.span.to, set)
		return limited(set, hints), nil, err
	}
	list, err := q.p.known(ctx, q.span, ms)
	for _, s := range list {
		if v := s.labels.Get(name); v != "" {
			set[v] = true
		}
	}
	return limited(set, hints), nil, err
}

// maxLabels bounds a list of label names or values that its caller does not bound.
const maxLabels = 1_000_000

func labelLimit(hints *storage.LabelHints) int {
	if hints == nil || hints.Limit <= 0 {
		return maxLabels
	}
	return min(hints.Limit, maxLabels)
}

func limited(set map[string]bool, hints *storage.LabelHints) []string {
	list := sortedSet(set)
	return list[:min(len(list), labelLimit(hints))]
}

// column adds the only column of a query to set.
func (p *Prometheus) column(ctx context.Context, file string, data promData, until int64, set map[string]bool) error {
	data.Names = p.db.names
	var s string
	err := p.each(ctx, file, data, []any{until}, func(rows driver.Rows) error {
		if err := rows.Scan(&s); err != nil {
			return err
		}
		set[s] = true
		return nil
	})
	if err != nil {
		return fmt.Errorf("read labels: %w", err)
	}
	return nil
}

// Metadata is kind and unit of the metrics that have series, and of the features, by name.
// Help is only known of features: the catalogue has that of metrics.
func (p *Prometheus) Metadata(ctx context.Context) (map[string]metadata.Metadata, error) {
	out := make(map[string]metadata.Metadata)
	for _, v := range p.views {
		for i := range v.Features {
			f := &v.Features[i]
			out[featureMetric(v, f)] = metadata.Metadata{Type: model.MetricTypeGauge, Unit: f.Unit, Help: f.Description}
		}
	}
	var name, kind, unit string
	err := p.each(ctx, "promql_metadata.sql", promData{Names: p.db.names}, nil, func(rows driver.Rows) error {
		if err := rows.Scan(&name, &kind, &unit); err != nil {
			return err
		}
		out[name] = metadata.Metadata{Type: model.MetricType(kind), Unit: unit}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	return out, nil
}
