package agent

import (
	"compress/gzip"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// job is a kind of page, as a scrape configuration names it.
type job struct {
	name string
	page func(number uint64) (*page, error)
}

// jobs are what is scraped of each node.
var jobs = []job{
	{"node", func(n uint64) (*page, error) { return newNodePage(n), nil }},
	{"dcgm", newGPUPage},
	{"cadvisor", newPodPage},
}

// pages are the targets: one listener each, on loopback.
type pages struct {
	addrs   map[string][]string // by job
	series  int                 // of all pages together
	servers []*http.Server
	done    sync.WaitGroup

	mu     sync.Mutex
	served tally // whole pages that were handed over; guarded by mu
}

// servePages serves every job's page of each node.
func servePages(nodes int, jobs []job, zip bool) (*pages, error) {
	p := &pages{addrs: map[string][]string{}}
	for _, j := range jobs {
		for i := range nodes {
			pg, err := j.page(uint64(i))
			if err == nil {
				err = p.serve(j.name, pg, zip)
			}
			if err != nil {
				p.close()
				return nil, err
			}
		}
	}
	return p, nil
}

func (p *pages) serve(job string, pg *page, zip bool) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: p.handler(pg, zip)}
	p.addrs[job], p.servers, p.series = append(p.addrs[job], l.Addr().String()), append(p.servers, srv), p.series+pg.series()
	p.done.Go(func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // a loopback listener does not fail while it is open
		}
	})
	return nil
}

func (p *pages) handler(pg *page, zip bool) http.Handler {
	var mu sync.Mutex
	var buf []byte
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var seen tally
		buf, seen = pg.next(buf[:0], time.Now().UnixMilli())
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		if err := write(w, buf, zip && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")); err != nil {
			return // the scraper is gone, and has nothing of the page
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.served.join(seen)
	})
}

func write(w http.ResponseWriter, body []byte, zip bool) error {
	if !zip {
		_, err := w.Write(body)
		return err
	}
	w.Header().Set("Content-Encoding", "gzip")
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	_, err = z.Write(body)
	return errors.Join(err, z.Close())
}

func (p *pages) total() tally {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.served
}

// end refuses further scrapes, and returns when those under way are over.
func (p *pages) end(ctx context.Context) error {
	var errs []error
	for _, s := range p.servers {
		errs = append(errs, s.Shutdown(ctx))
	}
	return errors.Join(errs...)
}

func (p *pages) close() {
	for _, s := range p.servers {
		_ = s.Close()
	}
	p.done.Wait()
}
