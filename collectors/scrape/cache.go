package scrape

import (
	"errors"
	"fmt"
	"math"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"sextant/schema/wire"
)

var stale = math.Float64frombits(value.StaleNaN)

// maxSamples bounds the memory that one target can take, whatever its configuration says.
const maxSamples = 500_000

// Reasons for which a series is left out, as they stand in the metric's label.
const (
	refusedSize     = "too_many_labels_or_bytes"
	refusedName     = "bad_metric_name"
	refusedReserved = "reserved_name"
)

// badSeries is a text that no labels can be read from. It costs its line.
type badSeries struct{ err error }

func (e badSeries) Error() string { return e.err.Error() }

// described is what a source knows about a series beyond its raw text.
type described struct {
	labels labels.Labels // sorted, with __name__
	typ    wire.MetricType
	unit   string
}

// cache remembers the series of one target between scrapes. One goroutine owns it.
//
// A scrape is a pass: begin, add for every sample, then finish, or abandon and fail when
// the target did not answer or broke a limit. Each end leaves times and values in one
// or more layouts that stand ready to be encoded.
type cache struct {
	rules     labelRules
	honorTime bool // honor_timestamps
	trackTime bool // track_timestamps_staleness
	limit     int  // sample_limit, 0 is none

	index  index
	known  known
	report []*series
	full   *layout // report series, then the target's
	alone  *layout // report series only, for a target that is down
	extra  []sample
	out    []*layout // what finish returns, used again

	pass   uint64
	start  int64     // unix ms, of the pass
	fresh  []*series // seen in this pass, not in the layout
	counts counts
}

// sample is a further value of a series within one scrape, at another time.
type sample struct {
	series *series
	time   int64
	value  float64
}

// counts are the facts of one pass.
type counts struct {
	scraped   int // samples read
	kept      int // after relabelling
	added     int // series that were not known
	conflicts int // series with two values for one time: neither is kept
	refused   map[string]int
}

func newCache(rules labelRules, reportNames []string) *cache {
	c := &cache{rules: rules, index: newIndex(), known: known{}}
	for _, name := range reportNames {
		s := &series{labels: rules.report(name), typ: wire.TypeGauge, report: true, placed: true}
		c.known.add(s)
		c.report = append(c.report, s)
	}
	c.alone = newLayout(c.report)
	c.full = c.alone
	return c
}

// begin opens a pass whose samples have the time start, unix ms, unless the target says
// another.
func (c *cache) begin(start int64) {
	c.pass++
	c.start = start
	c.fresh, c.extra = c.fresh[:0], c.extra[:0]
	c.counts = counts{refused: c.counts.refused}
	clear(c.counts.refused)
}

// add takes one sample. describe is asked only for a text that was not seen before.
// An error ends the scrape.
func (c *cache) add(raw []byte, v float64, explicit bool, at int64, describe func() (described, error)) error {
	c.counts.scraped++
	if c.counts.scraped > maxSamples {
		return limitError{fmt.Sprintf("the target has more than %d samples", maxSamples)}
	}
	r := c.index.find(raw)
	if r == nil {
		var err error
		if r, err = c.resolve(raw, describe); err != nil {
			c.counts.scraped--
			return err
		}
	}
	if r.pass != c.pass {
		r.pass = c.pass
		c.index.saw(r)
	}
	if r.series == nil {
		if r.refused != "" {
			c.refuse(r.refused)
		}
		return nil
	}
	c.counts.kept++
	if c.limit > 0 && c.counts.kept > c.limit {
		return limitError{fmt.Sprintf("sample_limit exceeded: more than %d samples", c.limit)}
	}
	now := reading{time: at, value: v, explicit: explicit && c.honorTime}
	if explicit {
		now.told = at
	}
	if !now.explicit {
		now.time = c.start
	}
	c.store(r.series, now)
	return nil
}

// store puts the value into its series. Two different values for one time contradict
// each other, and none of them is kept. Where the target's times are not honoured, they still
// tell which value is the newest, and that one stands: the kubelet has a container that was
// started again on its page twice for a while.
func (c *cache) store(s *series, now reading) {
	switch {
	case s.pass != c.pass:
		s.pass, s.conflict, s.reading = c.pass, false, now
		if !s.placed {
			c.fresh = append(c.fresh, s)
		}
	case s.time != now.time:
		c.extra = append(c.extra, sample{s, now.time, now.value})
	case s.told != 0 && now.told != 0 && s.told != now.told:
		if now.told > s.told {
			c.settleConflict(s)
			s.reading = now
		}
	case math.Float64bits(s.value) != math.Float64bits(now.value) && !s.conflict:
		s.conflict = true
		c.counts.conflicts++
	}
}

// settleConflict takes back what was a conflict among older values.
func (c *cache) settleConflict(s *series) {
	if s.conflict {
		s.conflict = false
		c.counts.conflicts--
	}
}

// resolve does the label work for a raw text that is new.
func (c *cache) resolve(raw []byte, describe func() (described, error)) (*ref, error) {
	r := &ref{raw: string(raw)}
	s, err := c.find(describe, r)
	if err != nil {
		return nil, err
	}
	r.series = s
	c.index.insert(r)
	return r, nil
}

// find returns the series that the text stands for, nil if there is none.
func (c *cache) find(describe func() (described, error), r *ref) (*series, error) {
	d, err := describe()
	if tooMuch := (*wire.LimitError)(nil); errors.As(err, &tooMuch) {
		return nil, c.oversize(tooMuch, r)
	} else if err != nil {
		return nil, badSeries{err}
	}
	ls, keep := c.rules.sample(d.labels)
	if !keep {
		return nil, nil
	}
	if !model.UTF8Validation.IsValidMetricName(ls.Get(model.MetricNameLabel)) {
		r.refused = refusedName
		return nil, nil
	}
	if err := c.rules.limits.check(ls); err != nil {
		return nil, err
	}
	if s := c.known.find(ls); s != nil {
		if s.report {
			r.refused = refusedReserved
			return nil, nil
		}
		return s, nil
	}
	s := &series{labels: ls, typ: d.typ, unit: d.unit}
	if err := wire.CheckLabels(s.def().Labels); err != nil {
		r.refused = refusedSize
		return nil, nil //nolint:nilerr // the fault is the series', and is counted
	}
	c.known.add(s)
	c.counts.added++
	return s, nil
}

// oversize leaves out a series beyond the wire's safety limits. The scrape goes on,
// unless the job's own label_limit forbids as much.
func (c *cache) oversize(over *wire.LimitError, r *ref) error {
	if limit := c.rules.limits.count; limit > 0 && over.Limit == wire.LimitLabels && over.Got > limit {
		return limitError{fmt.Sprintf("label_limit exceeded: %.80q has %d labels, limit %d", r.raw, over.Got, limit)}
	}
	r.refused = refusedSize
	return nil
}

func (c *cache) refuse(reason string) {
	if c.counts.refused == nil {
		c.counts.refused = map[string]int{}
	}
	c.counts.refused[reason]++
}
