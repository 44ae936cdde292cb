package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"sextant/internal/chdb"
)

// Server is the embedded ClickHouse.
type Server struct {
	cfg     Config
	engine  *chdb.Engine
	version string // of the engine
	zone    string // its time zone
	slots   *slots
	metrics *metrics

	listener net.Listener
	http     *http.Server
	abort    context.CancelFunc // ends the context of every request
	gate     sync.RWMutex       // a request at work holds it for reading, Close for writing
	serve    chan error         // the result of http.Serve

	once   sync.Once
	closed error
}

// Start opens the engine and listens. It has data of earlier runs as soon as it
// returns. A process can have one at a time.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("embedded clickhouse: %w", err)
	}
	s := &Server{cfg: cfg, slots: newSlots(cfg.Concurrency, cfg.Queue), serve: make(chan error, 1)}
	if err := s.start(ctx); err != nil {
		return nil, fmt.Errorf("embedded clickhouse: %w", err)
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) (err error) {
	begun := time.Now()
	if s.metrics, err = newMetrics(s.cfg.Registerer, s.slots); err != nil {
		return err
	}
	// The port first: that it is taken shows at once, while an engine takes a while to start.
	var lc net.ListenConfig
	if s.listener, err = lc.Listen(ctx, "tcp", s.cfg.Addr); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.listener.Close()
		}
	}()
	if s.engine, err = openEngine(s.cfg); err != nil {
		return err
	}
	if s.version, s.zone, err = identity(ctx, s.engine); err != nil {
		return errors.Join(err, s.engine.Close())
	}
	base, abort := context.WithCancel(context.Background())
	s.abort = abort
	s.http = &http.Server{
		Handler:           s.handler(),
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	go func() { s.serve <- s.http.Serve(s.listener) }()
	s.cfg.Logger.Info("embedded clickhouse started", slog.String("addr", s.Addr()), slog.String("dir", s.cfg.Dir),
		slog.String("version", s.version), slog.Duration("took", time.Since(begun)))
	return nil
}

// handler lets Close wait for requests, and refuses what a web page of another origin sent.
func (s *Server) handler() http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.gate.TryRLock() {
			http.Error(w, "the server is closing", http.StatusServiceUnavailable)
			return
		}
		defer s.gate.RUnlock()
		s.ServeHTTP(w, r)
	}))
}

// Addr is the host:port that it listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close takes no more requests, lets running statements end for cfg.Drain, ends
// the others, and stops the engine. What was acknowledged is on disk.
func (s *Server) Close() error {
	s.once.Do(func() { s.closed = s.close() })
	return s.closed
}

func (s *Server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Drain)
	defer cancel()
	err := s.http.Shutdown(ctx)
	s.abort() // statements that still run are killed
	if errors.Is(err, context.DeadlineExceeded) {
		s.cfg.Logger.Warn("embedded clickhouse: ending statements that still run", slog.Duration("after", s.cfg.Drain))
		err = s.http.Close() // a body that a client does not send is not waited for
	}
	if served := <-s.serve; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.gate.Lock() // for good: a request that begins now is refused
	return errors.Join(err, s.engine.Close())
}
