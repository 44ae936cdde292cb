package clickhouse

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// chunkSize is how much of a body goes to the engine at once: large enough that
// the calls cost nothing, small enough to stay in the CPU's cache.
const chunkSize = 256 << 10

var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// maxWindow bounds the memory that a zstd stream may ask for.
const maxWindow = 64 << 20

// body decodes a request's body: Content-Encoding first, then ClickHouse's frames.
// limit holds for the decoded bytes as well. done is called when it is not needed any more.
func (q *request) body(w http.ResponseWriter, r *http.Request, limit int64) (body io.Reader, done func(), err error) {
	done = func() {}
	raw := http.MaxBytesReader(w, r.Body, limit)
	body = raw
	switch q.encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		// Reading the header is a read of the body: it waits for the client.
		body = &lazy{open: func() (io.Reader, error) { return gzip.NewReader(raw) }}
	case "deflate":
		body = &lazy{open: func() (io.Reader, error) { return zlib.NewReader(raw) }}
	case "br":
		body = brotli.NewReader(raw)
	case "zstd":
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		body, done = z, z.Close
	default:
		return nil, nil, fail(codeNotImplemented, "Content-Encoding %.64q is not one of gzip, deflate, br, zstd", q.encoding)
	}
	if q.inFrames {
		f := newUnframer(body)
		inner := done
		body, done = f, func() { f.release(); inner() }
	}
	if q.encoding != "" || q.inFrames {
		body = &decoded{r: body, left: limit, limit: limit}
	}
	return body, done, nil
}

// lazy opens a reader at the first read.
type lazy struct {
	open func() (io.Reader, error)
	r    io.Reader
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.r == nil {
		r, err := l.open()
		if errors.Is(err, io.EOF) {
			return 0, io.EOF // an empty body needs no header
		}
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	return l.r.Read(p)
}

// decoded bounds what a small body can unfold to, and names what is broken.
type decoded struct {
	r           io.Reader
	left, limit int64
}

func (d *decoded) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if d.left -= int64(n); d.left < 0 {
		return 0, &http.MaxBytesError{Limit: d.limit}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		var large *http.MaxBytesError
		if !errors.As(err, &large) {
			err = fail(codeCannotDecompress, "Cannot decompress the request's body: %v", err)
		}
	}
	return n, err
}

// sql reads the request's text until it is complete or limit bytes are there: the
// statement, and whatever of its data came along. rest is what is left of the body.
func (q *request) sql(body io.Reader, limit int) (text string, complete bool, err error) {
	buf := make([]byte, 0, 4<<10)
	if q.query != "" {
		buf = append(append(buf, q.query...), '\n')
		// With data behind an INSERT of the URL the body need not be looked at.
		if split(q.query + "\n").insert {
			return string(buf), false, nil
		}
	}
	for len(buf) <= limit {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return string(buf), true, nil
		}
		if err != nil {
			return "", false, fmt.Errorf("read the request's body: %w", err)
		}
	}
	return string(buf), false, nil
}
