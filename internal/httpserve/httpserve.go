// Package httpserve runs an HTTP server the way every Sextant listener runs: a bound port
// before anything else starts, TLS and users from a web configuration file as every
// Prometheus component reads it, limits against slow and oversized clients, and a
// graceful end.
package httpserve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
)

// Options say where and how to listen.
type Options struct {
	Addr          string        // host:port; port 0 picks a free one
	WebConfig     string        // exporter-toolkit web configuration: TLS, users, headers
	Authenticated bool          // the handler checks a credential itself, so users need not stand in WebConfig
	Drain         time.Duration // how long requests in flight may take at the end; default 3 s
	Log           *slog.Logger
}

// Server is a bound listener and the options to serve it with.
type Server struct {
	listener net.Listener
	opts     Options
}

// Listen binds the address. A listener that leaves the host must have TLS and must
// authenticate; without them Listen refuses, so that no one exposes telemetry by
// mistake.
func Listen(o Options) (*Server, error) {
	if o.Drain == 0 {
		o.Drain = 3 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := guard(o); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", o.Addr)
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err // without the address, which the error below has
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", o.Addr, err)
	}
	return &Server{listener: l, opts: o}, nil
}

// Addr is the address that was bound, as host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Run serves h until ctx ends, then lets requests in flight finish for the drain time. It
// returns nil after a graceful end. What a page of another site makes a browser of this
// host send, other than to read, is refused: loopback is no shield against that.
func (s *Server) Run(ctx context.Context, h http.Handler) error {
	// gRPC speaks HTTP/2, with TLS or, on loopback, without.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{
		Protocols:         protocols,
		Handler:           http.NewCrossOriginProtection().Handler(h),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       60 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() {
		ended <- web.Serve(s.listener, srv, &web.FlagConfig{WebConfigFile: &s.opts.WebConfig}, slog.New(warnings{s.opts.Log.Handler()}))
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", s.Addr(), err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Drain)
	defer cancel()
	err := srv.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	if stopped := <-ended; err == nil && !errors.Is(stopped, http.ErrServerClosed) {
		err = stopped
	}
	return err
}
