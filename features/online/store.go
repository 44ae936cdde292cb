package online

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/features"
)

// Source yields rows of a view whose tick is above afterTick, in unix ms. It may give
// only the latest row of each entity.
type Source interface {
	LatestRows(ctx context.Context, v *features.View, afterTick int64) (*features.Rows, error)
}

// Options of a Store. The zero value is usable.
type Options struct {
	Refresh    time.Duration         // between two looks at the source that find something; 500 ms
	MaxSilence time.Duration         // how long the source may fail before Ready says so; 30 s
	Timeout    time.Duration         // of one question to the source; 30 s
	Settle     time.Duration         // after each tick, when every view is looked at in any case; below a tick; 0: never
	Now        func() time.Time      // time.Now
	Registerer prometheus.Registerer // nil registers nothing
	Log        *slog.Logger          // slog.Default
}

func (o Options) withDefaults() Options {
	if o.Refresh <= 0 {
		o.Refresh = 500 * time.Millisecond
	}
	if o.MaxSilence <= 0 {
		o.MaxSilence = 30 * time.Second
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Store holds one snapshot a view. Any number of goroutines may read while Run refreshes.
type Store struct {
	opts    Options
	source  Source
	views   []*shelf
	byView  map[*features.View]*shelf
	metrics *metrics
}

// shelf is one view's snapshot and what the refreshing goroutine knows of it.
type shelf struct {
	view     *features.View
	snapshot atomic.Pointer[Snapshot]
	answered atomic.Int64          // unix ms of the source's last answer; 0 before the first
	asked    atomic.Int64          // unix ms at which the question of that answer was put
	failure  atomic.Pointer[error] // of the last look, nil when it went well

	// Used by the refreshing goroutine alone.
	pace     pace
	next     time.Time // when to look again
	nextDeep time.Time // when to ask for everything within the TTL again
	failures int       // in a row
}

// New makes a store of these views, empty until Refresh or Run.
func New(src Source, views []*features.View, opts Options) (*Store, error) {
	s := &Store{opts: opts.withDefaults(), source: src, byView: make(map[*features.View]*shelf)}
	for _, v := range views {
		sh := &shelf{view: v}
		sh.snapshot.Store(newSnapshot(v))
		s.views = append(s.views, sh)
		s.byView[v] = sh
	}
	var err error
	if s.metrics, err = newMetrics(s, s.opts.Registerer); err != nil {
		return nil, fmt.Errorf("register online store metrics: %w", err)
	}
	return s, nil
}

// Snapshot is the latest rows of a view, or nil for a view that the store does not hold.
// Whoever reads several values of one answer takes it once.
func (s *Store) Snapshot(v *features.View) *Snapshot {
	if sh, ok := s.byView[v]; ok {
		return sh.snapshot.Load()
	}
	return nil
}

// Asked is when the source was asked for what Snapshot has by now, in unix ms: whatever was
// stored by then is there. It is 0 before the first answer.
func (s *Store) Asked(v *features.View) int64 {
	if sh, ok := s.byView[v]; ok {
		return sh.asked.Load()
	}
	return 0
}

// Ready is nil when every view was loaded and the source has answered lately. It does not
// look at the age of rows: when the pipeline stands still, an answer OUTSIDE_MAX_AGE says
// more than a replica that takes no requests.
func (s *Store) Ready() error {
	var errs []error
	now := s.opts.Now().UnixMilli()
	for _, sh := range s.views {
		var cause error
		if p := sh.failure.Load(); p != nil {
			cause = *p
		}
		silent := time.Duration(now-sh.answered.Load()) * time.Millisecond
		switch {
		case sh.answered.Load() == 0 && cause == nil:
			errs = append(errs, fmt.Errorf("%s: not loaded yet", sh.view.Ref()))
		case sh.answered.Load() == 0:
			errs = append(errs, fmt.Errorf("%s: not loaded yet: %w", sh.view.Ref(), cause))
		case silent > s.opts.MaxSilence && cause != nil:
			errs = append(errs, fmt.Errorf("%s: no answer for %s: %w", sh.view.Ref(), silent.Round(time.Second), cause))
		case silent > s.opts.MaxSilence:
			errs = append(errs, fmt.Errorf("%s: no answer for %s", sh.view.Ref(), silent.Round(time.Second)))
		}
	}
	return errors.Join(errs...)
}
