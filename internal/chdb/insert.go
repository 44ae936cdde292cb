package chdb

import (
	"context"
	"runtime"
	"unsafe"
)

// Insert is an INSERT whose data comes in pieces.
type Insert struct {
	ctx  context.Context
	conn *Conn
	p    unsafe.Pointer // chdb_insert_stream
	over bool
}

// Insert starts "INSERT INTO t (a, b) SETTINGS …", without a FORMAT clause and
// without data; the data follows, encoded in format. ctx holds for the whole
// insert: when it ends, the insert fails.
func (c *Conn) Insert(ctx context.Context, query, format string, params ...Param) (*Insert, error) {
	stop := c.engine.watch(ctx, c.tag)
	p := begin(c.c.insert, c.handle(), query, format, params)
	stop()
	if text := goString(c.c.insertFailure(p)); text != "" {
		c.c.insertDestroy(p)
		return nil, parseError(text)
	}
	return &Insert{ctx: ctx, conn: c, p: p}, nil
}

// Append hands over the next bytes of the data, cut anywhere. They are copied.
// It blocks while the engine is behind. False means that the insert has failed:
// Done gives the reason.
func (i *Insert) Append(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	defer i.conn.engine.watch(i.ctx, i.conn.tag)()
	rc := i.conn.c.insertAppend(i.p, pointer(b), uintptr(len(b)))
	runtime.KeepAlive(b)
	return rc == 0
}

// Done ends the data and waits until the rows are stored. An error means that
// the last blocks are not; blocks before them may be, as with any ClickHouse insert.
func (i *Insert) Done() (Stats, error) {
	c := i.conn.c
	stop := i.conn.engine.watch(i.ctx, i.conn.tag)
	r := c.insertDone(i.p)
	stop()
	i.over = true
	defer c.destroy(r)
	if text := goString(c.failure(r)); text != "" {
		return Stats{}, parseError(text)
	}
	return c.stats(r), nil
}

// Close frees the insert, and cancels it unless Done was called.
func (i *Insert) Close() {
	if i.p == nil {
		return
	}
	if !i.over {
		i.conn.c.insertCancel(i.p)
	}
	i.conn.c.insertDestroy(i.p)
	i.p = nil
}
