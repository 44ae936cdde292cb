package receive

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"sextant/schema/wire"
)

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
	// key is a hash of the labels and the metadata of series i. Equal keys mean equal
	// labels; the same labels may have several keys.
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
	if err := s.Scan(b); err != nil {
		return batch{}, err
	}
	s.budget = labelBudget
	return batch{protocol: v2, layout: s.Layout, times: s.Times, values: s.Values, index: s.Series,
		series: s.NumSeries, histograms: s.Histograms, exemplars: s.Exemplars, described: s}, nil
}

// decoderV2 gives the series of a 2.0 request a key.
type decoderV2 struct {
	wire.Decoder
	text   []byte
	add    func(name, value []byte) bool
	budget int // bytes of labels that may still be read
}

const (
	// maxSeriesBytes bounds the labels and metadata of one series.
	maxSeriesBytes = 64 << 10
	// labelBudget bounds the labels of one request. A small 2.0 request can refer to
	// the same large symbol from every series.
	labelBudget = 128 << 20
)

func (d *decoderV2) key(i int) ([2]uint64, error) {
	if d.add == nil {
		d.add = func(name, value []byte) bool {
			d.text = append(append(append(append(d.text, name...), 0xff), value...), 0xff)
			return len(d.text) <= maxSeriesBytes
		}
	}
	d.text = d.text[:0]
	if d.budget < 0 {
		return [2]uint64{}, fmt.Errorf("series %d: the labels of the request have more than %d bytes", i, labelBudget)
	}
	if err := d.Labels(i, d.add); err != nil {
		return [2]uint64{}, err
	}
	typ, unit, help := d.Meta(i)
	d.text = append(append(append(append(d.text, byte(typ)), unit...), 0xff), help...)
	d.budget -= len(d.text)
	if len(d.text) > maxSeriesBytes {
		return [2]uint64{}, fmt.Errorf("series %d: more than %d bytes of labels and metadata", i, maxSeriesBytes)
	}
	sum := xxh3.Hash128Seed(d.text, d.Seed)
	return [2]uint64{sum.Hi, sum.Lo}, nil
}

// seed makes what the decoders hash unpredictable for senders.
func (d *decoders) seed(s uint64) { d.v1.seed, d.v2.Seed = s, s }

// hash is the key of a series under which it is known whoever sent it.
func hash(node string, labels []wire.Label, seed uint64) [2]uint64 {
	b := make([]byte, 0, 512)
	b = append(append(b, node...), 0xff)
	for _, l := range labels {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(l.Name)))
		b = append(b, l.Name...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(l.Value)))
		b = append(b, l.Value...)
	}
	sum := xxh3.Hash128Seed(b, seed)
	return [2]uint64{sum.Hi, sum.Lo}
}
