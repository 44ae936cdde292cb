package wire

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/zeebo/xxh3"
)

// Decoder reads one Remote-Write 2.0 request at a time, without allocating once its
// slices have grown. It hops over label references, symbols and metadata: their bytes
// are hashed, and only a layout that the reader has not seen before is worth reading
// with Labels and Meta. Not safe for concurrent use; the zero value is ready.
type Decoder struct {
	// Seed makes Layout unpredictable for senders. Zero is fine where they are trusted.
	Seed uint64

	// Layout is a 128-bit hash of everything but samples, histograms and exemplars: the
	// symbols, each series' label references and metadata, and how many samples each has.
	// Equal hashes mean the same series in the same order.
	Layout [2]uint64

	Times  []int64   // one per sample, unix ms
	Values []float64 // one per sample; NaN keeps its bits, so stale markers survive

	// Series is the series index of each sample, ascending. It is nil when every series
	// has exactly one sample: then sample i belongs to series i.
	Series []uint32

	NumSeries  int
	Histograms int // native histograms that were skipped
	Exemplars  int // exemplars that were skipped

	b       []byte
	series  []bounds // each series' message in b
	layout  []byte   // what is hashed, except the first run of symbols
	index   []uint32 // backs Series
	symbols []bounds // of the symbol table, built by the first call of Labels or Meta
	symbol  bounds   // the first run of symbol fields in b
	runs    []bounds // further runs; no known sender writes any
	pairs   []uint32 // the references that Labels works on
	count   int      // symbols seen
	single  bool     // every series so far has exactly one sample
}

// bounds is a piece of the request: b[start:end].
type bounds struct{ start, end uint32 }

var (
	errV1          = errors.New("fields 1 to 3 are reserved: is this a remote-write 1.0 request?")
	errFirstSymbol = errors.New("the first symbol is not the empty string")
)

// Scan reads request b and replaces what d held. The slices of d are valid until the
// next call, and b must not change until then. An error is permanent: a *LimitError, or
// an *OffsetError; d is then empty.
func (d *Decoder) Scan(b []byte) error {
	d.reset(b)
	if len(b) > MaxRequest {
		return &LimitError{LimitRequest, MaxRequest, len(b)}
	}
	if err := d.scan(); err != nil {
		d.reset(nil)
		return err
	}
	if !d.single {
		d.Series = d.index
	}
	d.hash()
	return nil
}

func (d *Decoder) reset(b []byte) {
	*d = Decoder{
		Seed: d.Seed, b: b, single: true,
		Times: d.Times[:0], Values: d.Values[:0],
		series: d.series[:0], layout: d.layout[:0], index: d.index[:0],
		symbols: d.symbols[:0], runs: d.runs[:0], pairs: d.pairs,
	}
}

func (d *Decoder) scan() error {
	b, p := d.b, 0
	for p < len(b) {
		t, next, err := tag(b, p)
		if err == nil {
			switch {
			case t == tagSymbol && next > p+1:
				err = errPaddedTag // the symbol table is hopped by the tag's one byte
			case t == tagSymbol:
				next, err = d.hopSymbols(p)
			case t == tagTimeSeries:
				next, err = d.scanRun(p, next)
			case t>>3 <= 3:
				err = errV1
			case t>>3 == tagSymbol>>3 || t>>3 == tagTimeSeries>>3:
				err = errWireType
			default:
				next, err = skip(b, next, t)
			}
		}
		if err != nil {
			return located(p, err)
		}
		p = next
	}
	return nil
}

// located adds the offset to an error that has none yet. Limits are about the request
// as a whole and stay as they are.
func located(p int, err error) error {
	var offset *OffsetError
	var limit *LimitError
	if errors.As(err, &offset) || errors.As(err, &limit) {
		return err
	}
	return &OffsetError{p, err}
}

// hopSymbols passes the run of symbol fields that starts at p.
func (d *Decoder) hopSymbols(p int) (int, error) {
	b, first := d.b, p
	for p < len(b) && b[p] == tagSymbol {
		start, end, err := span(b, p+1)
		if err != nil {
			return 0, located(p, err)
		}
		if d.count == 0 && start != end {
			return 0, errFirstSymbol
		}
		if d.count++; d.count > MaxSymbols {
			return 0, &LimitError{LimitSymbols, MaxSymbols, d.count}
		}
		p = end
	}
	run := bounds{uint32(first), uint32(p)}
	if d.symbol.end == 0 {
		d.symbol = run
		return p, nil
	}
	d.runs = append(d.runs, run)
	d.layout = append(d.layout, markRun)
	d.layout = append(d.layout, b[first:p]...)
	return p, nil
}

// The layout is a sequence of protobuf fields. These marks between them cannot begin a
// field, because field numbers start at 1, so different requests give different layouts.
const (
	markSeries = 1 // ends a series; its number of samples follows
	markRun    = 2 // begins a further run of symbols
)

// scanRun reads the run of series fields of which the first stands at p and its length
// at next.
func (d *Decoder) scanRun(p, next int) (int, error) {
	b := d.b
	for {
		start, end, err := span(b, next)
		if err == nil && !d.scanUsual(start, end) {
			err = d.scanSeries(start, end)
		}
		if err != nil {
			return 0, located(p, err)
		}
		if p = end; p == len(b) || b[p] != tagTimeSeries {
			return p, nil
		}
		next = p + 1
	}
}

// scanSeries reads the samples of the series in b[p:end] and appends everything else
// to the layout.
func (d *Decoder) scanSeries(p, end int) error {
	if d.NumSeries == MaxSeries {
		return &LimitError{LimitSeries, MaxSeries, MaxSeries + 1}
	}
	b := d.b[:end]
	d.series = append(d.series, bounds{uint32(p), uint32(end)})
	before, kept := len(d.Values), p
	for p < end {
		t, next, err := tag(b, p)
		drop := false
		if err == nil {
			if t == tagSample {
				next, err = d.scanSample(b, next)
				drop = true
			} else {
				next, drop, err = d.skipSeriesField(b, next, t)
			}
		}
		if err != nil {
			return located(p, err)
		}
		if drop {
			d.layout = append(d.layout, b[kept:p]...)
			kept = next
		}
		p = next
	}
	d.layout = append(d.layout, b[kept:end]...)
	samples := len(d.Values) - before
	d.layout = append(d.layout, markSeries)
	d.layout = appendUvarint(d.layout, uint64(samples))
	d.own(before, samples)
	d.NumSeries++
	return nil
}

// own notes that samples [before, before+n) belong to the current series. The index is
// only written from the first series on that has not exactly one.
func (d *Decoder) own(before, n int) {
	if d.single && n == 1 {
		return
	}
	if d.single {
		d.single = false
		if d.index == nil {
			d.index = []uint32{} // Series is not nil, even when no series has a sample
		}
		for i := range before {
			d.index = append(d.index, uint32(i))
		}
	}
	for range n {
		d.index = append(d.index, uint32(d.NumSeries))
	}
}

// skipSeriesField passes a field of a series; drop says that it is no part of the
// layout.
func (d *Decoder) skipSeriesField(b []byte, p int, t uint64) (next int, drop bool, err error) {
	switch {
	case t == tagHistogram:
		d.Histograms++
		drop = true
	case t == tagExemplar:
		d.Exemplars++
		drop = true
	case t>>3 <= 5 && t != tagRefs && t != tagRef && t != tagMetadata:
		return 0, false, errWireType
	}
	next, err = skip(b, p, t)
	return next, drop, err
}

// scanSample reads the sample whose length stands at b[p].
func (d *Decoder) scanSample(b []byte, p int) (int, error) {
	p, end, err := span(b, p)
	if err != nil {
		return 0, err
	}
	var value float64
	var ms uint64
	for b := b[:end]; p < end; {
		t, next, err := tag(b, p)
		if err != nil {
			return 0, err
		}
		switch {
		case t == tagValue && end-next >= 8:
			value, next = math.Float64frombits(binary.LittleEndian.Uint64(b[next:])), next+8
		case t == tagTimestamp:
			ms, next, err = uvarint(b, next)
		case t>>3 <= tagTimestamp>>3 && t != tagValue:
			err = errWireType
		default:
			next, err = skip(b, next, t)
		}
		if err != nil {
			return 0, err
		}
		p = next
	}
	if len(d.Values) == MaxSamples {
		return 0, &LimitError{LimitSamples, MaxSamples, MaxSamples + 1}
	}
	d.Values = append(d.Values, value)
	d.Times = append(d.Times, int64(ms))
	return end, nil
}

// hash folds the symbols, which lie in one piece, and the collected rest into Layout.
func (d *Decoder) hash() {
	symbols := xxh3.Hash128Seed(d.b[d.symbol.start:d.symbol.end], d.Seed)
	d.layout = binary.LittleEndian.AppendUint64(d.layout, symbols.Lo)
	d.layout = binary.LittleEndian.AppendUint64(d.layout, symbols.Hi)
	all := xxh3.Hash128Seed(d.layout, d.Seed)
	d.Layout = [2]uint64{all.Hi, all.Lo}
}
