package receive

import (
	"encoding/binary"
	"math"
)

// The tags of io.prometheus.write.v2 that are written.
const (
	outSymbol = 4<<3 | wireBytes // Request
	outSeries = 5<<3 | wireBytes

	outRefs     = 1<<3 | wireBytes // TimeSeries
	outSample   = 2<<3 | wireBytes
	outMetadata = 5<<3 | wireBytes

	outValue     = 1<<3 | wireFixed64 // Sample
	outTimestamp = 2<<3 | wireVarint

	outType = 1<<3 | wireVarint // Metadata
	outHelp = 3<<3 | wireVarint
	outUnit = 4<<3 | wireVarint
)

// block is the encoded form of series of one home: a symbol table, and for each series
// what stands before and behind its samples.
type block struct {
	home
	from    uint32 // its first slot
	head    []byte // the symbol table
	body    []byte
	cuts    []cut // by slot, from the first
	symbols uint32
}

// cut is a series in the body of a block: its references stand in body[start:middle], its
// metadata in body[middle:end].
type cut struct{ start, middle, end uint32 }

func (b *block) reset(h home, from uint32) {
	*b = block{home: h, from: from, head: b.head[:0], body: b.body[:0], cuts: b.cuts[:0]}
}

// size is what an entry of one sample per series takes, nearly.
func (b *block) size() int { return len(b.head) + len(b.body) + 24*len(b.cuts) }

// to is the slot behind the last of the block.
func (b *block) to() uint32 { return b.from + uint32(len(b.cuts)) }

// local is the number of a symbol in b, which gets it when it has none.
func (r *router) local(b *block, symbol uint32) uint32 {
	l := &r.symbols.local[symbol]
	if l.block != r.block {
		*l = local{r.block, b.symbols}
		b.symbols++
		text := r.symbols.text[symbol]
		b.head = append(b.head, outSymbol)
		b.head = appendUvarint(b.head, uint64(len(text)))
		b.head = append(b.head, text...)
	}
	return l.ref
}

// encode adds a series to b.
func (r *router) encode(b *block, s *series) {
	start := len(b.body)
	b.body = append(b.body, outRefs, 0)
	for _, symbol := range s.refs {
		b.body = appendUvarint(b.body, uint64(r.local(b, symbol)))
	}
	if n := len(b.body) - start - 2; n < 0x80 {
		b.body[start+1] = byte(n)
	} else { // the length has two bytes, or three
		extra := uvarintLen(uint64(n)) - 1
		b.body = append(b.body, make([]byte, extra)...)
		copy(b.body[start+2+extra:], b.body[start+2:])
		appendUvarint(b.body[:start+1], uint64(n))
	}
	middle := len(b.body)
	b.body = r.appendMeta(b.body, b, s.meta)
	b.cuts = append(b.cuts, cut{uint32(start), uint32(middle), uint32(len(b.body))})
}

func (r *router) appendMeta(dst []byte, b *block, m metadata) []byte {
	if m == (metadata{}) {
		return dst
	}
	var buf [20]byte
	fields := buf[:0]
	for _, f := range [...]struct {
		tag byte
		v   uint32
	}{{outType, uint32(m.typ)}, {outHelp, r.local(b, m.help)}, {outUnit, r.local(b, m.unit)}} {
		if f.v != 0 {
			fields = appendUvarint(append(fields, f.tag), uint64(f.v))
		}
	}
	dst = append(dst, outMetadata, byte(len(fields)))
	return append(dst, fields...)
}

// point is one sample.
type point struct {
	time  int64 // unix ms
	value float64
}

// append appends the series of a slot with its points.
func (b *block) append(dst []byte, slot uint32, points []point) []byte {
	c := b.cuts[slot-b.from]
	n := int(c.end - c.start)
	for _, p := range points {
		n += 2 + sampleLen(p.time)
	}
	dst = append(dst, outSeries)
	dst = appendUvarint(dst, uint64(n))
	dst = append(dst, b.body[c.start:c.middle]...)
	for _, p := range points {
		dst = append(dst, outSample, byte(sampleLen(p.time)), outValue)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.value))
		if p.time != 0 {
			dst = appendUvarint(append(dst, outTimestamp), uint64(p.time))
		}
	}
	return append(dst, b.body[c.middle:c.end]...)
}

func sampleLen(ms int64) int {
	if ms == 0 {
		return 9
	}
	return 10 + uvarintLen(uint64(ms))
}
