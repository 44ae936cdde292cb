package chdb

import (
	"context"
	"regexp"
	"strings"
	"unsafe"
)

// Conn is a session of the engine. One goroutine uses it at a time.
type Conn struct {
	engine *Engine
	c      *symbols
	p      unsafe.Pointer // chdb_connection *
	tag    string         // its log_comment ends in it, which is how KILL QUERY finds its statement
}

// handle is the chdb_connection that C functions take.
func (c *Conn) handle() unsafe.Pointer { return *(*unsafe.Pointer)(c.p) }

// Close ends the session. Results, streams and inserts of it are closed before.
func (c *Conn) Close() {
	if c.p != nil {
		c.c.closeConn(c.p)
		c.p = nil
		c.engine.forget()
	}
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// set applies settings, and the tag at the end of log_comment.
func (c *Conn) set(settings []Setting) error {
	comment := ""
	var b strings.Builder
	b.WriteString("SET ")
	for _, s := range settings {
		switch {
		case s.Name == "log_comment":
			comment = s.Value + " "
			continue
		case !settingName.MatchString(s.Name):
			return &Error{Code: 115, Text: "Code: 115. DB::Exception: Unknown setting '" + s.Name + "'. (UNKNOWN_SETTING)"}
		}
		b.WriteString(s.Name + " = " + Quote(s.Value) + ", ")
	}
	b.WriteString("log_comment = " + Quote(comment+c.tag))
	return c.Exec(context.Background(), b.String())
}

var quoter = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

// Quote makes s a string literal of ClickHouse's SQL.
func Quote(s string) string { return "'" + quoter.Replace(s) + "'" }

// Exec runs a statement and drops its result.
func (c *Conn) Exec(ctx context.Context, query string, params ...Param) error {
	r, err := c.Query(ctx, query, "Null", params...)
	if err != nil {
		return err
	}
	r.Close()
	return nil
}

// Query runs any statement and holds its whole result, encoded in format unless
// the statement has a FORMAT of its own. When ctx ends, so does the statement,
// with CodeCancelled. The engine would run several statements at once: callers
// that pass foreign text call Stream first, which refuses them.
func (c *Conn) Query(ctx context.Context, query, format string, params ...Param) (*Result, error) {
	defer c.engine.watch(ctx, c.tag)()
	return c.run(query, format, params)
}

func (c *Conn) run(query, format string, params []Param) (*Result, error) {
	r := begin(c.c.query, c.handle(), query, format, params)
	if text := goString(c.c.failure(r)); text != "" {
		c.c.destroy(r)
		return nil, parseError(text)
	}
	return &Result{c: c.c, p: r}, nil
}

// Stats are what a statement read, wrote and gave.
type Stats struct {
	ReadRows, ReadBytes       uint64  // from storage
	WrittenRows, WrittenBytes uint64  // materialized views included
	ResultRows, ResultBytes   uint64  // bytes in the engine's memory, not as encoded
	Elapsed                   float64 // seconds
}

func (s *symbols) stats(r unsafe.Pointer) Stats {
	return Stats{
		ReadRows: s.readRows(r), ReadBytes: s.readBytes(r),
		WrittenRows: s.writtenRows(r), WrittenBytes: s.writtenBytes(r),
		ResultRows: s.resultRows(r), ResultBytes: s.resultBytes(r),
		Elapsed: s.elapsed(r),
	}
}

func (s *Stats) add(o Stats) {
	s.ReadRows += o.ReadRows
	s.ReadBytes += o.ReadBytes
	s.WrittenRows += o.WrittenRows
	s.WrittenBytes += o.WrittenBytes
	s.ResultRows += o.ResultRows
	s.ResultBytes += o.ResultBytes
	s.Elapsed += o.Elapsed
}

// Result is a whole result in C memory.
type Result struct {
	c *symbols
	p unsafe.Pointer
}

// Bytes is the encoded result. It is C memory and gone after Close.
func (r *Result) Bytes() []byte { return r.c.bytes(r.p) }

// Stats of the statement.
func (r *Result) Stats() Stats { return r.c.stats(r.p) }

// Close frees the result.
func (r *Result) Close() {
	if r.p != nil {
		r.c.destroy(r.p)
		r.p = nil
	}
}

func (s *symbols) bytes(r unsafe.Pointer) []byte {
	n := s.length(r)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(s.buffer(r)), n)
}
