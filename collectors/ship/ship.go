// Package ship drains the spool into Kafka: what was just scraped first, the backlog of an
// outage behind it with what capacity is left, and nothing forgotten before the broker has
// acknowledged it.
package ship

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/collectors/spool"
	"sextant/pipeline/kafka"
)

// Producer tries each message once. Of the results, nil means stored, an error that is
// kafka.ErrTooLarge means that it never will be, and any other that it may or may not
// have been. It returns soon after ctx ends.
type Producer interface {
	Send(ctx context.Context, msgs []kafka.Message) []error
}

// Options of a Shipper. The zero value is the default.
type Options struct {
	Topic      string        // empty: the producer's
	BatchBytes int           // of one Send with fresh entries, 1 MiB; the limit of one with backlog
	MinBackoff time.Duration // after the first failed Send, 200 ms; doubled up to MaxBackoff
	MaxBackoff time.Duration // 5 s
	Drain      time.Duration // how long Run goes on sending after its context ends, 1.5 s

	Logger     *slog.Logger          // slog.Default
	Registerer prometheus.Registerer // none
}

func (o Options) withDefaults() Options {
	if o.BatchBytes == 0 {
		o.BatchBytes = 1 << 20
	}
	if o.MinBackoff == 0 {
		o.MinBackoff = 200 * time.Millisecond
	}
	if o.MaxBackoff == 0 {
		o.MaxBackoff = 5 * time.Second
	}
	if o.Drain == 0 {
		o.Drain = 1500 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	return o
}

func (o Options) check() error {
	var errs []error
	if o.BatchBytes < minBacklogBatch {
		errs = append(errs, fmt.Errorf("ship batch of %d bytes: want at least %d", o.BatchBytes, minBacklogBatch))
	}
	if o.MinBackoff < 0 || o.MaxBackoff < o.MinBackoff {
		errs = append(errs, fmt.Errorf("ship back-off from %s to %s: want a range", o.MinBackoff, o.MaxBackoff))
	}
	if o.Drain < 0 {
		errs = append(errs, fmt.Errorf("ship drain time %s: want at least 0", o.Drain))
	}
	return errors.Join(errs...)
}

// Shipper sends one batch at a time. A node's records all go to one partition, where a
// second batch would only queue behind the first: so nothing is gained by more, and a fresh
// entry never waits for more than the one batch of backlog before it.
type Shipper struct {
	spool    *spool.Spool
	producer Producer
	opt      Options
	log      *slog.Logger
	m        *metrics

	pace    pace
	hold    time.Duration // pause before the next Send, 0 for none
	backoff time.Duration // 0 while the broker answers
	away    time.Time     // since when it does not
	retries int
	msgs    []kafka.Message
}

// New returns a shipper from s to p. Metrics are registered on Options.Registerer.
func New(s *spool.Spool, p Producer, o Options) (*Shipper, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, fmt.Errorf("ship metrics: %w", err)
	}
	return &Shipper{spool: s, producer: p, opt: o, log: o.Logger, m: m, pace: newPace(o.BatchBytes)}, nil
}

// Run ships until ctx ends, then goes on for Options.Drain at most to send what is left of
// the fresh entries, and returns nil. What it could not send stays in the spool.
func (s *Shipper) Run(ctx context.Context) error {
	send, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() {
		select {
		case <-ctx.Done():
			sleep(send, s.opt.Drain)
			cancel()
		case <-send.Done():
		}
	})
	for ctx.Err() == nil {
		if !s.turn(send) {
			s.wait(ctx)
		}
	}
	for s.hold == 0 && s.backoff == 0 && send.Err() == nil {
		if _, more := s.shipFresh(send); !more {
			break
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// turn sends a batch of fresh entries, and one of backlog behind it unless more fresh ones
// wait. It reports whether there is reason to go on at once.
func (s *Shipper) turn(ctx context.Context) bool {
	sent, more := s.shipFresh(ctx)
	if more || s.hold != 0 {
		return s.hold == 0
	}
	items, err := s.spool.TakeBacklog(s.pace.bytes)
	if err != nil {
		s.readFailed(err)
	}
	if len(items) == 0 {
		return sent && s.hold == 0
	}
	begin := time.Now()
	s.ship(ctx, items)
	s.pace.sent(time.Since(begin))
	s.m.backlog.Add(float64(len(items)))
	return s.hold == 0
}

// shipFresh sends a batch of fresh entries, and tells whether more of them are likely to
// wait because the batch was full.
func (s *Shipper) shipFresh(ctx context.Context) (sent, more bool) {
	items := s.takeFresh()
	if len(items) == 0 {
		return false, false
	}
	bytes := 0
	for _, it := range items {
		bytes += len(it.Payload)
	}
	s.ship(ctx, items)
	return true, bytes > s.opt.BatchBytes/2
}

func (s *Shipper) takeFresh() []spool.Item {
	items, err := s.spool.TakeFresh(s.opt.BatchBytes)
	if err != nil {
		s.readFailed(err)
	}
	return items
}

func (s *Shipper) readFailed(err error) {
	s.m.readFailed.Inc()
	s.hold = s.opt.MaxBackoff
	s.log.Error("spool cannot be read, its entries stay", "err", err)
}

// ship sends items and settles each by its own result.
func (s *Shipper) ship(ctx context.Context, items []spool.Item) {
	s.msgs = s.messages(s.msgs[:0], items)
	begin := time.Now()
	results := s.producer.Send(ctx, s.msgs)
	s.m.sendSeconds.Observe(time.Since(begin).Seconds())
	clear(s.msgs)

	var done, again []spool.Item
	var failure error
	for i, err := range results {
		switch {
		case err == nil:
			done = append(done, items[i])
		case errors.Is(err, kafka.ErrTooLarge):
			s.sideline(items[i], err)
		default:
			again = append(again, items[i])
			failure = err
		}
	}
	s.spool.Ack(done...)
	s.spool.Return(again...)
	s.m.sent.Add(float64(len(done)))
	s.m.retried.Add(float64(len(again)))
	s.m.observeLag(time.Now(), done)
	switch {
	case failure == nil:
		s.present()
	case len(done) > 0: // one partition of several, or one record
		s.present()
		s.hold = s.opt.MinBackoff
	case ctx.Err() == nil: // at the end of the drain the shipper, not the broker, gave up
		s.absent(failure)
	}
}

func (s *Shipper) sideline(it spool.Item, reason error) {
	s.m.oversize.Inc()
	s.log.Warn("record is too large for the broker, side-lined", "target", it.Target, "seq", it.Seq, "bytes", len(it.Payload), "err", reason)
	if err := s.spool.Sideline(it, reason); err != nil {
		s.log.Error("side-lined record is lost", "err", err)
	}
}

// absent notes a Send of which nothing was stored.
func (s *Shipper) absent(err error) {
	s.retries++
	s.m.up.Set(0)
	if s.backoff == 0 {
		s.away = time.Now()
		s.log.Warn("broker lost, entries wait in the spool", "err", err, "pending", s.spool.Pending())
	}
	s.backoff = min(max(2*s.backoff, s.opt.MinBackoff), s.opt.MaxBackoff)
	s.hold = s.backoff
}

// present notes a Send of which something was stored.
func (s *Shipper) present() {
	s.m.up.Set(1)
	if s.backoff != 0 {
		s.log.Info("broker recovered", "after", time.Since(s.away).Round(time.Millisecond), "failed_sends", s.retries, "pending", s.spool.Pending())
	}
	s.backoff, s.retries = 0, 0
}

// How often a shipper looks again without being told: fresh entries become backlog without
// a word, and where nothing is kept nothing does.
const (
	idle  = time.Second
	empty = time.Minute
)

// wait returns when there may be something to send: when something arrives, or after a
// failure when the pause is over, whatever arrives meanwhile.
func (s *Shipper) wait(ctx context.Context) {
	ready, pause := s.spool.Ready(), idle
	switch {
	case s.hold != 0:
		ready, pause = nil, jitter(s.hold)
		s.hold = 0
	case s.spool.Pending() == 0:
		pause = empty
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-ready:
	case <-timer.C:
	}
}

// jitter spreads the agents of a cluster, which lose a broker all at the same moment.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}
