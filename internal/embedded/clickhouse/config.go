package clickhouse

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Config of the embedded server. Dir and Library are needed, the rest has defaults.
type Config struct {
	Dir     string // data directory, created if need be and locked
	Library string // libchdb.so, as fetch.Chdb gives it
	Addr    string // loopback host:port; default 127.0.0.1:0, a free port

	Password string // of the user default; empty means none

	Concurrency int           // statements that run at once; default 8 per CPU
	Queue       int           // requests that wait for their turn; more are refused with 503; default 256
	MaxBody     int64         // bytes of a request after decompression; default 4 GiB
	MaxBuffered int64         // bytes of an answer that has to be built whole; default 256 MiB
	Drain       time.Duration // how long Close lets running statements end by themselves; default 3 s

	Logger     *slog.Logger          // default: discard
	Registerer prometheus.Registerer // default: none
}

func (c Config) withDefaults() Config {
	def := func(p *int64, v int64) {
		if *p == 0 {
			*p = v
		}
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if c.Concurrency == 0 {
		c.Concurrency = 8 * runtime.GOMAXPROCS(0)
	}
	if c.Queue == 0 {
		c.Queue = 256
	}
	def(&c.MaxBody, 4<<30)
	def(&c.MaxBuffered, 256<<20)
	if c.Drain == 0 {
		c.Drain = 3 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// check reports every fault at once.
func (c Config) check() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("dir: is empty"))
	}
	if c.Library == "" {
		errs = append(errs, errors.New("library: is empty"))
	}
	if err := loopback(c.Addr); err != nil {
		errs = append(errs, fmt.Errorf("addr: %w", err))
	}
	if c.Concurrency < 1 || c.Queue < 0 || c.MaxBody < 1 || c.MaxBuffered < 1 || c.Drain < 0 {
		errs = append(errs, fmt.Errorf("concurrency %d, queue %d, max body %d, max buffered %d, drain %v: must be positive",
			c.Concurrency, c.Queue, c.MaxBody, c.MaxBuffered, c.Drain))
	}
	return errors.Join(errs...)
}

// loopback refuses an address that another machine could reach: there is no TLS
// and by default no password.
func loopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if !isLoopback(host) {
		return fmt.Errorf("%s is not a loopback address, and the embedded ClickHouse listens on no other", addr)
	}
	return nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
