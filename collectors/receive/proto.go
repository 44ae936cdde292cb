package receive

import (
	"errors"
	"math/bits"
)

var (
	errTruncated = errors.New("ends in the middle of a field")
	errVarint    = errors.New("varint of more than 10 bytes")
	errWireType  = errors.New("wire type does not fit the field")
	errField     = errors.New("field number 0, or a group")
)

// The wire types of Protocol Buffers that occur.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// field is one field of a message: its tag (number << 3 | wire type), and where its value
// lies. The value of a field of bytes is without its length.
type field struct {
	tag        uint64
	start, end int
}

// next reads the field at b[p].
func next(b []byte, p int) (field, error) {
	var f field
	var err error
	if p < len(b) && b[p] < 0x80 {
		f.tag, f.start = uint64(b[p]), p+1
	} else if f.tag, f.start, err = uvarint(b, p); err != nil {
		return f, err
	}
	if f.tag>>3 == 0 || f.tag>>3 > 1<<29-1 {
		return f, errField
	}
	switch f.tag & 7 {
	case wireBytes:
		var n uint64
		if f.start < len(b) && b[f.start] < 0x80 {
			n, f.start = uint64(b[f.start]), f.start+1
		} else if n, f.start, err = uvarint(b, f.start); err != nil {
			return f, err
		}
		if n > uint64(len(b)-f.start) {
			return f, errTruncated
		}
		f.end = f.start + int(n)
	case wireVarint:
		_, f.end, err = uvarint(b, f.start)
		return f, err
	case wireFixed64:
		f.end = f.start + 8
	case wireFixed32:
		f.end = f.start + 4
	default:
		return f, errField
	}
	if f.end > len(b) {
		return f, errTruncated
	}
	return f, nil
}

// uvarint reads a varint at b[p] and returns the position behind it.
func uvarint(b []byte, p int) (v uint64, after int, err error) {
	for shift := 0; shift < 64; shift += 7 {
		if p >= len(b) {
			return 0, p, errTruncated
		}
		c := b[p]
		p++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, p, nil
		}
	}
	return 0, p, errVarint
}

// uvarintLen is the number of bytes that appendUvarint writes.
func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

func appendUvarint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}
