package receive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"

	"sextant/internal/httpserve"
	"sextant/schema/wire"
)

// Options are what a Receiver needs from outside.
type Options struct {
	Node     string        // the agent's, for series that name none
	External labels.Labels // the agent's external labels, for Config.External
	Sink     Sink
	Log      *slog.Logger
	Register prometheus.Registerer
}

// Receiver takes remote-write requests. It is an http.Handler, and with Listen and Run a
// server.
type Receiver struct {
	cfg     Config
	opts    Options
	router  *router
	metrics *metrics
	works   chan *work // one for each request that is worked on
	turns   turns
	server  *httpserve.Server // nil without Listen
}

// work is what one request at a time needs.
type work struct {
	body, raw []byte
	decoders  decoders
	plan      plan
	writer    writer
}

// New returns a receiver that does not listen. cfg was checked.
func New(cfg Config, o Options) (*Receiver, error) {
	m, err := newMetrics(o.Register)
	if err != nil {
		return nil, fmt.Errorf("receive: metrics: %w", err)
	}
	seed := rand.Uint64()
	external := labels.EmptyLabels()
	if cfg.External {
		external = o.External
	}
	r := &Receiver{
		cfg: cfg, opts: o, metrics: m, works: make(chan *work, cfg.MaxConcurrent), turns: turns{log: o.Log},
		router: newRouter(rules{node: o.Node, nodeLabels: cfg.NodeLabels, relabel: cfg.Relabel, external: external, maxLabels: cfg.MaxLabels}, seed),
	}
	for range cfg.MaxConcurrent {
		w := &work{}
		w.decoders.seed(seed)
		r.works <- w
	}
	return r, nil
}

// Listen returns a receiver that is bound to the configured address.
func Listen(cfg Config, o Options) (*Receiver, error) {
	r, err := New(cfg, o)
	if err != nil {
		return nil, err
	}
	r.server, err = httpserve.Listen(httpserve.Options{Addr: cfg.Listen, WebConfig: cfg.ConfigFile, Drain: 2 * time.Second, Log: o.Log})
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	o.Log.Info("receives remote-write", "listen", r.server.Addr(), "path", cfg.Path)
	return r, nil
}

// Addr is the address that Listen bound, as host:port.
func (r *Receiver) Addr() string { return r.server.Addr() }

// Run serves until ctx ends, and then lets requests in flight finish for two seconds.
func (r *Receiver) Run(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.Handle(r.cfg.Path, r)
	return r.server.Run(ctx, mux)
}

// patience is how long a request waits for others to end.
const patience = 5 * time.Second

// future is how far the clock of a sender may be ahead.
const future = 10 * time.Minute

// ServeHTTP answers one request.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	began := time.Now()
	a := r.receive(req)
	r.metrics.answered(a, began)
	r.turns.note(a, began)
	a.write(w)
}

func (r *Receiver) receive(req *http.Request) answer {
	p, err := negotiate(req.Header)
	a := answer{protocol: p}
	switch {
	case req.Method != http.MethodPost:
		return a.fail(http.StatusMethodNotAllowed, fmt.Errorf("method %.20s is not taken, use POST", req.Method))
	case err != nil:
		return a.fail(http.StatusUnsupportedMediaType, err)
	}
	w, err := r.enter(req.Context())
	if err != nil {
		return a.over("concurrent", http.StatusServiceUnavailable, err)
	}
	defer r.leave(w)
	if a := r.read(w, req, a); a.err != nil {
		return a
	}
	b, err := w.decoders.decode(p, w.raw)
	if err == nil {
		err = r.checkSize(&b)
	}
	var limit *wire.LimitError
	switch {
	case errors.As(err, &limit):
		return a.over(limitName(limit.Limit), http.StatusRequestEntityTooLarge, err)
	case err != nil:
		return a.fail(http.StatusBadRequest, err)
	}
	return r.store(w, &b, a)
}

// enter waits for its turn.
func (r *Receiver) enter(ctx context.Context) (*work, error) {
	select {
	case w := <-r.works:
		r.metrics.inFlight.Inc()
		return w, nil
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case w := <-r.works:
		r.metrics.inFlight.Inc()
		return w, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, fmt.Errorf("%d requests are under way for more than %s, try again", r.cfg.MaxConcurrent, patience)
	}
}

// keep is the size of a buffer that is kept for the next request.
const keep = 4 << 20

func (r *Receiver) leave(w *work) {
	if cap(w.body) > keep || cap(w.raw) > keep || cap(w.writer.order) > keep/4 {
		fresh := &work{}
		fresh.decoders.seed(r.router.seed)
		w = fresh
	}
	w.writer.b, w.writer.p, w.writer.block = nil, nil, nil
	r.metrics.inFlight.Dec()
	r.works <- w
}

// read fills w.raw with the decompressed body.
func (r *Receiver) read(w *work, req *http.Request, a answer) answer {
	most := int64(r.cfg.MaxBodyBytes)
	if req.ContentLength > most {
		return a.over("body", http.StatusRequestEntityTooLarge, fmt.Errorf("a body of %d bytes, at most %d are allowed", req.ContentLength, most))
	}
	var err error
	if w.body, err = readAll(w.body[:0], io.LimitReader(req.Body, most+1), req.ContentLength); err != nil {
		return a.fail(http.StatusBadRequest, fmt.Errorf("read body: %w", err))
	}
	r.metrics.bytes.WithLabelValues(a.protocol.String()).Add(float64(len(w.body)))
	if int64(len(w.body)) > most {
		return a.over("body", http.StatusRequestEntityTooLarge, fmt.Errorf("a body of more than %d bytes", most))
	}
	size, err := snappy.DecodedLen(w.body)
	if err == nil && size > int(r.cfg.MaxRequestBytes) {
		return a.over("request", http.StatusRequestEntityTooLarge,
			fmt.Errorf("a request of %d bytes after decompression, at most %d are allowed", size, r.cfg.MaxRequestBytes))
	}
	if err == nil {
		w.raw, err = snappy.Decode(w.raw[:cap(w.raw)], w.body)
	}
	if err != nil {
		return a.fail(http.StatusBadRequest, fmt.Errorf("decompress %d bytes, want snappy's block format: %w", len(w.body), err))
	}
	return a
}

// readAll appends what from has to dst. size is how much to expect, or -1.
func readAll(dst []byte, from io.Reader, size int64) ([]byte, error) {
	if size >= int64(cap(dst)) {
		dst = make([]byte, 0, size+1)
	}
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := from.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}

func (r *Receiver) checkSize(b *batch) error {
	if b.series > r.cfg.MaxSeries {
		return &wire.LimitError{Limit: wire.LimitSeries, Max: r.cfg.MaxSeries, Got: b.series}
	}
	if len(b.values) > r.cfg.MaxSamples {
		return &wire.LimitError{Limit: wire.LimitSamples, Max: r.cfg.MaxSamples, Got: len(b.values)}
	}
	return nil
}

func limitName(l wire.Limit) string {
	switch l {
	case wire.LimitSeries:
		return "series"
	case wire.LimitSamples:
		return "samples"
	default:
		return "request"
	}
}

// store writes a decoded request and says what became of it.
func (r *Receiver) store(w *work, b *batch, a answer) answer {
	p, known := r.router.plan(b, &w.plan)
	r.metrics.layout(known)
	now := time.Now()
	s := span{oldest: now.Add(-r.cfg.MaxAge.D()).UnixMilli(), newest: now.Add(future).UnixMilli(), now: now.UnixMilli()}
	err := w.writer.write(r.opts.Sink, b, p, s)
	a.done = w.writer.done
	a.done.refuse(noHistogram, b.histograms, nil)
	a.done.refuse(noExemplar, b.exemplars, nil)
	switch {
	case err != nil:
		// Entries may have been written. The sender sends all again, and what comes twice
		// is one row each.
		return a.fail(http.StatusServiceUnavailable, fmt.Errorf("not everything is durable, send it again: %w", err))
	case a.done.bad(b.protocol):
		return a.fail(http.StatusBadRequest, errors.New(a.done.String()))
	}
	a.code = http.StatusNoContent
	return a
}

func (a answer) fail(code int, err error) answer {
	a.code, a.err = code, err
	return a
}

func (a answer) over(limit string, code int, err error) answer {
	a.limit = limit
	return a.fail(code, err)
}
