package pipeline

import (
	"context"
	"fmt"
	"time"
)

// writer makes batches durable, one at a time.
type writer struct {
	sink Sink
	cfg  RunConfig
	todo chan *Batch
	done chan *Batch // holds one, so that the writer never waits for the reader
}

func newWriter(sink Sink, cfg RunConfig) *writer {
	return &writer{sink: sink, cfg: cfg, todo: make(chan *Batch), done: make(chan *Batch, 1)}
}

// run writes batches until todo is closed. A batch that could not be written because ctx
// is done is not reported as done.
func (w *writer) run(ctx context.Context) {
	for b := range w.todo {
		if w.retry(ctx, b) {
			w.done <- b
		}
	}
}

// retry writes b until it is durable or ctx is done.
func (w *writer) retry(ctx context.Context, b *Batch) bool {
	pause := w.cfg.Retry
	for failures := 0; ; failures++ {
		start := time.Now()
		err := w.write(ctx, b)
		if err == nil {
			w.cfg.Metrics.wrote(b, time.Since(start))
			if failures > 0 {
				w.cfg.Log.Info("writing again", "batch", b.Token(), "failures", failures)
			}
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		w.cfg.Metrics.failed()
		if failures == 0 {
			w.cfg.Log.Error("write failed, trying until it succeeds", "batch", b.Token(), "rows", b.Len(), "err", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
		pause = min(2*pause, 50*w.cfg.Retry)
	}
}

// write makes everything in b durable: first what was set aside, so that no record is
// ever only counted.
func (w *writer) write(ctx context.Context, b *Batch) error {
	if len(b.Dead) > 0 && w.cfg.Dead != nil {
		if err := w.cfg.Dead.Keep(ctx, b.Dead); err != nil {
			return fmt.Errorf("keep %d dead letters: %w", len(b.Dead), err)
		}
	}
	if err := w.sink.Write(ctx, b); err != nil {
		return fmt.Errorf("write %d rows: %w", b.Len(), err)
	}
	return nil
}
