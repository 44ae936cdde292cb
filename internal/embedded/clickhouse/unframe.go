package clickhouse

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/go-faster/city"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A frame of ClickHouse's compression is
//
//	checksum  16 bytes  CityHash128 of all that follows
//	method     1 byte   0x02 none, 0x82 LZ4, 0x90 ZSTD
//	packed     4 bytes  little endian: 9 + bytes of the payload
//	unpacked   4 bytes  little endian: bytes it unfolds to
//	payload
const (
	checksumSize = 16
	headSize     = checksumSize + 9

	methodNone = 0x02
	methodLZ4  = 0x82
	methodZSTD = 0x90

	// A client may put a whole block into one frame; a server's limit is 1 GiB.
	maxFrameSize = 256 << 20
)

// unframer decodes a body of frames. Its buffers hold one frame, packed and
// unpacked, and are used again for the next body.
type unframer struct {
	src    io.Reader
	packed []byte // the frame, head included
	data   []byte // unfolded
	at     int    // data[at:] is not read yet
	zstd   *zstd.Decoder
}

var unframers = sync.Pool{New: func() any { return new(unframer) }}

func newUnframer(src io.Reader) *unframer {
	f := unframers.Get().(*unframer)
	f.src, f.data, f.at = src, f.data[:0], 0
	return f
}

func (f *unframer) release() {
	f.src = nil
	unframers.Put(f)
}

// Read gives io.EOF only behind a complete frame.
func (f *unframer) Read(p []byte) (int, error) {
	for f.at == len(f.data) {
		if err := f.frame(); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.data[f.at:])
	f.at += n
	return n, nil
}

func (f *unframer) frame() error {
	f.data, f.at = f.data[:0], 0
	f.packed = grow(f.packed, headSize)
	if _, err := io.ReadFull(f.src, f.packed); err != nil {
		return err // io.EOF before the first byte
	}
	method := f.packed[checksumSize]
	packed := int64(binary.LittleEndian.Uint32(f.packed[checksumSize+1:])) - 9
	unpacked := int64(binary.LittleEndian.Uint32(f.packed[checksumSize+5:]))
	if packed < 0 || packed > maxFrameSize || unpacked > maxFrameSize {
		return fmt.Errorf("a frame of %d bytes that unfold to %d: more than %d, or not a frame", packed, unpacked, maxFrameSize)
	}
	if err := f.payload(int(packed)); err != nil {
		return err
	}
	if sum := city.CH128(f.packed[checksumSize:]); sum.Low != binary.LittleEndian.Uint64(f.packed) || sum.High != binary.LittleEndian.Uint64(f.packed[8:]) {
		return fmt.Errorf("a frame of %d bytes has a wrong checksum", packed)
	}
	return f.unfold(method, int(unpacked))
}

// payload reads the frame's payload behind its head. Memory grows with what has
// come, not with what the head claims.
func (f *unframer) payload(n int) error {
	const step = 1 << 20
	for n > 0 {
		have, part := len(f.packed), min(n, max(step, cap(f.packed)-len(f.packed)))
		f.packed = grow(f.packed, have+part)
		if _, err := io.ReadFull(f.src, f.packed[have:]); err != nil {
			return fmt.Errorf("a frame is cut: %w", io.ErrUnexpectedEOF)
		}
		n -= part
	}
	return nil
}

func (f *unframer) unfold(method byte, unpacked int) (err error) {
	payload := f.packed[headSize:]
	switch method {
	case methodNone:
		f.data = append(f.data, payload...)
	case methodLZ4:
		// LZ4 packs at most 255:1, so the size that the head claims is checked before it is allocated.
		if unpacked > 255*len(payload) {
			return fmt.Errorf("a frame of %d bytes claims to unfold to %d", len(payload), unpacked)
		}
		f.data = grow(f.data, unpacked)
		var n int
		if n, err = lz4.UncompressBlock(payload, f.data); err == nil {
			f.data = f.data[:n]
		}
	case methodZSTD:
		if f.zstd == nil {
			if f.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrameSize)); err != nil {
				return err
			}
		}
		f.data, err = f.zstd.DecodeAll(payload, f.data)
	default:
		return fmt.Errorf("a frame has the unknown compression 0x%02x", method)
	}
	if err == nil && len(f.data) != unpacked {
		err = fmt.Errorf("it unfolds to %d bytes, not %d", len(f.data), unpacked)
	}
	if err != nil {
		f.data = f.data[:0]
		return fmt.Errorf("a frame of %d bytes: %w", len(payload), err)
	}
	return nil
}

// grow gives b the length n and keeps its bytes; new ones are not cleared.
func grow(b []byte, n int) []byte {
	if n <= cap(b) {
		return b[:n]
	}
	return append(b[:cap(b)], make([]byte, n-cap(b))...)[:n]
}
