package wire

import (
	"encoding/binary"
	"math"
)

// sampleLen is the length of a sample with a value and a timestamp of six varint bytes,
// which is what every timestamp from 1971 to 2109 has.
const sampleLen = 1 + 8 + 1 + 6

// scanUsual reads the series in b[p:end] if it looks as every known encoder writes it:
// references, one sample of the usual length, metadata. It does what scanSeries does,
// with one comparison per fixed place instead of a loop over fields. It returns false,
// and has done nothing, if the series looks otherwise.
func (d *Decoder) scanUsual(p, end int) bool {
	b := d.b
	if end-p < 2+2+sampleLen || b[p] != tagRefs || b[p+1] >= 0x80 {
		return false
	}
	at := p + 2 + int(b[p+1]) // of the sample
	meta := at + 2 + sampleLen
	if meta > end {
		return false
	}
	s := b[at:meta:meta]
	if s[0] != tagSample || s[1] != sampleLen || s[2] != tagValue || s[11] != tagTimestamp {
		return false
	}
	if meta != end && (end-meta < 2 || b[meta] != tagMetadata || meta+2+int(b[meta+1]) != end) {
		return false
	}
	t := uint64(binary.LittleEndian.Uint32(s[12:])) | uint64(binary.LittleEndian.Uint16(s[16:]))<<32
	if t&0x8080_8080_8080 != 0x0080_8080_8080 || len(d.Values) >= MaxSamples || d.NumSeries >= MaxSeries {
		return false
	}
	d.own(len(d.Values), 1)
	d.Values = append(d.Values, math.Float64frombits(binary.LittleEndian.Uint64(s[3:])))
	d.Times = append(d.Times, int64(gather(t)))
	d.series = append(d.series, bounds{uint32(p), uint32(end)})
	d.layout = append(appendShort(appendShort(d.layout, b, p, at), b, meta, end), markSeries, 1)
	d.NumSeries++
	return true
}

// gather takes the six varint bytes in t, the first in the low bits, together.
func gather(t uint64) uint64 {
	return t&0x7f | t>>1&(0x7f<<7) | t>>2&(0x7f<<14) | t>>3&(0x7f<<21) | t>>4&(0x7f<<28) | t>>5&(0x7f<<35)
}

// spread is the inverse of gather.
func spread(v uint64) uint64 {
	return v&0x7f | v&(0x7f<<7)<<1 | v&(0x7f<<14)<<2 | v&(0x7f<<21)<<3 | v&(0x7f<<28)<<4 | v&(0x7f<<35)<<5 | 0x80_8080_8080
}

// appendShort appends b[start:end]. The pieces of a series are short, so moving a fixed
// 32 bytes in words and keeping what is wanted is cheaper than a call of memmove.
func appendShort(dst, b []byte, start, end int) []byte {
	n := len(dst)
	if end-start > 32 || start+32 > len(b) || n+32 > cap(dst) {
		return append(dst, b[start:end]...)
	}
	from, to := b[start:start+32], dst[n:n+32]
	w0, w1 := binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[8:])
	w2, w3 := binary.LittleEndian.Uint64(from[16:]), binary.LittleEndian.Uint64(from[24:])
	binary.LittleEndian.PutUint64(to, w0)
	binary.LittleEndian.PutUint64(to[8:], w1)
	binary.LittleEndian.PutUint64(to[16:], w2)
	binary.LittleEndian.PutUint64(to[24:], w3)
	return dst[:n+end-start]
}
