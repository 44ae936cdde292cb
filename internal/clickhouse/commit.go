package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// triesOfUnknown is how often an insert is sent again after an error that is neither
// known to pass nor known to stay.
const triesOfUnknown = 4

// worker stores one group at a time. It keeps its buffers from group to group.
type worker struct {
	sink *Sink
	buf  *sampleColumns
}

// storeAll stores reqs together and tells their writers. When the server refuses the
// rows for good, it halves reqs until the batch that is refused stands alone: one bad
// batch must not hold up the others.
func (w *worker) storeAll(reqs []*request) {
	err := w.store(reqs)
	switch {
	case w.sink.ctx.Err() != nil && err != nil:
		err = ErrClosed
	case err == nil || errors.Is(err, context.Canceled): // no writer waits any more
	case len(reqs) > 1:
		w.storeAll(reqs[:len(reqs)/2])
		w.storeAll(reqs[len(reqs)/2:])
		return
	default:
		w.sink.db.metrics.refused.Inc()
		err = fmt.Errorf("write %s: %w", reqs[0].origin, err)
	}
	for _, r := range reqs {
		r.done <- err
	}
}

// store makes the rows of reqs durable, table by table.
func (w *worker) store(reqs []*request) error {
	ctx, stop := w.whileWanted(reqs)
	defer stop()
	g := gather(reqs, w.buf)
	for _, s := range g.steps() {
		if s.rows == 0 {
			continue
		}
		if err := w.insert(ctx, &s); err != nil {
			return fmt.Errorf("%d rows to %s: %w", s.rows, s.table.name, err)
		}
	}
	w.sink.db.metrics.duplicates.Add(float64(g.duplicates))
	return nil
}

// whileWanted is done when the sink closes, or when no writer of reqs waits any more.
func (w *worker) whileWanted(reqs []*request) (context.Context, func()) {
	ctx, cancel := context.WithCancel(w.sink.ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			w.sink.mu.Lock()
			changed := w.sink.changed
			w.sink.mu.Unlock()
			if allLeft(reqs) {
				cancel()
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	})
	return ctx, func() { cancel(); watch.Wait() }
}

func allLeft(reqs []*request) bool {
	for _, r := range reqs {
		if !r.left() {
			return false
		}
	}
	return true
}

// insert sends s until the server has it. It gives up when ctx is done, and on errors
// that would come again.
func (w *worker) insert(ctx context.Context, s *step) error {
	db, pause := w.sink.db, newBackoff()
	for try := 1; ; try++ {
		attempt, cancel := context.WithTimeout(ctx, w.sink.cfg.Timeout)
		err := db.insertOnce(attempt, s)
		cancel()
		if err == nil {
			w.sink.outage.over()
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		kind := kindOf(err)
		if kind == permanent || kind == unknown && try >= triesOfUnknown {
			return err
		}
		w.sink.outage.began(s.table.name, err)
		db.metrics.retries.WithLabelValues(s.table.name).Inc()
		if err := pause.wait(ctx); err != nil {
			return err
		}
	}
}

// outage logs the turns: one line when inserts begin to fail, one when they work again.
type outage struct {
	log   *slog.Logger
	mu    sync.Mutex
	since time.Time // zero when all is well
}

func (o *outage) began(table string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		o.since = time.Now()
		o.log.Warn("clickhouse takes no rows, trying again", "table", table, "err", err)
	}
}

func (o *outage) over() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() {
		o.log.Info("clickhouse takes rows again", "after", time.Since(o.since).Round(time.Millisecond))
		o.since = time.Time{}
	}
}
