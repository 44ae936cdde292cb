package kafka

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"
)

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
