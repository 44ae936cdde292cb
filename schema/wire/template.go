package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Template encodes scrapes whose series do not change: it copies a request that was
// built once and patches values and timestamps. Safe for concurrent use.
//
// The bytes are those of the generated Prometheus encoder, with one exception: a value
// of 0 is written out, because a template has a fixed place for it.
type Template struct {
	head   []byte   // the symbol table
	body   []byte   // the series, with a placeholder sample each
	patch  []uint32 // where each series' placeholder value starts in body
	series []bounds // each series' message in body, without tag and length
}

// NewTemplate builds the template of series, in their order. It takes them as they are:
// the caller has passed their labels through CheckLabels.
func NewTemplate(series []SeriesDef) *Template {
	t := &Template{patch: make([]uint32, 0, len(series)), series: make([]bounds, 0, len(series))}
	var s symbols
	s.intern("")
	var message []byte
	for i := range series {
		message = s.appendSeries(message[:0], &series[i])
		t.body = append(t.body, tagTimeSeries)
		t.body = appendUvarint(t.body, uint64(len(message)))
		start := uint32(len(t.body))
		t.body = append(t.body, message...)
		t.series = append(t.series, bounds{start, uint32(len(t.body))})
		t.patch = append(t.patch, start+uint32(s.value))
	}
	t.head = s.appendTable(make([]byte, 0, s.size))
	t.body = slices.Clip(t.body)
	return t
}

// symbols is the table under construction.
type symbols struct {
	refs  map[string]uint32
	order []string
	size  int // bytes of the encoded table
	value int // where the value of the series that was appended last stands
}

func (s *symbols) intern(text string) uint32 {
	if ref, ok := s.refs[text]; ok {
		return ref
	}
	if s.refs == nil {
		s.refs = make(map[string]uint32)
	}
	ref := uint32(len(s.order))
	s.refs[text] = ref
	s.order = append(s.order, text)
	s.size += 1 + uvarintLen(uint64(len(text))) + len(text)
	return ref
}

func (s *symbols) appendTable(dst []byte) []byte {
	for _, text := range s.order {
		dst = append(dst, tagSymbol)
		dst = appendUvarint(dst, uint64(len(text)))
		dst = append(dst, text...)
	}
	return dst
}

// appendSeries appends the message of one series with a placeholder sample.
func (s *symbols) appendSeries(dst []byte, def *SeriesDef) []byte {
	refs := make([]byte, 0, 64)
	for _, l := range def.Labels {
		refs = appendUvarint(refs, uint64(s.intern(l.Name)))
		refs = appendUvarint(refs, uint64(s.intern(l.Value)))
	}
	start := len(dst)
	if len(refs) > 0 {
		dst = append(dst, tagRefs)
		dst = appendUvarint(dst, uint64(len(refs)))
		dst = append(dst, refs...)
	}
	dst = append(dst, tagSample, sampleLen, tagValue)
	s.value = len(dst) - start
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, tagTimestamp, 0, 0, 0, 0, 0, 0)
	return s.appendMeta(dst, def)
}

func (s *symbols) appendMeta(dst []byte, def *SeriesDef) []byte {
	meta := make([]byte, 0, 16)
	field := func(tag byte, v uint32) {
		if v != 0 {
			meta = append(meta, tag)
			meta = appendUvarint(meta, uint64(v))
		}
	}
	field(tagType, uint32(def.Type))
	field(tagHelp, s.intern(def.Help))
	field(tagUnit, s.intern(def.Unit))
	dst = append(dst, tagMetadata, byte(len(meta)))
	return append(dst, meta...)
}

// Series is the number of series, and so of the samples that each Append takes.
func (t *Template) Series() int { return len(t.patch) }

// Size is the number of bytes that Append adds when every timestamp is between 1971 and
// 2109; outside it may differ by a few bytes per sample.
func (t *Template) Size() int { return len(t.head) + len(t.body) }

// Append appends a request with one sample per series: value i at ts[i], in unix ms.
// Both must be as long as the template has series.
func (t *Template) Append(dst []byte, ts []int64, values []float64) []byte {
	if len(ts) != len(t.patch) || len(values) != len(t.patch) {
		panic(fmt.Sprintf("BUG: %d timestamps and %d values for %d series", len(ts), len(values), len(t.patch)))
	}
	for _, ms := range ts {
		if !sixBytes(ms) {
			return t.rebuild(dst, ts, values)
		}
	}
	dst, body := t.copy(dst)
	for i, at := range t.patch {
		patch(body[at:], values[i], spread(uint64(ts[i])))
	}
	return dst
}

// AppendAt is Append with one timestamp for all samples.
func (t *Template) AppendAt(dst []byte, ms int64, values []float64) []byte {
	if len(values) != len(t.patch) {
		panic(fmt.Sprintf("BUG: %d values for %d series", len(values), len(t.patch)))
	}
	if !sixBytes(ms) {
		return t.rebuild(dst, slices.Repeat([]int64{ms}, len(values)), values)
	}
	dst, body := t.copy(dst)
	at := spread(uint64(ms))
	for i, p := range t.patch {
		patch(body[p:], values[i], at)
	}
	return dst
}

// copy appends the prebuilt request and returns its series part.
func (t *Template) copy(dst []byte) (all, body []byte) {
	dst = slices.Grow(dst, t.Size())
	dst = append(dst, t.head...)
	n := len(dst)
	dst = append(dst, t.body...)
	return dst, dst[n:]
}

// patch writes value, and the timestamp behind the tag that follows it.
func patch(at []byte, value float64, ms uint64) {
	at = at[:15]
	binary.LittleEndian.PutUint64(at, math.Float64bits(value))
	binary.LittleEndian.PutUint32(at[9:], uint32(ms))
	binary.LittleEndian.PutUint16(at[13:], uint16(ms>>32))
}

// sixBytes says that ms takes six bytes as a varint, as the placeholders do.
func sixBytes(ms int64) bool { return ms >= 1<<35 && ms < 1<<42 }

// rebuild encodes timestamps of any length. Padding them to a fixed length is no way
// out: overlong varints are refused by some readers.
func (t *Template) rebuild(dst []byte, ts []int64, values []float64) []byte {
	dst = append(dst, t.head...)
	for i, at := range t.series {
		refs := t.body[at.start : t.patch[i]-3] // before tag and length of the sample, and the value's tag
		meta := t.body[t.patch[i]+sampleLen-1 : at.end]
		length := 9 // value with its tag
		if ts[i] != 0 {
			length += 1 + uvarintLen(uint64(ts[i]))
		}
		dst = append(dst, tagTimeSeries)
		dst = appendUvarint(dst, uint64(len(refs)+2+length+len(meta)))
		dst = append(dst, refs...)
		dst = append(dst, tagSample, byte(length), tagValue)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(values[i]))
		if ts[i] != 0 {
			dst = append(dst, tagTimestamp)
			dst = appendUvarint(dst, uint64(ts[i]))
		}
		dst = append(dst, meta...)
	}
	return dst
}
