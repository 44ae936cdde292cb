package agent

import (
	"fmt"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
	"github.com/prometheus/prometheus/prompb"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"sextant/schema/wire"
)

// write1 is a Remote-Write 1.0 request.
func write1(body []byte) (p payload, err error) {
	var req prompb.WriteRequest
	if err := req.Unmarshal(body); err != nil {
		return p, fmt.Errorf("remote write 1: %w", err)
	}
	for i := range req.Timeseries {
		name := ""
		for _, l := range req.Timeseries[i].Labels {
			if l.Name == "__name__" {
				name = l.Value
			}
		}
		for _, s := range req.Timeseries[i].Samples {
			p.add(name, s.Value)
		}
	}
	return p, nil
}

// write2 is a Remote-Write 2.0 request, which is what the agent's records are.
func write2(body []byte) (p payload, err error) {
	var d wire.Decoder
	if err := d.Scan(body); err != nil {
		return p, fmt.Errorf("remote write 2: %w", err)
	}
	names := make([]string, d.NumSeries)
	for i := range names {
		err := d.Labels(i, func(name, value []byte) bool {
			if string(name) == "__name__" {
				names[i] = string(value)
			}
			return names[i] == ""
		})
		if err != nil {
			return p, fmt.Errorf("remote write 2: series %d: %w", i, err)
		}
	}
	for i, v := range d.Values {
		series := i
		if d.Series != nil {
			series = int(d.Series[i])
		}
		p.add(names[series], v)
	}
	return p, nil
}

// otlp is an export of metrics of the OpenTelemetry collector. The pages have gauges and
// counters only, so that other kinds of points are a fault.
func otlp(body []byte) (p payload, err error) {
	metrics, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(body)
	if err != nil {
		return p, fmt.Errorf("otlp: %w", err)
	}
	for _, resource := range metrics.ResourceMetrics().All() {
		for _, scope := range resource.ScopeMetrics().All() {
			for _, m := range scope.Metrics().All() {
				if err := p.points(m); err != nil {
					return p, err
				}
			}
		}
	}
	return p, nil
}

func (p *payload) points(m pmetric.Metric) error {
	var points pmetric.NumberDataPointSlice
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		points = m.Gauge().DataPoints()
	case pmetric.MetricTypeSum:
		points = m.Sum().DataPoints()
	default:
		return fmt.Errorf("otlp: %s is a %s", m.Name(), m.Type())
	}
	for _, d := range points.All() {
		switch {
		case d.Flags().NoRecordedValue(): // a staleness marker
			p.all++
		case d.ValueType() == pmetric.NumberDataPointValueTypeInt:
			p.add(m.Name(), float64(d.IntValue()))
		default:
			p.add(m.Name(), d.DoubleValue())
		}
	}
	return nil
}

// influx is lines of InfluxDB's protocol, in which a field is a sample.
func influx(body []byte) (p payload, err error) {
	d := lineprotocol.NewDecoderWithBytes(body)
	for d.Next() {
		for {
			key, v, err := d.NextField()
			if err != nil {
				return p, fmt.Errorf("influx: %w", err)
			}
			if key == nil {
				break
			}
			number, err := number(v)
			if err != nil {
				return p, fmt.Errorf("influx: field %s: %w", key, err)
			}
			p.add(string(key), number)
		}
	}
	return p, nil
}

func number(v lineprotocol.Value) (float64, error) {
	switch v.Kind() {
	case lineprotocol.Float:
		return v.FloatV(), nil
	case lineprotocol.Int:
		return float64(v.IntV()), nil
	case lineprotocol.Uint:
		return float64(v.UintV()), nil
	}
	return 0, fmt.Errorf("%s is no number", v)
}
