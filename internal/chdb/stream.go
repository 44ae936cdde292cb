package chdb

import (
	"context"
	"unsafe"
)

// Stream is a SELECT whose result comes block by block, so that memory is bounded
// by blocks and not by the result.
type Stream struct {
	conn  *Conn
	p     unsafe.Pointer // the stream's chdb_result
	chunk unsafe.Pointer // the chdb_result of the chunk that Next gave last
	stats Stats
	over  bool // ended or failed: there is nothing to cancel
}

// Stream starts one statement. Every block is encoded by itself: formats that
// cannot simply be joined (JSON, Parquet, anything with a header or footer) need
// Query. A statement that is not a SELECT is refused before it runs, with an
// Error that is NotStreamable; more than one statement is a syntax error.
func (c *Conn) Stream(ctx context.Context, query, format string, params ...Param) (*Stream, error) {
	defer c.engine.watch(ctx, c.tag)()
	p := begin(c.c.streamQuery, c.handle(), query, format, params)
	if text := goString(c.c.failure(p)); text != "" {
		c.c.destroy(p)
		return nil, parseError(text)
	}
	return &Stream{conn: c, p: p}, nil
}

// Next gives the next block, encoded; nil at the end. It is C memory and valid
// until the next call. When ctx ends, so does the statement, with CodeCancelled.
func (s *Stream) Next(ctx context.Context) ([]byte, error) {
	c := s.conn.c
	s.free()
	if s.over {
		return nil, nil
	}
	stop := s.conn.engine.watch(ctx, s.conn.tag)
	s.chunk = c.streamFetch(s.conn.handle(), s.p)
	stop()
	if text := goString(c.failure(s.chunk)); text != "" {
		s.over = true
		return nil, parseError(text)
	}
	s.stats.add(c.stats(s.chunk))
	b := c.bytes(s.chunk)
	s.over = b == nil
	return b, nil
}

// Stats of the blocks so far.
func (s *Stream) Stats() Stats { return s.stats }

func (s *Stream) free() {
	if s.chunk != nil {
		s.conn.c.destroy(s.chunk)
		s.chunk = nil
	}
}

// Close frees the stream and ends the statement if it still runs.
func (s *Stream) Close() {
	if s.p == nil {
		return
	}
	s.free()
	if !s.over {
		s.conn.c.streamCancel(s.conn.handle(), s.p)
	}
	s.conn.c.destroy(s.p)
	s.p = nil
}
