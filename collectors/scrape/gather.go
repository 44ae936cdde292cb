package scrape

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"

	"sextant/schema/wire"
)

// gatherer is a source in this process: a client_golang registry, read without HTTP and
// without text. Its series look exactly as a scrape of the same registry would make them.
type gatherer struct {
	from prometheus.Gatherer
	busy chan gathered // the answer of a gathering in flight, nil when there is none
	key  []byte
}

type gathered struct {
	families []*dto.MetricFamily
	err      error
}

// read gathers within ctx. Collectors cannot be interrupted, so one that hangs (a dead
// network mount) goes on behind the timeout and its late answer is dropped; no second
// gathering starts before it has come.
func (g *gatherer) read(ctx context.Context, c *cache) (page, error) {
	if g.busy != nil {
		select {
		case <-g.busy:
		case <-ctx.Done():
			return page{}, fmt.Errorf("a collector has not come back since an earlier scrape: %w", ctx.Err())
		}
	}
	g.busy = make(chan gathered, 1)
	go func(out chan<- gathered) {
		fs, err := g.from.Gather()
		out <- gathered{fs, err}
	}(g.busy)
	select {
	case got := <-g.busy:
		g.busy = nil
		return g.add(c, got)
	case <-ctx.Done():
		return page{}, fmt.Errorf("collectors did not finish: %w", ctx.Err())
	}
}

// close waits for a gathering in flight, but not for ever: a collector that hangs on a
// dead mount ends with the process.
func (g *gatherer) close() {
	if g.busy == nil {
		return
	}
	t := time.NewTimer(closeWait)
	defer t.Stop()
	select {
	case <-g.busy:
	case <-t.C:
	}
}

const closeWait = 2 * time.Second

// add hands over what was gathered. A registry returns what it could collect beside its
// errors, and that part is used.
func (g *gatherer) add(c *cache, got gathered) (page, error) {
	if got.err != nil && len(got.families) == 0 {
		return page{}, got.err
	}
	var p page
	if got.err != nil {
		p.firstBad = got.err.Error()
	}
	for _, f := range got.families {
		for _, m := range f.Metric {
			if err := g.metric(c, f, m); err != nil {
				return page{}, err
			}
		}
	}
	return p, nil
}

// metric adds the samples of one metric, named as the text format names them. Native
// histograms are not read.
func (g *gatherer) metric(c *cache, f *dto.MetricFamily, m *dto.Metric) error {
	e := emitter{g: g, c: c, family: f, metric: m}
	switch {
	case m.Counter != nil:
		e.sample("", wire.TypeCounter, m.Counter.GetValue())
	case m.Gauge != nil:
		e.sample("", wire.TypeGauge, m.Gauge.GetValue())
	case m.Untyped != nil:
		e.sample("", wire.TypeUnknown, m.Untyped.GetValue())
	case m.Summary != nil:
		for _, q := range m.Summary.Quantile {
			e.bound("", wire.TypeSummary, q.GetValue(), "quantile", q.GetQuantile())
		}
		e.sample("_sum", wire.TypeSummary, m.Summary.GetSampleSum())
		e.sample("_count", wire.TypeSummary, float64(m.Summary.GetSampleCount()))
	case m.Histogram != nil:
		e.histogram(m.Histogram)
	}
	return e.err
}

// emitter adds the samples of one metric and remembers the first error.
type emitter struct {
	g      *gatherer
	c      *cache
	family *dto.MetricFamily
	metric *dto.Metric
	err    error
}

func (e *emitter) histogram(h *dto.Histogram) {
	inf := false
	for _, b := range h.Bucket {
		e.bound("_bucket", wire.TypeHistogram, float64(b.GetCumulativeCount()), "le", b.GetUpperBound())
		inf = inf || math.IsInf(b.GetUpperBound(), 1)
	}
	if !inf {
		e.bound("_bucket", wire.TypeHistogram, float64(h.GetSampleCount()), "le", math.Inf(1))
	}
	e.sample("_sum", wire.TypeHistogram, h.GetSampleSum())
	e.sample("_count", wire.TypeHistogram, float64(h.GetSampleCount()))
}

func (e *emitter) sample(suffix string, typ wire.MetricType, v float64) {
	e.put(suffix, typ, v, "", 0)
}

func (e *emitter) bound(suffix string, typ wire.MetricType, v float64, label string, bound float64) {
	e.put(suffix, typ, v, label, bound)
}

func (e *emitter) put(suffix string, typ wire.MetricType, v float64, label string, bound float64) {
	if e.err != nil {
		return
	}
	k := append(e.g.key[:0], e.family.GetName()...)
	k = append(k, suffix...)
	for _, l := range e.metric.Label {
		k = append(append(append(append(k, 0xff), l.GetName()...), 0xff), l.GetValue()...)
	}
	if label != "" {
		k = strconv.AppendUint(append(k, 0xff), math.Float64bits(bound), 36)
	}
	e.g.key = k
	at := e.metric.GetTimestampMs()
	e.err = e.c.add(k, v, e.metric.TimestampMs != nil, at, func() (described, error) {
		return e.describe(suffix, typ, label, bound), nil
	})
}

func (e *emitter) describe(suffix string, typ wire.MetricType, label string, bound float64) described {
	b := labels.NewBuilder(labels.EmptyLabels())
	b.Set(labels.MetricName, e.family.GetName()+suffix)
	for _, l := range e.metric.Label {
		b.Set(l.GetName(), l.GetValue())
	}
	if label != "" {
		b.Set(label, labels.FormatOpenMetricsFloat(bound))
	}
	return described{labels: b.Labels(), typ: typ, unit: e.family.GetUnit()}
}
