package clickhouse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"sextant/features"
)

// featureMetric is the name of a feature in PromQL.
func featureMetric(v *features.View, f *features.Feature) string {
	return "feature:" + v.Name + ":" + f.Name
}

// valueLabel holds the value of a feature that is a string; the series is 1 then.
const valueLabel = "value"

// featureRows is the template's view of some features of one view.
type featureRows struct {
	viewData
	Where string
}

// features reads the features that match, as series. A row's tick is the time of its
// points. NULL, and an age above the view's TTL, end a series with a stale marker, as the
// API answers NULL_VALUE and OUTSIDE_MAX_AGE.
func (p *Prometheus) features(ctx context.Context, span promSpan, ms []*labels.Matcher) ([]promSeries, error) {
	var out []promSeries
	read := 0
	for _, v := range p.views {
		some := matching(v, ms)
		if len(some.Features) == 0 {
			continue
		}
		if err := p.checkRange(span); err != nil {
			return nil, err
		}
		list, err := p.viewSeries(ctx, some, span, ms, &read)
		if err != nil {
			return nil, fmt.Errorf("read features of %s: %w", v.Ref(), err)
		}
		out = append(out, list...)
		if len(out) > p.limits.Series {
			return nil, tooMuch("the selector matches more series than the limit of %d", p.limits.Series)
		}
	}
	return out, nil
}

// matching is v with those of its features that a matcher may choose. The matchers of
// keys, and of the value of a string, are asked where these are known.
func matching(v *features.View, ms []*labels.Matcher) *features.View {
	some := *v
	some.Features = nil
	for _, m := range ms {
		if m.Name != labels.MetricName && m.Name != valueLabel && !slices.Contains(v.Keys, m.Name) && !m.Matches("") {
			return &some
		}
	}
	for i := range v.Features {
		name := featureMetric(v, &v.Features[i])
		if !slices.ContainsFunc(ms, func(m *labels.Matcher) bool { return m.Name == labels.MetricName && !m.Matches(name) }) {
			some.Features = append(some.Features, v.Features[i])
		}
	}
	return &some
}

// keyConditions are the matchers of keys as SQL.
func keyConditions(v *features.View, ms []*labels.Matcher) string {
	var of []*labels.Matcher
	for _, m := range ms {
		if slices.Contains(v.Keys, m.Name) {
			of = append(of, m)
		}
	}
	return conditions(of, ident)
}

// viewSeries reads the features of v, which has only those that are wanted, and adds to read
// what the selector has read of all views.
func (p *Prometheus) viewSeries(ctx context.Context, v *features.View, span promSpan, ms []*labels.Matcher, read *int) ([]promSeries, error) {
	c := newFeatureColumns(v, ms, span.to)
	data := featureRows{viewData{names: p.db.names, v: v}, keyConditions(v, ms)}
	err := p.each(ctx, "promql_features.sql", data, []any{span.from, span.to}, func(rows driver.Rows) error {
		if err := rows.Scan(c.dest...); err != nil {
			return err
		}
		c.add()
		if *read += len(v.Features); *read > p.limits.Samples {
			return tooMuch("the selector reads more samples than the limit of %d", p.limits.Samples)
		}
		if len(c.out) > p.limits.Series {
			return tooMuch("the selector matches more series than the limit of %d", p.limits.Series)
		}
		return nil
	})
	c.flush()
	return c.out, err
}

// featureColumns turns rows, by key and tick, into series.
type featureColumns struct {
	view  *features.View
	ms    []*labels.Matcher
	ttl   int64 // ms
	until int64 // how far the query reads
	dest  []any

	keys []string
	tick int64
	nums []float64
	strs []string

	open [][]promSeries // by feature, of the entity whose rows come now
	key  []string       // that entity
	last int64          // its last tick
	out  []promSeries
}

func newFeatureColumns(v *features.View, ms []*labels.Matcher, until int64) *featureColumns {
	c := &featureColumns{view: v, ms: ms, until: until, ttl: v.TTL.Milliseconds(), keys: make([]string, len(v.Keys)),
		nums: make([]float64, len(v.Features)), strs: make([]string, len(v.Features)), open: make([][]promSeries, len(v.Features))}
	for i := range c.keys {
		c.dest = append(c.dest, &c.keys[i])
	}
	c.dest = append(c.dest, &c.tick)
	for i := range v.Features {
		if v.Features[i].DType == features.String {
			c.dest = append(c.dest, &c.strs[i])
		} else {
			c.dest = append(c.dest, &c.nums[i])
		}
	}
	return c
}

// add takes the row that was scanned.
func (c *featureColumns) add() {
	if c.key == nil || !slices.Equal(c.key, c.keys) {
		c.flush()
		c.key = slices.Clone(c.keys)
	} else if c.tick-c.last > c.ttl {
		c.end(c.last + c.ttl + 1)
	}
	c.last = c.tick
	for i := range c.view.Features {
		c.point(i)
	}
}

// point adds the value of one feature. Every other value of a string ends here.
func (c *featureColumns) point(i int) {
	v, text, present := c.nums[i], "", !math.IsNaN(c.nums[i])
	if c.view.Features[i].DType == features.String {
		v, text, present = 1, c.strs[i], c.strs[i] != ""
	}
	found := false
	for j := range c.open[i] {
		s := &c.open[i][j]
		if present && s.labels.Get(valueLabel) == text {
			s.put(c.tick, v)
			found = true
		} else {
			s.end(c.tick)
		}
	}
	if !present || found {
		return
	}
	s := promSeries{labels: featureLabels(c.view, i, c.keys, text)}
	s.put(c.tick, v)
	c.open[i] = append(c.open[i], s)
}

func (s *promSeries) put(t int64, v float64) {
	s.times, s.values = append(s.times, t), append(s.values, v)
}

// end puts a stale marker behind a value.
func (s *promSeries) end(t int64) {
	if n := len(s.values); n > 0 && !value.IsStaleNaN(s.values[n-1]) {
		s.put(t, math.Float64frombits(value.StaleNaN))
	}
}

// end ends every series of the entity.
func (c *featureColumns) end(t int64) {
	for i := range c.open {
		for j := range c.open[i] {
			c.open[i][j].end(t)
		}
	}
}

// flush hands the series of the entity out. They end where its last row becomes too old.
func (c *featureColumns) flush() {
	if c.key != nil && c.last+c.ttl < c.until {
		c.end(c.last + c.ttl + 1)
	}
	for i := range c.open {
		for _, s := range c.open[i] {
			if matches(s.labels, c.ms) {
				c.out = append(c.out, s)
			}
		}
		c.open[i] = nil
	}
}

func featureLabels(v *features.View, i int, keys []string, text string) labels.Labels {
	b := labels.NewScratchBuilder(len(keys) + 2)
	b.Add(labels.MetricName, featureMetric(v, &v.Features[i]))
	for k, name := range v.Keys {
		if keys[k] != "" {
			b.Add(name, keys[k])
		}
	}
	if text != "" {
		b.Add(valueLabel, text)
	}
	b.Sort()
	return b.Labels()
}

// featureKeys is what features would give, without points, of the last hour of span at
// most: that is what a list of entities is asked for, and a year of rows is not.
func (p *Prometheus) featureKeys(ctx context.Context, span promSpan, ms []*labels.Matcher) ([]promSeries, error) {
	if !slices.ContainsFunc(ms, choosesNames) {
		return nil, nil
	}
	const hour = 3600_000
	if !span.bounded() {
		span.to = min(span.to, time.Now().UnixMilli())
	}
	span.from = max(span.from, span.to-hour)
	return p.features(ctx, span, ms)
}

// choosesNames says whether a matcher asks for metrics by name.
func choosesNames(m *labels.Matcher) bool { return m.Name == labels.MetricName && !m.Matches("") }
