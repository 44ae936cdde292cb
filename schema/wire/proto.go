package wire

import (
	"errors"
	"fmt"
	"math/bits"
)

var (
	errTruncated = errors.New("ends in the middle of a field")
	errVarint    = errors.New("varint of more than 10 bytes")
	errWireType  = errors.New("wire type does not fit the field")
	errPaddedTag = errors.New("field tag is padded")
	errGroup     = errors.New("groups are not supported")
	errField     = errors.New("field number 0")
	errUTF8      = errors.New("invalid UTF-8")
	errEmptyName = errors.New("a label has an empty name")
)

// OffsetError is a fault of the bytes themselves: the same bytes fail again.
type OffsetError struct {
	Offset int // of the field that holds the fault, in bytes from the start of the request
	Err    error
}

func (e *OffsetError) Error() string { return fmt.Sprintf("request byte %d: %v", e.Offset, e.Err) }
func (e *OffsetError) Unwrap() error { return e.Err }

// The wire types of Protocol Buffers that occur.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// The tags (field number << 3 | wire type) of io.prometheus.write.v2.
const (
	tagSymbol     = 4<<3 | wireBytes // Request
	tagTimeSeries = 5<<3 | wireBytes

	tagRefs      = 1<<3 | wireBytes // TimeSeries; packed
	tagRef       = 1<<3 | wireVarint
	tagSample    = 2<<3 | wireBytes
	tagHistogram = 3<<3 | wireBytes
	tagExemplar  = 4<<3 | wireBytes
	tagMetadata  = 5<<3 | wireBytes

	tagValue     = 1<<3 | wireFixed64 // Sample
	tagTimestamp = 2<<3 | wireVarint
	tagStart     = 3<<3 | wireVarint

	tagType = 1<<3 | wireVarint // Metadata
	tagHelp = 3<<3 | wireVarint
	tagUnit = 4<<3 | wireVarint
)

// uvarint reads a varint at b[p] and returns the position behind it.
func uvarint(b []byte, p int) (v uint64, next int, err error) {
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

// span reads a length at b[p] and returns the bounds of what it measures.
func span(b []byte, p int) (start, end int, err error) {
	if p < len(b) && b[p] < 0x80 {
		start, end = p+1, p+1+int(b[p])
	} else {
		n, next, err := uvarint(b, p)
		if err != nil {
			return 0, 0, err
		}
		if n > uint64(len(b)-next) {
			return 0, 0, errTruncated
		}
		start, end = next, next+int(n)
	}
	if end > len(b) {
		return 0, 0, errTruncated
	}
	return start, end, nil
}

// tag reads a field's tag.
func tag(b []byte, p int) (t uint64, next int, err error) {
	t, next, err = uvarint(b, p)
	if err == nil && (t>>3 == 0 || t>>3 > 1<<29-1) {
		err = errField
	}
	return t, next, err
}

// skip returns the position behind the value of a field that is not used.
func skip(b []byte, p int, t uint64) (int, error) {
	switch t & 7 {
	case wireVarint:
		_, next, err := uvarint(b, p)
		return next, err
	case wireFixed64:
		p += 8
	case wireFixed32:
		p += 4
	case wireBytes:
		_, end, err := span(b, p)
		return end, err
	default:
		return 0, errGroup
	}
	if p > len(b) {
		return 0, errTruncated
	}
	return p, nil
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
