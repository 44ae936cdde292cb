package clickhouse

import (
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
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

// encoder is a compressor that can be used again for another answer.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// encoders are kept because a new compressor costs up to a megabyte.
var encoders = map[string]*sync.Pool{
	"zstd": {New: func() any {
		return must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20)))
	}},
	"gzip":    {New: func() any { return must(gzip.NewWriterLevel(nil, gzip.BestSpeed)) }},
	"deflate": {New: func() any { return must(zlib.NewWriterLevel(nil, zlib.BestSpeed)) }},
	"br":      {New: func() any { return brotli.NewWriterLevel(nil, brotli.BestSpeed) }},
}

// must gives e; the levels above are constants that the packages know.
func must[E encoder](e E, err error) E {
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return e
}

// plain is no encoding.
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
