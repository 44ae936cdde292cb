package receive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"sextant/schema/wire"
)

// The tags of prometheus.WriteRequest and what it holds.
const (
	tagSeriesV1   = 1<<3 | wireBytes // WriteRequest
	tagMetadataV1 = 3<<3 | wireBytes
	tagSymbolV2   = 4<<3 | wireBytes // these two are fields of the 2.0 message only
	tagSeriesV2   = 5<<3 | wireBytes

	tagLabel      = 1<<3 | wireBytes // TimeSeries
	tagSample     = 2<<3 | wireBytes
	tagExemplar   = 3<<3 | wireBytes
	tagHistogram  = 4<<3 | wireBytes
	tagName       = 1<<3 | wireBytes // Label
	tagLabelValue = 2<<3 | wireBytes
	tagValue      = 1<<3 | wireFixed64 // Sample
	tagTimestamp  = 2<<3 | wireVarint
)

var errV2 = errors.New("fields 4 and 5 are not known: is this a remote-write 2.0 request?")

// decoderV1 reads one prometheus.WriteRequest at a time, without allocating once its
// slices have grown. Labels are hashed in one piece and only read by Labels. Not safe for
// concurrent use; the zero value is ready.
type decoderV1 struct {
	seed uint64

	// layout is a hash of all labels and of how many samples each series has.
	layout     [2]uint64
	times      []int64   // one per sample, unix ms
	values     []float64 // one per sample
	index      []uint32  // the series of each sample, ascending; nil when each has exactly one
	histograms int
	exemplars  int
	metadata   int

	b      []byte
	series []seriesV1
	sums   []byte // of the series, and their counts of samples: what the layout is made of
	spare  []byte
	pairs  []pair
	owners []uint32 // backs index
	single bool     // every series so far has exactly one sample
}

// seriesV1 is one series of a request.
type seriesV1 struct {
	start, end int       // its message in b
	key        [2]uint64 // hash of its labels as they stand
}

type pair struct{ name, value []byte }

// scan reads request b and replaces what d held. b must not change until the next call.
// An error is permanent.
func (d *decoderV1) scan(b []byte) error {
	*d = decoderV1{seed: d.seed, b: b, times: d.times[:0], values: d.values[:0], owners: d.owners[:0], single: true,
		series: d.series[:0], sums: d.sums[:0], spare: d.spare[:0], pairs: d.pairs[:0]}
	for p := 0; p < len(b); {
		f, err := next(b, p)
		if err == nil {
			switch f.tag {
			case tagSeriesV1:
				err = d.scanSeries(f.start, f.end)
			case tagMetadataV1:
				d.metadata++
			case tagSymbolV2, tagSeriesV2:
				err = errV2
			case 1 << 3, 1<<3 | wireFixed64, 1<<3 | wireFixed32:
				err = errWireType
			}
		}
		if err != nil {
			return fmt.Errorf("request field at byte %d: %w", p, err)
		}
		p = f.end
	}
	if !d.single {
		d.index = d.owners
	}
	sum := xxh3.Hash128Seed(d.sums, d.seed)
	d.layout = [2]uint64{sum.Hi, sum.Lo}
	return nil
}

// scanSeries reads the series in b[p:end].
func (d *decoderV1) scanSeries(p, end int) error {
	if len(d.series) == wire.MaxSeries {
		return &wire.LimitError{Limit: wire.LimitSeries, Max: wire.MaxSeries, Got: wire.MaxSeries + 1}
	}
	b := d.b[:end]
	s := seriesV1{start: p, end: end}
	samples, from, to := len(d.values), p, p // the labels lie in b[from:to], as every sender writes them
	whole := true
	for p < end {
		f, err := next(b, p)
		if err != nil {
			return err
		}
		switch f.tag {
		case tagLabel:
			if to != p {
				whole = whole && from == to
				if from == to {
					from = p
				}
			}
			to = f.end
		case tagSample:
			if err := d.scanSample(b[:f.end], f.start); err != nil {
				return err
			}
		case tagExemplar:
			d.exemplars++
		case tagHistogram:
			d.histograms++
		default:
			if f.tag>>3 <= tagHistogram>>3 {
				return errWireType
			}
		}
		p = f.end
	}
	labels := b[from:to]
	if !whole {
		labels = d.gather(s.start, end)
	}
	d.single = d.single && len(d.values) == samples+1
	sum := xxh3.Hash128Seed(labels, d.seed)
	s.key = [2]uint64{sum.Hi, sum.Lo}
	d.series = append(d.series, s)
	d.sums = binary.LittleEndian.AppendUint64(d.sums, sum.Hi)
	d.sums = binary.LittleEndian.AppendUint64(d.sums, sum.Lo)
	d.sums = binary.LittleEndian.AppendUint32(d.sums, uint32(len(d.values)-samples))
	return nil
}

// gather copies the label fields of a series that has others between them. The series has
// been read once, so it can be read again.
func (d *decoderV1) gather(p, end int) []byte {
	d.spare = d.spare[:0]
	for b := d.b[:end]; p < end; {
		f, err := next(b, p)
		if err != nil {
			panic("BUG: a series that was scanned does not parse: " + err.Error())
		}
		if f.tag == tagLabel {
			d.spare = append(d.spare, b[p:f.end]...)
		}
		p = f.end
	}
	return d.spare
}

// scanSample reads the sample in b[p:] for the series that comes next.
func (d *decoderV1) scanSample(b []byte, p int) error {
	var value float64
	var ms uint64
	for p < len(b) {
		f, err := next(b, p)
		if err != nil {
			return err
		}
		switch {
		case f.tag == tagValue:
			value = math.Float64frombits(binary.LittleEndian.Uint64(b[f.start:]))
		case f.tag == tagTimestamp:
			ms, _, _ = uvarint(b, f.start) // next has read it
		case f.tag>>3 <= tagTimestamp>>3:
			return errWireType
		}
		p = f.end
	}
	if len(d.values) == wire.MaxSamples {
		return &wire.LimitError{Limit: wire.LimitSamples, Max: wire.MaxSamples, Got: wire.MaxSamples + 1}
	}
	d.values = append(d.values, value)
	d.times = append(d.times, int64(ms))
	d.owners = append(d.owners, uint32(len(d.series)))
	return nil
}

// Labels yields the labels of series i in ascending order of their names, which need not
// be the order of the sender. Labels with an empty value are left out. The bytes belong to
// the request. The error concerns this series alone.
func (d *decoderV1) Labels(i int, yield func(name, value []byte) bool) error {
	if err := d.readLabels(i); err != nil {
		return fmt.Errorf("series %d: %w", i, err)
	}
	for _, l := range d.pairs {
		if len(l.value) > 0 && !yield(l.name, l.value) {
			return nil
		}
	}
	return nil
}

// readLabels fills pairs with the labels of series i, sorted and checked.
func (d *decoderV1) readLabels(i int) error {
	d.pairs = d.pairs[:0]
	s := d.series[i]
	for b, p := d.b[:s.end], s.start; p < s.end; {
		f, err := next(b, p)
		if err != nil {
			return err
		}
		p = f.end
		if f.tag != tagLabel {
			continue
		}
		if len(d.pairs) == wire.MaxLabels {
			return &wire.LimitError{Limit: wire.LimitLabels, Max: wire.MaxLabels, Got: wire.MaxLabels + 1}
		}
		l, err := readLabel(b[:f.end], f.start)
		if err != nil {
			return err
		}
		if err := d.insert(l); err != nil {
			return err
		}
	}
	return nil
}

// insert puts l in its place among the pairs. Most senders sort, so that is the end.
func (d *decoderV1) insert(l pair) error {
	at := len(d.pairs)
	for at > 0 {
		order := bytes.Compare(d.pairs[at-1].name, l.name)
		if order == 0 {
			return fmt.Errorf("label name %q is given twice", l.name)
		}
		if order < 0 {
			break
		}
		at--
	}
	d.pairs = append(d.pairs, pair{})
	copy(d.pairs[at+1:], d.pairs[at:])
	d.pairs[at] = l
	return nil
}

// readLabel reads the label in b[p:] and checks what concerns it alone.
func readLabel(b []byte, p int) (pair, error) {
	var l pair
	for p < len(b) {
		f, err := next(b, p)
		if err != nil {
			return l, err
		}
		switch {
		case f.tag == tagName:
			l.name = b[f.start:f.end]
		case f.tag == tagLabelValue:
			l.value = b[f.start:f.end]
		case f.tag>>3 <= tagLabelValue>>3:
			return l, errWireType
		}
		p = f.end
	}
	switch {
	case len(l.name) == 0:
		return l, errors.New("a label has an empty name")
	case len(l.name) > wire.MaxLabelName:
		return l, &wire.LimitError{Limit: wire.LimitLabelName, Max: wire.MaxLabelName, Got: len(l.name)}
	case len(l.value) > wire.MaxLabelValue:
		return l, &wire.LimitError{Limit: wire.LimitLabelValue, Max: wire.MaxLabelValue, Got: len(l.value)}
	case !utf8.Valid(l.name) || !utf8.Valid(l.value):
		return l, fmt.Errorf("label %.64q: invalid UTF-8", l.name)
	}
	return l, nil
}

// Meta is empty: a 1.0 request has no metadata of a series.
func (d *decoderV1) Meta(int) (wire.MetricType, string, string) { return 0, "", "" }

// key is a hash of the labels of series i as the sender wrote them.
func (d *decoderV1) key(i int) ([2]uint64, error) { return d.series[i].key, nil }
