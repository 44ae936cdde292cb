package snapshot

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"sextant/features"
	"sextant/features/online"
	"sextant/internal/access"
)

// Past reads what was known of the cluster at a time.
type Past interface {
	// RowsAt yields of each entity the row with the highest tick of those that were known at
	// at, in unix ms, by key; none that is older than View.Memory was then.
	RowsAt(ctx context.Context, v *features.View, at int64) (*features.Rows, error)

	// Placed yields the tasks that were bound to a node at tick, by what was known at at, both in
	// unix ms.
	Placed(ctx context.Context, tick, at int64) ([]features.Placement, error)
}

// Options of a Server. A zero field has the default.
type Options struct {
	Settle    time.Duration    // after a tick until its version is published: see Moment; 8 s
	AsOf      int              // questions about the past at once; 2
	Reach     time.Duration    // how far back as_of may go; 0: any time
	MaxValues int              // numbers in one matrix; 128 Mi
	Watchers  int              // streams of changes at once; 64
	Heartbeat time.Duration    // between two messages of a stream, at most; 15 s
	Access    *access.Gate     // who may ask for what; nil lets everybody
	Now       func() time.Time // time.Now

	Registerer prometheus.Registerer // nil registers nothing
	Log        *slog.Logger          // slog.Default
}

// Server publishes a version of the cluster each tick, and answers questions about it.
type Server struct {
	opts     Options
	store    *online.Store
	set      *features.Set
	past     Past
	plans    *plans
	aligners map[*plan]*aligner
	metrics  *metrics
	slots    chan struct{} // of questions about the past

	current  atomic.Pointer[edition] // nil before the first version
	ahead    chan struct{}           // a version was published
	fed      chan struct{}           // likewise
	feeds    map[*plan]*feed
	watching atomic.Int64
	top      atomic.Pointer[topology] // the last, nil before any
	placed   atomic.Pointer[placed]   // the last, nil before any
}

// pastTimeout is how long the store may take to answer about the past.
const pastTimeout = time.Minute

// New is a server over a store that holds the views of set, and refreshes them
// Options.Settle behind each tick. It publishes while Run runs.
func New(store *online.Store, set *features.Set, past Past, o Options) (*Server, error) {
	if o.Settle == 0 {
		o.Settle = 8 * time.Second
	}
	if o.Settle < 0 || o.Settle >= Step {
		return nil, fmt.Errorf("settle %v is not within 0 and %v", o.Settle, Step)
	}
	if o.AsOf <= 0 {
		o.AsOf = 2
	}
	if o.MaxValues <= 0 {
		o.MaxValues = 128 << 20
	}
	if o.Watchers <= 0 {
		o.Watchers = 64
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = 15 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	s := &Server{opts: o, store: store, set: set, past: past, plans: newPlans(set), aligners: map[*plan]*aligner{}, slots: make(chan struct{}, o.AsOf), ahead: make(chan struct{}, 1), fed: make(chan struct{}, 1), feeds: map[*plan]*feed{}}
	for _, p := range s.plans.byRef {
		s.feeds[p] = &feed{plan: p, readers: map[*reader]struct{}{}}
	}
	for _, p := range s.plans.all() {
		s.aligners[p] = &aligner{plan: p}
	}
	for _, v := range set.Views {
		if store.Snapshot(v) == nil {
			return nil, fmt.Errorf("view %s is not in the store", v.Ref())
		}
	}
	var err error
	if s.metrics, err = newMetrics(s, o.Registerer); err != nil {
		return nil, fmt.Errorf("register snapshot metrics: %w", err)
	}
	return s, nil
}

// poll is how often the publisher looks whether the store has caught up, while it waits.
const poll = 20 * time.Millisecond

// Run publishes each version when it is settled, until ctx is done.
func (s *Server) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.publishAll(ctx) })
	g.Go(func() error { return s.buildAhead(ctx) })
	g.Go(func() error { return s.feedAll(ctx) })
	return g.Wait()
}

// publishAll waits for the store to have asked every view for what was stored by Moment.At, but
// not beyond the version's deadline.
func (s *Server) publishAll(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var awaited Moment
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		now := s.opts.Now()
		m := momentAt(now.UnixMilli(), s.opts.Settle)
		switch late := now.UnixMilli() - m.deadline(); {
		case s.published(m):
		case late < 0 && s.caughtUp(m), late >= 0 && late < maxLate && awaited == m && s.anyLoaded():
			s.publish(m)
		case late < 0:
			awaited = m
			timer.Reset(poll)
			continue
		}
		// Published, or missed: the store may hold rows of the next tick by now.
		timer.Reset(max(time.UnixMilli(m.At).Add(Step).Sub(s.opts.Now()), time.Millisecond))
	}
}

// maxLate is how long after its deadline a version may still be published, in ms.
const maxLate = 1000

func (s *Server) published(m Moment) bool {
	e := s.current.Load()
	return e != nil && e.Tick >= m.Tick
}

// caughtUp says whether the store has all that was stored by m.At.
func (s *Server) caughtUp(m Moment) bool {
	for _, v := range s.set.Views {
		if s.store.Asked(v) < m.At {
			return false
		}
	}
	return true
}

func (s *Server) anyLoaded() bool {
	for _, v := range s.set.Views {
		if s.store.Asked(v) > 0 {
			return true
		}
	}
	return false
}

// publish makes m the current version.
func (s *Server) publish(m Moment) {
	if s.current.Swap(s.hold(m)) == nil {
		s.opts.Log.Info("cluster snapshots are published", "version", m.Tick, "matrices", s.plans.list())
	}
	for _, next := range []chan struct{}{s.ahead, s.fed} {
		select {
		case next <- struct{}{}:
		default: // it has not taken the version before, and will take this one
		}
	}
}

// buildAhead builds of each version what the one before was asked for, so that no reader waits
// for it. The publisher never waits for that.
func (s *Server) buildAhead(ctx context.Context) error {
	var before *edition
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.ahead:
		}
		e := s.current.Load()
		if before != nil {
			s.buildLike(e, before)
		}
		before = e
	}
}

func (s *Server) buildLike(e, before *edition) {
	for _, k := range before.asked() {
		if _, err := s.body(e, k); err != nil {
			s.opts.Log.Debug("snapshot is not built ahead", "version", e.Tick, "err", err)
		}
	}
}
