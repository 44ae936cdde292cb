// Package scrape reads Prometheus targets at aligned times and hands each scrape to a sink
// as Remote-Write 2.0 requests.
//
// Configuration, service discovery, relabelling and limits are Prometheus' own. The loop
// is not: a target's series are remembered by their raw text, so a scrape whose series
// are those of the one before does no label work and only fills times and values into
// ready-made bytes.
package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sort"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/model/labels"

	"sextant/collectors/promconfig"
)

// Options are what a Scraper needs from outside.
type Options struct {
	Node     string // this host's name: where its targets lie inside the interval
	Sink     Sink
	Log      *slog.Logger
	Register prometheus.Registerer
	Eager    bool // read each target when it starts, and not only at its place in the interval
}

// Set is what is to be scraped.
type Set struct {
	Jobs     []*promconfig.ScrapeConfig // validated
	Local    []Local
	External labels.Labels // added to every series that does not have them
}

// Local is a target inside this process. It is also read when it starts, because it costs
// no one else, and the first features of a node need not wait for an interval.
type Local struct {
	Job      string
	Instance string
	Gatherer prometheus.Gatherer
	Interval time.Duration
	Timeout  time.Duration
}

// Scraper owns the targets of all jobs. Its methods may be called from any goroutine.
type Scraper struct {
	opts    Options
	metrics *metrics
	bodies  sync.Pool // of *bytes.Buffer: targets are scraped at different times, so few serve many
	inflate sync.Pool // of *gzip.Reader
	sd      *discovery.SDMetrics
	ctx     context.Context
	cancel  context.CancelFunc

	mu     sync.Mutex
	closed bool            // guarded by mu
	jobs   map[string]*job // by job name; guarded by mu
	places phases          // guarded by placeMu
	// placeMu orders after mu and after a job's own lock.
	placeMu sync.Mutex
}

// New returns a Scraper without targets. Close it.
func New(o Options) (*Scraper, error) {
	sd, err := discovery.CreateAndRegisterSDMetrics(o.Register)
	if err != nil {
		return nil, err
	}
	s := &Scraper{opts: o, metrics: newMetrics(o.Register), sd: sd, jobs: map[string]*job{}, places: phases{node: o.Node}}
	s.bodies.New = func() any { return new(bytes.Buffer) }
	s.inflate.New = func() any { return new(gzip.Reader) }
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Apply makes set the scraped one. Targets that stay what they were are not disturbed;
// those that go end with stale markers. A fault in one job leaves that job as it was,
// and is returned.
func (s *Scraper) Apply(set Set) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the scraper is closed")
	}
	var errs []error
	keep := map[string]bool{}
	local := map[string][]wanted{} // by key of the job
	for _, l := range set.Local {
		local[localKey(l)] = append(local[localKey(l)], l.want(set.External))
	}
	for key, want := range local {
		keep[key] = true
		s.localJob(key, want[0].config.job).sync(want, true)
	}
	for _, cfg := range set.Jobs {
		keep[cfg.JobName] = true
		if err := s.applyJob(cfg, set.External); err != nil {
			errs = append(errs, fmt.Errorf("job %q: %w", cfg.JobName, err))
		}
	}
	for name, j := range s.jobs {
		if !keep[name] {
			j.close(true)
			delete(s.jobs, name)
		}
	}
	return errors.Join(errs...)
}

// localKey cannot meet the name of a configured job.
func localKey(l Local) string { return "\xff" + l.Job }

func (s *Scraper) applyJob(cfg *promconfig.ScrapeConfig, external labels.Labels) error {
	j := s.jobs[cfg.JobName]
	if j == nil {
		j = newJob(s, cfg.JobName)
		s.jobs[cfg.JobName] = j
	}
	return j.configure(cfg, external)
}

func (s *Scraper) localJob(key, name string) *job {
	j := s.jobs[key]
	if j == nil {
		j = newJob(s, name)
		s.jobs[key] = j
	}
	return j
}

// want is the target that l describes.
func (l Local) want(external labels.Labels) wanted {
	cfg := targetConfig{
		job: l.Job, interval: l.Interval, timeout: l.Timeout, honorTime: true, eager: true,
		rules: labelRules{target: localLabels(l.Job, l.Instance), external: external},
	}
	return wanted{
		key: cfg.name(), config: cfg, same: fmt.Sprint(l.Interval, l.Timeout, external),
		open: func() (source, error) { return &gatherer{from: l.Gatherer}, nil },
	}
}

// Targets tells the state of every target, sorted by job and instance.
func (s *Scraper) Targets() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Status{}
	for _, j := range s.jobs {
		out = append(out, j.statuses()...)
	}
	sort.Slice(out, func(a, b int) bool {
		if out[a].Job != out[b].Job {
			return out[a].Job < out[b].Job
		}
		return out[a].Labels["instance"] < out[b].Labels["instance"]
	})
	return out
}

// Close stops every target and waits for it. It writes no stale markers: an agent that
// stops comes back, and its targets have not gone.
func (s *Scraper) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	s.cancel()
	for _, j := range s.jobs {
		j.close(false)
	}
}

func (s *Scraper) takePlace(key string) int {
	s.placeMu.Lock()
	defer s.placeMu.Unlock()
	return s.places.take(key)
}

func (s *Scraper) freePlace(step int) {
	s.placeMu.Lock()
	defer s.placeMu.Unlock()
	s.places.free(step)
}

func (s *Scraper) placeAt(step int) float64 {
	s.placeMu.Lock()
	defer s.placeMu.Unlock()
	return s.places.at(step)
}
