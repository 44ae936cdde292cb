package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"sextant/schema/wire"
)

// The layout of a record batch, message format 2: offsets into its header.
const (
	atBaseOffset    = 0
	atLength        = 8 // of what follows this field
	atLeaderEpoch   = 12
	atMagic         = 16
	atCRC           = 17
	atAttributes    = 21 // the checksum covers from here to the end
	atLastDelta     = 23
	atFirstTime     = 27
	atMaxTime       = 35
	atProducerID    = 43
	atProducerEpoch = 51
	atSequence      = 53
	atRecordCount   = 57
	headerSize      = 61

	lengthOverhead = 12 // base offset and length themselves

	attrCodec      = 0x07
	attrAppendTime = 0x08 // the max time is the broker's append time of all records
	attrControl    = 0x20 // a transaction marker, no data
)

// Limits of what one decode may hold, so that a small response cannot ask for all memory.
const (
	maxBatchBytes   = 64 << 20 // of one batch, decompressed
	pageBytes       = 32 << 20 // decompressed; the batch that passes it is the page's last
	maxHeaders      = 256      // per record
	minRecordBytes  = 7        // an empty record: length, attributes, time, offset, key, value, headers
	maxInternedKeys = 1024     // distinct header names that are kept
)

// corruptError is a batch that cannot be read: From is its first offset that was wanted
// and Next the first offset behind it.
type corruptError struct {
	From, Next int64
	Err        error
}

func (e *corruptError) Error() string {
	return fmt.Sprintf("corrupt record batch at offsets %d..%d: %v", e.From, e.Next-1, e.Err)
}

func (e *corruptError) Unwrap() error { return e.Err }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// page holds the records of one fetch and all the bytes that they point into.
type page struct {
	records  []wire.Record
	headers  []wire.Header
	response []byte // uncompressed batches are read in place
	arena    arena  // decompressed batches
	err      error  // why no page follows this one
}

// decoder turns the record batches of a fetch response into records. It allocates
// nothing once the pages that it fills have grown.
type decoder struct {
	unpack decompressor
	names  map[string]string
}

// decode reads the records at or above want from b into p, in order. next is the first
// offset that was not read: the batch behind the last one that is in the page. An error
// concerns the batch at next; the records before it are good.
//
// kafka-go ignores the timestamp type on every read path and would report the producer's
// clock as the time of append, which is why this decoder exists.
func (d *decoder) decode(p *page, b []byte, partition int32, want int64) (next int64, err error) {
	p.records, p.headers = p.records[:0], p.headers[:0]
	p.arena.reset()
	next = want
	for len(b) >= headerSize && p.arena.total < pageBytes {
		size := int(binary.BigEndian.Uint32(b[atLength:])) + lengthOverhead
		if size > len(b) && size > lengthOverhead {
			break // cut off by the fetch limit: it comes first in the next response
		}
		base := int64(binary.BigEndian.Uint64(b[atBaseOffset:]))
		last := base + int64(int32(binary.BigEndian.Uint32(b[atLastDelta:])))
		if size < headerSize || last < base {
			return next, &corruptError{next, next + 1, fmt.Errorf("batch of %d bytes and offsets %d..%d", size, base, last)}
		}
		batch := b[:size]
		b = b[size:]
		if last < next {
			continue // a broker may start a response below what was asked for
		}
		kept := len(p.records)
		if err := d.batch(p, batch, base, partition, next); err != nil {
			p.records = p.records[:kept]
			return next, &corruptError{next, last + 1, err}
		}
		next = last + 1
	}
	return next, nil
}

func (d *decoder) batch(p *page, b []byte, base int64, partition int32, want int64) error {
	if magic := b[atMagic]; magic != 2 {
		return fmt.Errorf("message format %d is not supported", magic)
	}
	if got, said := crc32.Checksum(b[atAttributes:], castagnoli), binary.BigEndian.Uint32(b[atCRC:]); got != said {
		return fmt.Errorf("checksum is %08x, should be %08x", got, said)
	}
	attrs := binary.BigEndian.Uint16(b[atAttributes:])
	if attrs&attrControl != 0 {
		return nil
	}
	body := b[headerSize:]
	if codec := attrs & attrCodec; codec != 0 {
		var err error
		if body, err = d.unpack.append(p.arena.room(len(body)), body, codec); err != nil {
			return err
		}
		p.arena.claim(body)
	}
	count := int(int32(binary.BigEndian.Uint32(b[atRecordCount:])))
	if count < 0 || count > len(body)/minRecordBytes {
		return fmt.Errorf("%d records in %d bytes", count, len(body))
	}
	first := int64(binary.BigEndian.Uint64(b[atFirstTime:]))
	appended := int64(binary.BigEndian.Uint64(b[atMaxTime:]))
	for i := range count {
		r := wire.Record{Partition: partition}
		rest, err := d.record(p, body, &r)
		if err != nil {
			return fmt.Errorf("record %d of %d: %w", i, count, err)
		}
		body = rest
		r.Offset += base
		if r.Ingest += first; attrs&attrAppendTime != 0 {
			r.Ingest = appended
		}
		if r.Offset >= want {
			p.records = append(p.records, r)
		}
	}
	return nil
}

// record reads one record, leaving its time and offset relative to the batch.
func (d *decoder) record(p *page, b []byte, r *wire.Record) (rest []byte, err error) {
	size, b, err := varint(b)
	if err != nil || size < 0 || size > int64(len(b)) {
		return nil, fmt.Errorf("record of %d bytes in %d: %w", size, len(b), errCut)
	}
	rest, b = b[size:], b[:size]
	if len(b) == 0 {
		return nil, errCut
	}
	b = b[1:] // attributes, unused
	if r.Ingest, b, err = varint(b); err != nil {
		return nil, err
	}
	if r.Offset, b, err = varint(b); err != nil {
		return nil, err
	}
	if r.Key, b, err = sized(b); err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	if r.Value, b, err = sized(b); err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	n, b, err := varint(b)
	if err != nil || n < 0 || n > maxHeaders {
		return nil, fmt.Errorf("%d headers, more than %d or cut off", n, maxHeaders)
	}
	start := len(p.headers)
	for range n {
		var name, value []byte
		if name, b, err = sized(b); err != nil {
			return nil, fmt.Errorf("header name: %w", err)
		}
		if value, b, err = sized(b); err != nil {
			return nil, fmt.Errorf("header value: %w", err)
		}
		p.headers = append(p.headers, wire.Header{Key: d.intern(name), Value: value})
	}
	r.Headers = p.headers[start:len(p.headers):len(p.headers)]
	return rest, nil
}

// intern returns name as a string, the same one each time: all records carry the same
// few header names.
func (d *decoder) intern(name []byte) string {
	if s, ok := d.names[string(name)]; ok {
		return s
	}
	s := string(name)
	if d.names == nil {
		d.names = map[string]string{}
	}
	if len(d.names) < maxInternedKeys {
		d.names[s] = s
	}
	return s
}

var errCut = errors.New("cut off")

func varint(b []byte) (int64, []byte, error) {
	v, n := binary.Varint(b)
	if n <= 0 {
		return 0, nil, errCut
	}
	return v, b[n:], nil
}

// sized reads bytes that are preceded by their length; length -1 is nil.
func sized(b []byte) (v, rest []byte, err error) {
	n, b, err := varint(b)
	switch {
	case err != nil:
		return nil, nil, err
	case n < 0:
		return nil, b, nil
	case n > int64(len(b)):
		return nil, nil, errCut
	}
	return b[:n:n], b[n:], nil
}
