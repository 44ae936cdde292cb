package clickhouse

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"sextant/internal/chdb"
)

// output is the answer to one request. It holds back the first bytes, as a server
// does, so that an error among them still gets a status of its own; later ones
// end the body with an exception block and break the connection off.
type output struct {
	w       http.ResponseWriter
	q       *request
	version string // of the engine, which exceptions name

	encoder io.WriteCloser // what Write goes through: frames or an encoding, and then hold
	encoded string         // Content-Encoding
	tag     string         // marks a true exception block in the body
	stats   chdb.Stats

	pending *bytes.Buffer // held back
	limit   int           // bytes that pending may have
	strict  bool          // exceeding limit is an error, not the start of the body
	started bool          // the status and the headers are sent
}

func (s *Server) newOutput(w http.ResponseWriter, q *request) *output {
	return &output{w: w, q: q, version: s.version, tag: strings.ToLower(rand.Text()[:16]), pending: buffers.Get().(*bytes.Buffer), limit: q.buffer}
}

// open sets the headers for an answer in this format.
func (o *output) open(name string) {
	h := o.w.Header()
	h.Set("Content-Type", formatOf(name).contentType)
	h.Set("X-ClickHouse-Format", name)
	h.Set("X-ClickHouse-Exception-Tag", o.tag)
	if o.q.outFrames {
		o.encoder = newFrames(hold{o}, o.q)
		return
	}
	if o.encoded = o.q.answerEncoding(); o.encoded != "" {
		h.Set("Content-Encoding", o.encoded)
		h.Add("Vary", "Accept-Encoding")
	}
	o.encoder = plain{hold{o}}
	if pool, ok := encoders[o.encoded]; ok {
		e := pool.Get().(encoder)
		e.Reset(hold{o})
		o.encoder = e
	}
}

// release gives back what the next answer can use.
func (o *output) release() {
	if e, ok := o.encoder.(encoder); ok {
		e.Reset(io.Discard)
		encoders[o.encoded].Put(e)
	}
	if o.pending.Cap() <= 2*bufferSize {
		o.pending.Reset()
		buffers.Put(o.pending)
	}
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (o *output) Write(p []byte) (int, error) { return o.encoder.Write(p) }

// flush sends what the encoder and net/http hold of a body that has begun, so
// that rows of a slow statement arrive as they come. Its errors show at the next write.
func (o *output) flush() {
	if !o.started {
		return
	}
	if e, ok := o.encoder.(interface{ Flush() error }); ok {
		e.Flush()
	}
	http.NewResponseController(o.w).Flush()
}

// hold is the end of the encoders' chain.
type hold struct{ o *output }

func (h hold) Write(p []byte) (int, error) {
	o := h.o
	if !o.started && o.pending.Len()+len(p) <= o.limit {
		return o.pending.Write(p)
	}
	if o.strict {
		return 0, fail(codeTooLarge, "The answer has more than %d bytes, and wait_end_of_query holds it in memory", o.limit)
	}
	if err := o.start(); err != nil {
		return 0, err
	}
	return o.w.Write(p)
}

// start sends the headers and what was held back.
func (o *output) start() error {
	if o.started {
		return nil
	}
	o.started = true
	o.w.Header().Set("X-ClickHouse-Summary", summary(o.stats))
	o.w.WriteHeader(http.StatusOK)
	_, err := o.w.Write(o.pending.Bytes())
	return err
}

// summary is what X-ClickHouse-Summary says; numbers are text in it.
func summary(s chdb.Stats) string {
	return fmt.Sprintf(`{"read_rows":"%d","read_bytes":"%d","written_rows":"%d","written_bytes":"%d","total_rows_to_read":"0","result_rows":"%d","result_bytes":"%d","elapsed_ns":"%d"}`,
		s.ReadRows, s.ReadBytes, s.WrittenRows, s.WrittenBytes, s.ResultRows, s.ResultBytes, int64(s.Elapsed*1e9))
}

// finish ends the answer well.
func (o *output) finish() error {
	if o.encoder == nil {
		o.open(o.q.format)
	}
	if !o.started && o.pending.Len() == 0 {
		// An encoder's empty stream would not be empty.
		o.w.Header().Del("Content-Encoding")
	} else if err := o.encoder.Close(); err != nil {
		return err
	}
	if !o.started {
		o.w.Header().Set("Content-Length", strconv.Itoa(o.pending.Len()))
	}
	return o.start()
}

// maxException is how much of an exception's text a body's end may hold.
const maxException = 16 << 10

// fail ends the answer with an exception. A body that has begun is broken off
// behind the exception block, so that a client which does not know of the block
// sees an incomplete transfer and no short result.
func (o *output) fail(e *chdb.Error) {
	text := e.Text + " (version " + o.version + ")\n"
	if !o.started {
		h := o.w.Header()
		for _, name := range []string{"Content-Encoding", "Content-Length", "X-ClickHouse-Format"} {
			h.Del(name)
		}
		if e.Code == codeRequiredPassword {
			h.Set("WWW-Authenticate", `Basic realm="ClickHouse server HTTP API"`)
		}
		h.Set("Content-Type", "text/plain; charset=UTF-8")
		h.Set("X-ClickHouse-Exception-Code", strconv.Itoa(e.Code))
		o.w.WriteHeader(status(e.Code))
		io.WriteString(o.w, text)
		return
	}
	text = text[:min(len(text), maxException)]
	block := fmt.Sprintf("\r\n__exception__\r\n%s\r\n%s\n%d %s\r\n__exception__\r\n", o.tag, text, len(text), o.tag)
	if o.encoded == "" {
		io.WriteString(o.w, block) // after frames too: there it cannot be taken for one
	} else if _, err := io.WriteString(o.encoder, block); err == nil {
		o.encoder.Close()
	}
	http.NewResponseController(o.w).Flush()
	panic(http.ErrAbortHandler)
}
