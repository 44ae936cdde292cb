package scrape

import (
	"log/slog"
	"sync"
	"time"
)

// job holds the targets of one scrape configuration.
type job struct {
	owner   *Scraper
	name    string
	log     *slog.Logger
	metrics *jobMetrics
	found   discoverer // used under Scraper.mu

	mu      sync.Mutex
	http    *httpJob         // how targets that were discovered are scraped; guarded by mu
	targets map[string]*slot // by key; guarded by mu
}

// slot is a running target, its place in the interval, and what it was made from.
type slot struct {
	*target
	step int
	same string
}

// wanted describes a target that is to run.
type wanted struct {
	key    string // identity: two scrapes with one key are the same target
	same   string // all of the configuration as text: equal text, nothing to do
	config targetConfig
	open   func() (source, error)
}

func newJob(s *Scraper, name string) *job {
	log := s.opts.Log.With("job", name)
	return &job{owner: s, name: name, log: log, metrics: s.metrics.of(name), targets: map[string]*slot{}}
}

// sync starts, replaces and ends targets until exactly those wanted run. With mark, a
// target that goes leaves stale markers behind.
func (j *job) sync(want []wanted, mark bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	keep := map[string]bool{}
	for _, w := range want {
		if keep[w.key] {
			continue // the same target from two groups is scraped once
		}
		keep[w.key] = true
		j.ensure(w)
	}
	var gone []*slot
	for key, t := range j.targets {
		if !keep[key] {
			gone = append(gone, t)
			delete(j.targets, key)
		}
	}
	j.end(gone, mark)
	j.owner.metrics.targets.WithLabelValues(j.name).Set(float64(len(j.targets)))
}

// end stops the targets together, since each may be in the middle of a scrape.
func (j *job) end(gone []*slot, mark bool) {
	for _, t := range gone {
		t.stop()
	}
	for _, t := range gone {
		t.halt()
		if mark {
			t.end(time.Now().UnixMilli())
		}
		j.owner.freePlace(t.step)
	}
}

// ensure runs the target, in the place that it had. One whose configuration changed is
// started anew and takes over the series that it had sent.
func (j *job) ensure(w wanted) {
	old := j.targets[w.key]
	if old != nil && old.same == w.same {
		return
	}
	src, err := w.open()
	if err != nil {
		j.log.Error("target cannot be scraped", "target", w.config.name(), "err", err)
		return
	}
	t := &target{node: j.owner.opts.Node, sink: j.owner.opts.Sink, log: j.log, metrics: j.owner.metrics, job: j.metrics}
	var step int
	if old != nil {
		old.halt()
		step = old.step
	} else {
		step = j.owner.takePlace(w.key)
	}
	w.config.source, w.config.phase, w.config.now = src, j.owner.placeAt(step), j.owner.opts.Eager
	t.cfg, t.name = w.config, w.config.name()
	t.cache = w.config.newCache()
	if old != nil {
		t.cache.inherit(old.cache)
	}
	j.targets[w.key] = &slot{target: t, step: step, same: w.same}
	t.start(j.owner.ctx)
}

func (j *job) statuses() []Status {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Status, 0, len(j.targets))
	for _, t := range j.targets {
		out = append(out, t.snapshot())
	}
	return out
}

// close ends discovery and all targets; with mark, they leave stale markers.
func (j *job) close(mark bool) {
	j.found.stop()
	j.sync(nil, mark)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.http != nil {
		j.http.client.CloseIdleConnections()
	}
}
