package scrape

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"sextant/collectors/spool"
	"sextant/schema/wire"
)

// Sink takes what was scraped. It returns when the entry is durable, and keeps nothing
// of the payload's memory.
type Sink interface {
	Append(e spool.Entry) (seq uint64, err error)
}

// targetConfig is all that one target needs to be scraped.
type targetConfig struct {
	job      string
	url      string // "" for a target in this process
	rules    labelRules
	interval time.Duration
	timeout  time.Duration
	phase    float64 // place inside the interval, [0, 1)
	limit    int     // sample_limit
	extra    bool    // extra_scrape_metrics
	eager    bool    // read at once, and only then at the aligned times
	now      bool    // the same, however near the aligned time is

	honorTime, trackTime bool
	source               source
}

func (c targetConfig) name() string { return c.job + "/" + c.rules.target.Get("instance") }

func (c targetConfig) newCache() *cache {
	names := reportNames
	if c.extra {
		names = append(append([]string{}, names...), extraReportNames...)
	}
	x := newCache(c.rules, names)
	x.honorTime, x.trackTime, x.limit = c.honorTime, c.trackTime, c.limit
	return x
}

// target scrapes one endpoint at its place of every interval. One goroutine runs it.
type target struct {
	cfg     targetConfig
	name    string // "job/instance"
	node    string
	sink    Sink
	log     *slog.Logger
	metrics *metrics
	job     *jobMetrics

	cache    *cache
	buf      []byte
	refusing bool // the sink refused the last entry

	mu     sync.Mutex
	status Status // guarded by mu

	stop context.CancelFunc
	done chan struct{}
}

// Status is what is known about a target, as /targets shows it.
type Status struct {
	Job      string            `json:"job"`
	URL      string            `json:"url,omitempty"`
	Labels   map[string]string `json:"labels"`
	Interval string            `json:"interval"`
	Timeout  string            `json:"timeout"`

	State      string    `json:"state"` // unknown, ok, partial, failed
	LastScrape time.Time `json:"last_scrape,omitzero"`
	Duration   float64   `json:"last_duration_seconds"`
	Samples    int       `json:"samples"`
	BadLines   int       `json:"bad_lines"`
	Error      string    `json:"error,omitempty"`
	root       string    // of Error: the same while the target fails in the same way
}

func labelMap(ls labels.Labels) map[string]string {
	m := make(map[string]string, ls.Len())
	ls.Range(func(l labels.Label) { m[l.Name] = l.Value })
	return m
}

// start begins to scrape until halt.
func (t *target) start(ctx context.Context) {
	t.status = Status{Job: t.cfg.job, URL: t.cfg.url, Labels: labelMap(t.cfg.rules.target),
		Interval: t.cfg.interval.String(), Timeout: t.cfg.timeout.String(), State: "unknown"}
	ctx, t.stop = context.WithCancel(ctx)
	t.done = make(chan struct{})
	go t.run(ctx)
}

// halt stops the target and waits for a scrape in flight to end.
func (t *target) halt() {
	t.stop()
	<-t.done
	t.cfg.source.close()
}

func (t *target) run(ctx context.Context) {
	defer close(t.done)
	offset := time.Duration(t.cfg.phase * float64(t.cfg.interval))
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	last := time.Now()
	if wait := nextStart(last, t.cfg.interval, offset).Sub(last); t.cfg.now || t.cfg.eager && wait > t.cfg.interval/4 {
		t.scrape(ctx, last.UnixMilli())
	}
	for {
		next := nextStart(later(time.Now().Add(-slack), last), t.cfg.interval, offset)
		timer.Reset(time.Until(next))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if missed := next.Sub(last)/t.cfg.interval - 1; missed > 0 && !t.cold() {
			t.job.read.skipped.Add(float64(missed))
		}
		last = next
		// A host that slept wakes up long after the start that it waited for. What it reads
		// now is not of that time.
		if late := time.Now().Round(0).Sub(next); late >= t.cfg.interval {
			t.job.read.skipped.Inc()
			continue
		}
		t.scrape(ctx, next.UnixMilli())
	}
}

// slack is how late a scrape may begin and still count as the one of its aligned start. A
// target that takes its whole timeout ends a moment behind the next start.
const slack = 100 * time.Millisecond

// later keeps starts moving forward when the wall clock steps back by less than an
// interval: the same aligned start is never used twice.
func later(now, last time.Time) time.Time {
	if d := last.Sub(now); d > 0 && d < time.Minute {
		return last
	}
	return now
}

func (t *target) cold() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status.LastScrape.IsZero()
}

// scrape reads the target once. All samples get the aligned start as their time, so that
// the jitter of this host's scheduler does not show in rates.
func (t *target) scrape(ctx context.Context, start int64) {
	began := time.Now()
	t.cache.begin(start)
	rctx, cancel := context.WithTimeout(ctx, t.cfg.timeout)
	p, err := t.cfg.source.read(rctx, t.cache)
	cancel()
	if ctx.Err() != nil {
		t.cache.index.abandon()
		return // stopped in mid-scrape: what was read is not a failure of the target
	}
	took := time.Since(began)
	var out []*layout
	if err != nil {
		out = t.cache.fail()
	} else {
		out = t.cache.finish()
	}
	counts := t.cache.counts
	state := stateOf(p, counts, err)
	report{up: err == nil, duration: took, counts: counts, bytes: p.bytes, timeout: t.cfg.timeout, sampleLimit: t.cfg.limit}.
		fill(out[0], start, t.cfg.extra)
	t.send(out, start, state)
	t.note(p, counts, state, took, err)
	t.metrics.duration.Observe(time.Since(began).Seconds())
}

func stateOf(p page, c counts, err error) wire.State {
	switch {
	case err != nil:
		return wire.StateFailed
	case !p.whole() || c.conflicts > 0 || len(c.refused) > 0:
		return wire.StatePartial
	}
	return wire.StateOK
}

// send hands the layouts to the sink, one entry for each part.
func (t *target) send(out []*layout, start int64, state wire.State) {
	for _, l := range out {
		for i := range l.parts {
			t.buf = l.append(t.buf[:0], i)
			t.store(spool.Entry{Node: t.node, Target: t.name, Scrape: start, State: state, Payload: t.buf})
		}
	}
}

// store counts an entry that the sink did not keep. One that is not durable is kept for
// now, and the spool itself says so.
func (t *target) store(e spool.Entry) {
	_, err := t.sink.Append(e)
	if err == nil || errors.Is(err, spool.ErrNotDurable) {
		t.refusing = false
		return
	}
	t.job.read.unstored.Inc()
	if !t.refusing {
		t.refusing = true
		t.log.Error("what was scraped is lost", "target", t.name, "err", err)
	}
}

// end tells the store that the target is gone: each series that was sent gets a stale
// marker, now. The target must have been halted.
func (t *target) end(now int64) {
	if t.cold() {
		return
	}
	t.cache.begin(now)
	out := t.cache.fail()
	n := len(t.cache.report)
	fillStale(out[0], n, now)
	t.send(out, now, wire.StateFailed)
}
