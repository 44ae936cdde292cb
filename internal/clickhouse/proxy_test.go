package clickhouse

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy stands between the client and the engine, and breaks what passes through it.
type proxy struct {
	listener net.Listener
	backend  string
	down     atomic.Bool  // connections are closed as soon as they come
	cut      atomic.Int64 // so many connections lose the answer to their next request
	conns    sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]struct{}
}

func newProxy(t testing.TB) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, backend: engineAddr(t), open: make(map[net.Conn]struct{})}
	p.conns.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.breakAll()
		p.conns.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.down.Load() {
			c.Close()
			continue
		}
		b, err := net.Dial("tcp", p.backend)
		if err != nil {
			c.Close()
			continue
		}
		p.track(c, b)
		p.conns.Go(func() { _, _ = io.Copy(b, c); b.Close() })
		p.conns.Go(func() { p.answer(c, b) })
	}
}

// answer passes the engine's answers on, until it is told to cut one off.
func (p *proxy) answer(c, b net.Conn) {
	defer c.Close()
	defer b.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := b.Read(buf)
		if err != nil {
			return
		}
		if p.cut.Load() > 0 && p.cut.Add(-1) >= 0 {
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) track(cs ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range cs {
		p.open[c] = struct{}{}
	}
}

// breakAll closes every connection.
func (p *proxy) breakAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.Close()
	}
	clear(p.open)
}
