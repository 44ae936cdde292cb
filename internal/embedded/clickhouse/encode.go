package clickhouse

import (
	"compress/gzip"
	"compress/zlib"
	"io"
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// encodings that an answer may have, cheapest for its ratio first.
var encodings = []string{"zstd", "gzip", "br", "deflate"}

// answerEncoding picks an encoding that the client accepts; "" for none.
func (q *request) answerEncoding() string {
	if v := q.setting("enable_http_compression"); v == "0" || v == "false" {
		return ""
	}
	for _, name := range encodings {
		for part := range strings.SplitSeq(q.accept, ",") {
			offered, weight, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(offered), name) && strings.ReplaceAll(weight, " ", "") != "q=0" {
				return name
			}
		}
	}
	return ""
}

// encoder wraps w in an encoding; Close ends it without closing w.
func encoder(w io.Writer, encoding string) (io.WriteCloser, error) {
	switch encoding {
	case "zstd":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	case "gzip":
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	case "deflate":
		return zlib.NewWriterLevel(w, zlib.BestSpeed)
	case "br":
		return brotli.NewWriterLevel(w, brotli.BestSpeed), nil
	}
	return plain{w}, nil
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// frames writes ClickHouse's compressed frames: a checksum, a method, two sizes, a block.
type frames struct {
	w io.Writer
	c *compress.Writer
}

// maxFrame is the largest block that a server would compress at once.
const maxFrame = 1 << 20

func newFrames(w io.Writer, q *request) *frames {
	method, level := compress.LZ4, compress.LevelZero
	switch strings.ToUpper(q.setting("network_compression_method")) {
	case "ZSTD":
		method = compress.ZSTD
		if n, err := strconv.Atoi(q.setting("network_zstd_compression_level")); err == nil && n > 0 && n <= 22 {
			level = compress.Level(n)
		}
	case "NONE":
		method = compress.None
	}
	return &frames{w: w, c: compress.NewWriter(level, method)}
}

func (f *frames) Write(p []byte) (int, error) {
	for n := 0; n < len(p); {
		block := p[n:min(len(p), n+maxFrame)]
		if err := f.c.Compress(block); err != nil {
			return n, err
		}
		if _, err := f.w.Write(f.c.Data); err != nil {
			return n, err
		}
		n += len(block)
	}
	return len(p), nil
}

func (f *frames) Close() error { return nil }
