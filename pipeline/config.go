package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"sextant/features"
	"sextant/schema/catalog"
)

// Config says what a machine computes and within which bounds. Zero values take the
// defaults that the fields name.
type Config struct {
	Topic     string
	Partition int32
	Views     []*features.View
	Catalog   *catalog.Catalog // nil: catalog.Default()

	Interval  time.Duration // distance of ticks, 10 s; views' intervals are multiples
	Lateness  time.Duration // how long a tick waits for samples before it, 5 s
	Idle      time.Duration // silence after which the wall clock closes ticks, 2 x Interval
	MaxPast   time.Duration // accepted event times: ingest - 1 h …
	MaxFuture time.Duration // … ingest + 60 s
	MaxSpool  time.Duration // oldest scrape that an agent may still deliver, 30 d
	Lookback  time.Duration // how long a sample stands for its series, 1 min

	Reference bool // evaluate with the upstream engine alone, at many times the cost

	GroupSize     int // nodes per query, 64
	MaxLayouts    int // layouts remembered per node, 64
	MaxNodeSeries int // series of one node, 100,000
}

// complete fills in the defaults and reports every fault.
func (c Config) complete() (Config, error) {
	if c.Catalog == nil {
		c.Catalog = catalog.Default()
	}
	c.Interval = cmp.Or(c.Interval, 10*time.Second)
	c.Lateness = cmp.Or(c.Lateness, 5*time.Second)
	c.Idle = cmp.Or(c.Idle, 2*c.Interval)
	c.MaxPast = cmp.Or(c.MaxPast, time.Hour)
	c.MaxFuture = cmp.Or(c.MaxFuture, time.Minute)
	c.MaxSpool = cmp.Or(c.MaxSpool, 30*24*time.Hour)
	c.Lookback = cmp.Or(c.Lookback, time.Minute)
	c.GroupSize = cmp.Or(c.GroupSize, 64)
	c.MaxLayouts = cmp.Or(c.MaxLayouts, 64)
	c.MaxNodeSeries = cmp.Or(c.MaxNodeSeries, 100_000)
	var errs []error
	for _, f := range []struct {
		name string
		d    time.Duration
	}{
		{"interval", c.Interval}, {"lateness", c.Lateness}, {"idle", c.Idle}, {"max past", c.MaxPast},
		{"max future", c.MaxFuture}, {"max spool", c.MaxSpool}, {"lookback", c.Lookback},
	} {
		if f.d < time.Millisecond || f.d%time.Millisecond != 0 {
			errs = append(errs, fmt.Errorf("%s %s: want a positive number of milliseconds", f.name, f.d))
		}
	}
	if c.GroupSize < 1 || c.MaxLayouts < 1 || c.MaxNodeSeries < 1 {
		errs = append(errs, fmt.Errorf("group size %d, layouts %d, series of a node %d: want at least 1 of each",
			c.GroupSize, c.MaxLayouts, c.MaxNodeSeries))
	}
	for _, v := range c.Views {
		if c.Interval > 0 && (v.Interval <= 0 || v.Interval%c.Interval != 0) {
			errs = append(errs, fmt.Errorf("%s: view %s: interval %s is not a multiple of the tick %s", v.File, v.Name, v.Interval, c.Interval))
		}
	}
	return c, errors.Join(errs...)
}
