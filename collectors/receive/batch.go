package receive

import "sextant/schema/wire"

// batch is a decoded request, whatever its protocol. It is valid until the next one is
// decoded.
type batch struct {
	protocol   protocol
	layout     [2]uint64 // hash of everything but the samples
	times      []int64   // one per sample, unix ms
	values     []float64 // one per sample; NaN keeps its bits
	index      []uint32  // the series of each sample, ascending; nil: sample i is of series i
	series     int
	histograms int
	exemplars  int
	described
}

// described reads what a request says of its series. It is for series that were not seen
// before, except for key.
type described interface {
	// Labels yields the labels of series i by ascending name, without empty values.
	Labels(i int, yield func(name, value []byte) bool) error
	Meta(i int) (typ wire.MetricType, unit, help string)
	// key is a hash of what the request says of series i. Equal keys mean equal labels and
	// metadata; the same labels may have several keys.
	key(i int) ([2]uint64, error)
}

// decoders read requests of both protocols.
type decoders struct {
	v1 decoderV1
	v2 decoderV2
}

func (d *decoders) decode(p protocol, b []byte) (batch, error) {
	if p == v1 {
		if err := d.v1.scan(b); err != nil {
			return batch{}, err
		}
		return batch{protocol: v1, layout: d.v1.layout, times: d.v1.times, values: d.v1.values, index: d.v1.index,
			series: len(d.v1.series), histograms: d.v1.histograms, exemplars: d.v1.exemplars, described: &d.v1}, nil
	}
	s := &d.v2
	if err := s.scan(b); err != nil {
		return batch{}, err
	}
	return batch{protocol: v2, layout: s.Layout, times: s.Times, values: s.Values, index: s.Series,
		series: s.NumSeries, histograms: s.Histograms, exemplars: s.Exemplars, described: s}, nil
}

// seed makes what the decoders hash unpredictable for senders.
func (d *decoders) seed(s uint64) { d.v1.seed, d.v2.Seed = s, s }
