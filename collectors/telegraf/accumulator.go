package telegraf

import (
	"errors"
	"fmt"
	"sync"
	"time"

	upstream "github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/metric"
	"github.com/influxdata/telegraf/models"
)

// maxMetrics bounds what one reading of a plugin may give.
const maxMetrics = 100_000

// accumulator takes what a plugin gives in one reading. Its methods may be called from
// any goroutine of the plugin; what comes after the end of the reading is dropped, as it
// would be taken for the next one's.
type accumulator struct {
	input     *models.RunningInput
	begin     time.Time
	precision time.Duration // guarded by mu

	mu      sync.Mutex
	over    bool              // guarded by mu, as all below
	metrics []upstream.Metric // filtered, tagged and named
	errs    []error
	excess  int
}

func (a *accumulator) AddFields(name string, fields map[string]any, tags map[string]string, t ...time.Time) {
	a.add(name, fields, tags, upstream.Untyped, t)
}

func (a *accumulator) AddGauge(name string, fields map[string]any, tags map[string]string, t ...time.Time) {
	a.add(name, fields, tags, upstream.Gauge, t)
}

func (a *accumulator) AddCounter(name string, fields map[string]any, tags map[string]string, t ...time.Time) {
	a.add(name, fields, tags, upstream.Counter, t)
}

func (a *accumulator) AddSummary(name string, fields map[string]any, tags map[string]string, t ...time.Time) {
	a.add(name, fields, tags, upstream.Summary, t)
}

func (a *accumulator) AddHistogram(name string, fields map[string]any, tags map[string]string, t ...time.Time) {
	a.add(name, fields, tags, upstream.Histogram, t)
}

func (a *accumulator) add(name string, fields map[string]any, tags map[string]string, typ upstream.ValueType, t []time.Time) {
	at := a.begin
	if len(t) > 0 {
		at = t[0]
	}
	a.AddMetric(metric.New(name, tags, fields, at, typ))
}

// AddMetric takes a metric with its own time.
func (a *accumulator) AddMetric(m upstream.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.over:
		m.Drop()
		return
	case len(a.metrics) == maxMetrics:
		a.excess++
		m.Drop()
		return
	}
	if m = a.input.MakeMetric(m); m != nil {
		a.metrics = append(a.metrics, m)
	}
}

// SetPrecision rounds the times that metrics bring along.
func (a *accumulator) SetPrecision(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.precision = d
}

// AddError notes that a part of the reading failed.
func (a *accumulator) AddError(err error) {
	if err == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.errs) < 10 {
		a.errs = append(a.errs, err)
	}
}

// WithTracking is for inputs that must know that an output has their metrics; those are
// service inputs, and refused.
func (a *accumulator) WithTracking(int) upstream.TrackingAccumulator {
	panic("delivery of metrics is not tracked here")
}

// end closes the reading and returns what came, and what failed in it.
func (a *accumulator) end() ([]upstream.Metric, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	if a.excess > 0 {
		a.errs = append(a.errs, fmt.Errorf("%d metrics over the limit of %d were dropped", a.excess, maxMetrics))
	}
	return a.metrics, errors.Join(a.errs...)
}

// own tells whether a metric's time is its own, and rounds it. A time inside the reading,
// to the precision, is that of the reading, which has its time from the agent.
func (a *accumulator) own(t, end time.Time) (time.Time, bool) {
	if !t.Before(a.begin.Add(-a.precision)) && !t.After(end.Add(a.precision)) {
		return time.Time{}, false
	}
	return t.Round(a.precision), true
}
