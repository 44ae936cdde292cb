package scrape

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"sextant/collectors/exposition"
	"sextant/schema/wire"
)

// exporter is a source that is reached over HTTP and speaks a text format.
type exporter struct {
	fetcher *fetcher
	bodies  *sync.Pool // of *bytes.Buffer
	scanner exposition.Scanner
}

// maxKeptBody is the size, in bytes, up to which a body's buffer is used again.
const maxKeptBody = 8 << 20

func (e *exporter) close() {}

func (e *exporter) read(ctx context.Context, c *cache) (page, error) {
	body := e.bodies.Get().(*bytes.Buffer)
	body.Reset()
	defer func() {
		e.scanner.Reset(nil, exposition.Text) // it must not look into a buffer that others use
		if body.Cap() <= maxKeptBody {
			e.bodies.Put(body)
		}
	}()
	format, err := e.fetcher.fetch(ctx, body)
	switch {
	case errors.Is(err, errBodyTooLarge):
		return page{bytes: -1}, err
	case err != nil:
		return page{}, err
	}
	return e.scan(body.Bytes(), format, c)
}

func (e *exporter) scan(body []byte, format exposition.Format, c *cache) (page, error) {
	s := &e.scanner
	s.Reset(body, format)
	describe := e.describe
	for s.Next() {
		at, explicit := s.Time()
		err := c.add(s.Series(), s.Value(), explicit, at, describe)
		if err == nil {
			continue
		}
		var bad badSeries
		if !errors.As(err, &bad) {
			return page{bytes: len(body)}, err
		}
		s.Reject(bad.err)
	}
	st := s.Stats()
	p := page{bytes: len(body), badLines: st.BadLines, truncated: st.Truncated}
	if st.BadLines > 0 {
		p.firstBad = st.FirstBad.String()
	}
	return p, nil
}

// describe reads the labels of the scanner's current series.
func (e *exporter) describe() (described, error) {
	ls, err := exposition.ParseSeries(e.scanner.Series())
	if err != nil {
		return described{}, err
	}
	var b labels.ScratchBuilder
	name := ""
	for _, l := range ls {
		if l.Name == model.MetricNameLabel {
			name = l.Value
		}
	}
	meta := e.scanner.Meta(name)
	for _, l := range ls {
		b.Add(l.Name, normalBound(meta.Type, l))
	}
	return described{labels: b.Labels(), typ: meta.Type, unit: meta.Unit}, nil
}

// normalBound writes the bounds of buckets and quantiles in one way, as Prometheus does
// since version 3: le="1" of the older text format and le="1.0" of OpenMetrics are the
// same series.
func normalBound(t wire.MetricType, l wire.Label) string {
	bound := l.Name == model.BucketLabel && (t == wire.TypeHistogram || t == wire.TypeGaugeHistogram) ||
		l.Name == model.QuantileLabel && t == wire.TypeSummary
	if !bound {
		return l.Value
	}
	f, err := strconv.ParseFloat(l.Value, 64)
	if err != nil {
		return l.Value
	}
	return labels.FormatOpenMetricsFloat(f)
}
