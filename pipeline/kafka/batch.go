package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"
)

// What a compressor and a buffer may hold between two sends. An agent that sends one page
// every few seconds has to fit into a few MiB: kafka-go's encoders take 16 MiB, in a pool
// that the garbage collector empties before the next page comes.
const (
	zstdWindow = 512 << 10
	keepBuffer = 1 << 20 // a larger buffer is given back after the send that needed it
)

// compressor packs the records of batches with zstd. It is safe for concurrent use, one
// batch at a time.
type compressor struct{ zstd *zstd.Encoder }

func newCompressor() (*compressor, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderCRC(false)) // the batch has a checksum of its own
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return &compressor{z}, nil
}

// batchBuilder turns messages into record batches of format 2, the opposite of decoder.
type batchBuilder struct {
	pack  *compressor
	plain bool   // no compression: for a compacted topic
	raw   []byte // records of the last batch, uncompressed
}

// append appends the messages at idx to dst as one batch, all with the time now. Records
// that do not shrink go as they are.
func (b *batchBuilder) append(dst []byte, msgs []Message, idx []int, now time.Time) []byte {
	b.raw = b.raw[:0]
	for k, i := range idx {
		b.raw = appendMessage(b.raw, &msgs[i], k)
	}
	start := len(dst)
	dst = append(dst, make([]byte, headerSize)...)
	codec := compress.Zstd
	if !b.plain {
		dst = b.pack.zstd.EncodeAll(b.raw, dst)
	}
	if b.plain || len(dst)-start-headerSize >= len(b.raw) {
		codec = compress.None
		dst = append(dst[:start+headerSize], b.raw...)
	}
	if cap(b.raw) > keepBuffer {
		b.raw = nil
	}
	putBatchHeader(dst[start:], uint16(codec), len(idx), now.UnixMilli())
	return dst
}

// putBatchHeader fills the header of batch, which is whole otherwise. The base offset
// stays 0: the broker sets it.
func putBatchHeader(batch []byte, attributes uint16, records int, at int64) {
	be := binary.BigEndian
	be.PutUint32(batch[atLength:], uint32(len(batch)-lengthOverhead))
	be.PutUint32(batch[atLeaderEpoch:], ^uint32(0)) // -1: the broker's
	batch[atMagic] = 2
	be.PutUint16(batch[atAttributes:], attributes)
	be.PutUint32(batch[atLastDelta:], uint32(records-1))
	be.PutUint64(batch[atFirstTime:], uint64(at))
	be.PutUint64(batch[atMaxTime:], uint64(at))
	be.PutUint64(batch[atProducerID:], ^uint64(0)) // -1: not idempotent, nor the epoch and the sequence
	be.PutUint16(batch[atProducerEpoch:], ^uint16(0))
	be.PutUint32(batch[atSequence:], ^uint32(0))
	be.PutUint32(batch[atRecordCount:], uint32(records))
	be.PutUint32(batch[atCRC:], crc32.Checksum(batch[atAttributes:], castagnoli))
}

// appendMessage appends m as record number k of a batch, at the batch's own time.
func appendMessage(dst []byte, m *Message, k int) []byte {
	size := 1 + 1 + varintSize(k) + sizedSize(m.Key) + sizedSize(m.Value) + varintSize(len(m.Headers))
	for i := range m.Headers {
		h := &m.Headers[i]
		size += varintSize(len(h.Key)) + len(h.Key) + sizedSize(h.Value)
	}
	dst = binary.AppendVarint(dst, int64(size))
	dst = append(dst, 0, 0) // attributes; time behind the batch's
	dst = binary.AppendVarint(dst, int64(k))
	dst = appendSized(dst, m.Key)
	dst = appendSized(dst, m.Value)
	dst = binary.AppendVarint(dst, int64(len(m.Headers)))
	for i := range m.Headers {
		h := &m.Headers[i]
		dst = append(binary.AppendVarint(dst, int64(len(h.Key))), h.Key...)
		dst = appendSized(dst, h.Value)
	}
	return dst
}

// appendSized appends b behind its length; nil has length -1.
func appendSized(dst, b []byte) []byte {
	if b == nil {
		return binary.AppendVarint(dst, -1)
	}
	return append(binary.AppendVarint(dst, int64(len(b))), b...)
}

func sizedSize(b []byte) int {
	if b == nil {
		return 1
	}
	return varintSize(len(b)) + len(b)
}

// varintSize is the length of n ≥ 0 as a zigzag varint.
func varintSize(n int) int {
	size := 1
	for u := uint64(n) << 1; u >= 0x80; u >>= 7 {
		size++
	}
	return size
}
