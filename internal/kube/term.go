package kube

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
)

// Patience of a term.
const (
	syncLimit  = 2 * time.Minute  // for what every cluster has
	extraLimit = 10 * time.Second // for what a cluster may have: a refusal must not keep the others waiting
	lookEvery  = 15 * time.Second // for resources that came or went
)

// run watches tasks and nodes until ctx ends or a part fails. It comes after recall.
func (w *watcher) run(ctx context.Context, c *clients, r *roll) error {
	ctx, cancel := context.WithCancel(ctx)
	defer w.running.Wait()
	defer cancel()
	defer w.queue.ShutDown()
	defer w.metrics.synced.Reset()
	if err := w.base(ctx, c); err != nil {
		return err
	}
	w.extras(ctx, c)
	w.settle(ctx)
	done := make(chan error, 2)
	w.running.Go(func() { done <- r.run(ctx) })
	w.running.Go(func() { done <- w.work(ctx) })
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			w.extras(ctx, c)
		}
	}
}

// base starts what every cluster has, and returns when all of it was read once.
func (w *watcher) base(ctx context.Context, c *clients) error {
	sources := c.base()
	limited, cancel := context.WithTimeout(ctx, syncLimit)
	defer cancel()
	for _, s := range sources {
		if err := w.begin(ctx, s); err != nil {
			return err
		}
	}
	for _, s := range sources {
		if !cache.WaitForCacheSync(limited.Done(), s.informer.HasSynced) {
			return fmt.Errorf("read %s: not done after %v: is the service account bound to the role?", s.resource, syncLimit)
		}
	}
	return nil
}

// begin watches a source. When all its objects were read and told of, what was known of it
// and is not there is looked at.
func (w *watcher) begin(ctx context.Context, s *source) error {
	if err := s.informer.SetTransform(trim); err != nil {
		return fmt.Errorf("watch %s: %w", s.resource, err)
	}
	if err := s.informer.SetWatchErrorHandlerWithContext(w.refused(ctx, s.resource)); err != nil {
		return fmt.Errorf("watch %s: %w", s.resource, err)
	}
	s.present = map[string]bool{}
	told, err := s.informer.AddEventHandler(w.handle(s))
	if err != nil {
		return fmt.Errorf("watch %s: %w", s.resource, err)
	}
	s.told = told.HasSynced
	ctx, s.stop = context.WithCancel(ctx)
	w.mu.Lock()
	w.sources[s.resource] = s
	w.mu.Unlock()
	w.metrics.synced.WithLabelValues(s.resource).Set(0)
	w.running.Go(func() { s.informer.RunWithContext(ctx) })
	w.running.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), s.told) {
			w.metrics.synced.WithLabelValues(s.resource).Set(1)
			w.queue.Add(key{resource: s.resource})
		}
	})
	return nil
}

// refused says what keeps an informer from watching a resource until ctx ends.
func (w *watcher) refused(ctx context.Context, resource string) cache.WatchErrorHandlerWithContext {
	return func(_ context.Context, _ *cache.Reflector, err error) {
		if ctx.Err() == nil {
			w.log.Warn("the API server does not let me watch, trying on", "resource", resource, "err", err)
		}
	}
}

// extras watches what came since the last look, and stops watching what is served no
// more.
func (w *watcher) extras(ctx context.Context, c *clients) {
	served, err := c.served()
	if err != nil {
		w.log.Warn("asking which resources there are, trying on", "err", err)
		return
	}
	for _, o := range optionals {
		w.mu.Lock()
		have := w.sources[o.name()]
		w.mu.Unlock()
		version, is := served[o.GroupResource]
		switch {
		case is && have == nil:
			w.log.Info("watching", "resource", o.name(), "version", version)
			if err := w.begin(ctx, c.extra(o, version)); err != nil {
				w.log.Warn("an optional resource", "err", err)
			}
		case !is && have != nil:
			w.log.Info("no longer served", "resource", o.name())
			have.stop()
			w.mu.Lock()
			delete(w.sources, o.name())
			w.mu.Unlock()
			w.metrics.synced.DeleteLabelValues(o.name())
		}
		if !is {
			w.queue.Add(key{resource: o.name()})
		}
	}
}

// settle waits a moment for the optional resources, so that owner chains are whole from
// the start. What comes later is mended by a later event.
func (w *watcher) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, extraLimit)
	defer cancel()
	for _, s := range w.all() {
		cache.WaitForCacheSync(ctx.Done(), s.informer.HasSynced)
	}
}
