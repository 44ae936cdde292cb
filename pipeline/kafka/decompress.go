package kafka

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"
)

// arena lends room for decompressed batches. All of a page lives until the next reset, and
// a page has thousands of batches when many agents send alone: growing one slice would
// copy it for each of them.
type arena struct {
	chunk []byte // its length is what is claimed of it
	total int    // bytes claimed since the reset, also outside the chunk
}

const (
	arenaChunk = 256 << 10
	// zstd asks for so many times the compressed size of a frame that does not tell its
	// own, and allocates when there is less room.
	expansion    = 20
	frameMinimum = 4 << 10
)

// reset takes everything back. The chunk becomes as large as what was claimed before, so
// that pages of the same size stop allocating.
func (a *arena) reset() {
	if a.total > cap(a.chunk) {
		a.chunk = make([]byte, 0, a.total+a.total/4)
	}
	a.chunk, a.total = a.chunk[:0], 0
}

// room returns an empty slice with the capacity that unpacking n bytes needs, as a rule.
func (a *arena) room(n int) []byte {
	need := n*expansion + frameMinimum
	if cap(a.chunk)-len(a.chunk) < need {
		a.chunk = make([]byte, 0, max(arenaChunk, need)) // records keep the old one alive
	}
	return a.chunk[len(a.chunk):len(a.chunk):cap(a.chunk)]
}

// claim keeps b, which was appended to the last room. It may have outgrown it.
func (a *arena) claim(b []byte) {
	a.total += len(b)
	if rest := a.chunk[len(a.chunk):cap(a.chunk)]; len(b) > 0 && len(b) <= len(rest) && &b[0] == &rest[0] {
		a.chunk = a.chunk[:len(a.chunk)+len(b)]
	}
}

// decompressor unpacks the body of a batch. Agents send zstd, which is decoded in one
// step into the destination; the other codecs of other producers go through kafka-go.
type decompressor struct {
	zstd *zstd.Decoder
	in   bytes.Reader
}

// append unpacks src behind dst. It fails on more than maxBatchBytes.
func (d *decompressor) append(dst, src []byte, codec uint16) ([]byte, error) {
	if compress.Compression(codec) == compress.Zstd {
		return d.appendZstd(dst, src)
	}
	c := compress.Compression(codec).Codec()
	if c == nil {
		return dst, fmt.Errorf("unknown compression %d", codec)
	}
	d.in.Reset(src)
	r := c.NewReader(&d.in)
	defer r.Close()
	out := bytes.NewBuffer(dst)
	n, err := out.ReadFrom(io.LimitReader(r, maxBatchBytes+1))
	if err == nil && n > maxBatchBytes {
		err = fmt.Errorf("more than %d bytes", maxBatchBytes)
	}
	if err != nil {
		return dst, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return out.Bytes(), nil
}

func (d *decompressor) appendZstd(dst, src []byte) ([]byte, error) {
	if d.zstd == nil {
		var err error
		// One decoder for each partition, used by its reading goroutine only: more
		// concurrency would start goroutines that nobody stops.
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBatchBytes))
		if err != nil {
			return dst, fmt.Errorf("zstd: %w", err)
		}
	}
	out, err := d.zstd.DecodeAll(src, dst)
	if err != nil {
		return dst, fmt.Errorf("zstd: %w", err)
	}
	return out, nil
}
