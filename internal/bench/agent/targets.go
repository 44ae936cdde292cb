package agent

import (
	"compress/gzip"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// pages are the targets: one listener each, on loopback.
type pages struct {
	samples   atomic.Int64 // served so far
	listeners []net.Listener
	servers   []*http.Server
	done      sync.WaitGroup
}

func servePages(n int, zip bool) (*pages, error) {
	p := &pages{}
	for i := range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			p.close()
			return nil, err
		}
		srv := &http.Server{Handler: p.handler(newPage(uint64(i)), zip)}
		p.listeners, p.servers = append(p.listeners, l), append(p.servers, srv)
		p.done.Go(func() {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				panic(err) // a loopback listener does not fail while it is open
			}
		})
	}
	return p, nil
}

func (p *pages) handler(pg *page, zip bool) http.Handler {
	var mu sync.Mutex
	var buf []byte
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		buf = pg.next(buf[:0])
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		if zip && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			_, _ = z.Write(buf)
			_ = z.Close()
		} else {
			_, _ = w.Write(buf)
		}
		p.samples.Add(pageSeries)
	})
}

func (p *pages) addrs() (out []string) {
	for _, l := range p.listeners {
		out = append(out, l.Addr().String())
	}
	return out
}

func (p *pages) close() {
	for _, s := range p.servers {
		_ = s.Close()
	}
	p.done.Wait()
}
