package inventory

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/pipeline/kafka"
)

// Sender is what a kafka.Producer does: one attempt for each message, and its result.
type Sender interface {
	Send(ctx context.Context, msgs []kafka.Message) []error
}

// Options are what a reporter takes beside its configuration. The zero value is enough.
type Options struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer

	// Page gets every document that was read; nil: there is none.
	Page *Page
	// Read reads the node, in place of the function of that name.
	Read func(context.Context) (*Document, error)
}

// Reporter keeps the node's newest document in Kafka. It has no spool: only the last
// state counts, and that can be read again, so a document that could not be sent is
// replaced by a newer reading. What changed and changed back while Kafka was away is not
// told.
type Reporter struct {
	cfg     Config
	send    Sender
	log     *slog.Logger
	metrics *metrics
	page    *Page
	read    func(context.Context) (*Document, error)

	hash    string    // of the last reading
	since   int64     // unix ms, first reading with that hash
	settled string    // hash that Kafka has, or that it refuses for good
	due     time.Time // when the settled document goes again
	failing bool      // the last attempt failed
}

// NewReporter returns a reporter that sends through send.
func NewReporter(cfg Config, send Sender, opt Options) (*Reporter, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	m, err := newMetrics(opt.Registerer)
	if err != nil {
		return nil, fmt.Errorf("inventory metrics: %w", err)
	}
	cfg.Sources = remembered(cfg.Sources)
	if opt.Read == nil {
		opt.Read = func(ctx context.Context) (*Document, error) { return Read(ctx, cfg) }
	}
	return &Reporter{cfg: cfg, send: send, log: opt.Logger.With("component", "inventory"), metrics: m, page: opt.Page, read: opt.Read}, nil
}

// Pauses after a failed attempt: they double up to the interval.
const firstPause = time.Second

// Run reads the node at every interval and sends what Kafka does not have, until ctx
// ends.
func (r *Reporter) Run(ctx context.Context) error {
	pause := firstPause
	for {
		wait := r.cfg.Interval.D()
		if err := r.turn(ctx); err != nil && ctx.Err() == nil {
			wait = min(pause, wait)
			pause = min(2*pause, r.cfg.Interval.D())
			if !r.failing {
				r.log.Warn("inventory not sent, trying on", "err", err)
			}
			r.failing = true
		} else if err == nil {
			if r.failing {
				r.log.Info("inventory sent again")
			}
			pause, r.failing = firstPause, false
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// turn reads the node and sends the document if Kafka lacks it or it is due.
func (r *Reporter) turn(ctx context.Context) error {
	d, err := r.read(ctx)
	r.metrics.read(d, err)
	if err != nil {
		return err
	}
	if r.page != nil {
		r.page.Set(d)
	}
	now := time.UnixMilli(d.Collected)
	if d.Hash != r.hash {
		if r.hash != "" {
			r.metrics.changes.Inc()
			r.log.Info("inventory changed", "hash", d.Hash, "before", r.hash)
		}
		r.hash, r.since = d.Hash, d.Collected
	}
	if r.hash == r.settled && now.Before(r.due) {
		return nil
	}
	d.Since = min(r.since, d.Collected) // a clock that was set back
	value, err := d.Encode()
	if err != nil {
		return err
	}
	err = r.send.Send(ctx, []kafka.Message{{Topic: r.cfg.Topic, Key: []byte(d.Node), Value: value}})[0]
	r.metrics.sent(err, len(value), now)
	if errors.Is(err, kafka.ErrTooLarge) {
		r.log.Error("inventory refused for its size", "bytes", len(value), "err", err)
	} else if err != nil {
		return err
	}
	r.settled, r.due = r.hash, now.Add(r.resend())
	return nil
}

// resend is the configured period, up to a tenth shorter by the name of the node: a fleet
// that was started together does not send together.
func (r *Reporter) resend() time.Duration {
	h := fnv.New32a()
	h.Write([]byte(r.cfg.Node))
	d := r.cfg.Resend.D()
	return d - time.Duration(float64(d)/10*float64(h.Sum32()%1000)/1000)
}

// memory is a source that keeps its last answer. A vendor's engine that is being started
// again must not make devices change their identity twice.
type memory struct {
	Source
	last *Extra
}

func remembered(all []Source) []Source {
	out := make([]Source, len(all))
	for i, s := range all {
		out[i] = &memory{Source: s}
	}
	return out
}

func (m *memory) Describe(ctx context.Context) (Extra, error) {
	x, err := m.Source.Describe(ctx)
	if err != nil && m.last != nil {
		return *m.last, nil
	}
	if err == nil {
		m.last = &x
	}
	return x, err
}
