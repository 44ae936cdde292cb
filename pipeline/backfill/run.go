package backfill

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sextant/features"
)

// Range is samples of some nodes, or rows of them: times in [From, To), unix ms.
type Range struct {
	Nodes    []string
	From, To int64
}

// Store is where samples are read and rows are kept.
type Store interface {
	// Nodes lists all nodes that have series, those of one place in the store together.
	Nodes(ctx context.Context) ([]string, error)
	// Series lists the series of nodes with one of the metric names, or with any.
	Series(ctx context.Context, nodes, names []string) ([]Series, error)
	// Samples calls f with the samples in the order of series and time, each once, some at a time;
	// f keeps the columns. Samples without a value to reckon with are left out, and late ones
	// unless they are asked for.
	Samples(ctx context.Context, r Range, names []string, late bool, f func(Samples)) error
	// Rows gives what is stored of a view, as known then.
	Rows(ctx context.Context, v *features.View, r Range) (*features.Rows, error)
	// Write returns when rows, and what was refused at their ticks, are durable. source names them.
	Write(ctx context.Context, source string, rows []*features.Rows, refused []Refused) error
	// Progress lists the parts of a job that are done, and Done adds one.
	Progress(ctx context.Context, job string) (map[string]bool, error)
	Done(ctx context.Context, job, part string, c Counts) error
}

// Refused is how many values a tick gave of a feature that are in no row, as they are out of its
// range or type.
type Refused struct {
	View    *features.View
	Feature int
	Tick    int64 // unix ms
	Count   uint64
}

// Config of a backfill. Zero values take the defaults that the fields name.
type Config struct {
	Views    []*features.View // of PromQL
	Job      string           // what is done of a job of that name is not done again; "": all is done
	Nodes    []string         // sorted or not; nil: all
	From, To int64            // ticks in [From, To), unix ms
	Lateness time.Duration    // of the stream: when its rows would have been known
	Corrects bool             // read late samples too, and keep what they change as corrections
	Known    int64            // known time of corrections, unix ms

	Lookback  time.Duration // of the stream, 1 min
	Interval  time.Duration // of its ticks, 10 s
	GroupSize int           // nodes read together, 16
	Chunk     int           // samples in memory at once, about: 8 M, of 18 bytes
	Segment   time.Duration // what is done or not, 1 d: each reads the history before it again
	Parallel  int           // parts at once, 1
	Moved     func(Progress)
}

// Progress is how far a backfill has come.
type Progress struct {
	Done, Ticks int64 // ticks of groups
	Samples     int64
	Counts
}

func (c Config) complete() Config {
	c.Lookback = cmp.Or(c.Lookback, time.Minute)
	c.Interval = cmp.Or(c.Interval, 10*time.Second)
	c.GroupSize = cmp.Or(c.GroupSize, 16)
	c.Chunk = cmp.Or(c.Chunk, 8<<20)
	c.Segment = cmp.Or(c.Segment, 24*time.Hour)
	c.Parallel = cmp.Or(c.Parallel, 1)
	step := c.step()
	c.From = (c.From + step - 1) / step * step
	return c
}

// step is the distance of the ticks at which some view has rows, ms.
func (c *Config) step() int64 {
	step := int64(0)
	for _, v := range c.Views {
		step = gcd(v.Interval.Milliseconds(), step)
	}
	return max(step, c.Interval.Milliseconds())
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// part is a group of nodes in a segment of time.
type part struct {
	Range
	group string // names the nodes
	name  string
}

// Run computes and stores the rows of cfg. What it has stored when it fails or ctx ends is
// not computed again by a run of the same job.
func Run(ctx context.Context, store Store, cfg Config) (Progress, error) {
	cfg = cfg.complete()
	nodes := slices.Clone(cfg.Nodes)
	if nodes == nil {
		var err error
		if nodes, err = store.Nodes(ctx); err != nil {
			return Progress{}, err
		}
	}
	parts := cfg.parts(nodes)
	done := map[string]bool{}
	if cfg.Job != "" {
		var err error
		if done, err = store.Progress(ctx, cfg.Job); err != nil {
			return Progress{}, err
		}
	}
	t := newTeller(cfg.Moved)
	for _, p := range parts {
		t.total(cfg.ticks(p.Range))
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cfg.Parallel)
	for _, p := range parts {
		if done[p.name] {
			t.moved(Progress{Done: cfg.ticks(p.Range)})
			continue
		}
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return cfg.part(ctx, store, p, t)
		})
	}
	err := g.Wait()
	return t.progress(), err
}

func (c *Config) ticks(r Range) int64 { return (r.To - r.From + c.step() - 1) / c.step() }

func (c *Config) parts(nodes []string) (out []part) {
	segment := max(c.Segment.Milliseconds()/c.step(), 1) * c.step()
	for from := c.From; from < c.To; from += segment {
		for group := range slices.Chunk(nodes, c.GroupSize) {
			r := Range{group, from, min(from+segment, c.To)}
			of := fmt.Sprintf("%s…%s %x", group[0], group[len(group)-1], digest(group))
			out = append(out, part{r, of, fmt.Sprintf("%s %d-%d", of, r.From, r.To)})
		}
	}
	return out
}

// digest tells groups apart that begin and end alike: a node that came since the last run,
// and sorts between two others, is not done.
func digest(nodes []string) uint32 {
	h := fnv.New32a()
	for _, n := range nodes {
		_, _ = h.Write(append([]byte(n), 0))
	}
	return h.Sum32()
}

// part computes one part, a chunk of time after the other.
func (c *Config) part(ctx context.Context, store Store, p part, t *teller) error {
	r, err := NewReplay(c.Views, c.Lookback, c.Interval, c.GroupSize)
	if err != nil {
		return err
	}
	series, err := store.Series(ctx, p.Nodes, r.Names())
	if err != nil {
		return err
	}
	r.Know(series)
	var all Counts
	read, chunk := p.From-r.History(), c.chunk(r.Len())
	for at := p.From; at < p.To; {
		end := min(at+chunk, p.To)
		last := at + (end-1-at)/c.step()*c.step()
		n := int64(0)
		err := store.Samples(ctx, Range{p.Nodes, read, last}, r.Names(), c.Corrects, func(s Samples) {
			n += int64(len(s.Series))
			r.Add(s)
		})
		if err != nil {
			return err
		}
		r.Complete(last)
		rows, refused := c.evaluate(r, at, last)
		counts, err := c.keep(ctx, store, part{Range{p.Nodes, at, last + 1}, p.group, p.name}, rows, refused)
		if err != nil {
			return err
		}
		all.add(counts)
		t.moved(Progress{Done: (last-at)/c.step() + 1, Samples: n, Counts: counts})
		read, at = last, last+c.step()
	}
	if c.Job == "" {
		return nil
	}
	return store.Done(ctx, c.Job, p.name, all)
}

// chunk is how long a time, ms and whole steps, holds as many samples of so many series as are
// read at once. A long one is read much faster: the store reads thousands of samples of a series
// where it wants one.
func (c *Config) chunk(series int) int64 {
	return max(int64(c.Chunk/max(series, 1))*c.Interval.Milliseconds()/c.step(), 1) * c.step()
}

// evaluate makes the rows of the ticks from at to last, one Rows for each view.
func (c *Config) evaluate(r *Replay, at, last int64) (out []*features.Rows, refused []Refused) {
	byView := map[*features.View]*features.Rows{}
	for tick := at; tick <= last; tick += c.step() {
		known := tick + c.Lateness.Milliseconds()
		if c.Corrects {
			known = c.Known
		}
		for _, rows := range r.Tick(tick, known) {
			for i, n := range rows.OutOfRange {
				if n > 0 {
					refused = append(refused, Refused{rows.View, i, tick, n})
				}
			}
			rows.OutOfRange = nil
			all, ok := byView[rows.View]
			if !ok {
				byView[rows.View] = rows
				out = append(out, rows)
				continue
			}
			all.Append(rows)
		}
	}
	return out, refused
}

// keep stores what of the rows the store lacks. What was refused at a tick of which it has rows
// was counted when they were computed.
func (c *Config) keep(ctx context.Context, store Store, p part, all []*features.Rows, refused []Refused) (Counts, error) {
	var sum Counts
	var out []*features.Rows
	for _, rows := range all {
		have, err := store.Rows(ctx, rows.View, p.Range)
		if err != nil {
			return sum, err
		}
		if c.Corrects {
			rows.Origin = features.Repair
			sum.add(changed(rows, have))
		} else {
			rows.Origin = features.Backfill
			sum.add(fill(rows, have))
		}
		counted := map[int64]bool{}
		for _, tick := range have.Tick {
			counted[tick] = true
		}
		refused = slices.DeleteFunc(refused, func(x Refused) bool { return x.View == rows.View && (c.Corrects || counted[x.Tick]) })
		if len(rows.Tick) > 0 {
			out = append(out, rows)
		}
	}
	if len(out)+len(refused) == 0 {
		return sum, nil
	}
	if err := store.Write(ctx, "backfill "+p.group, out, refused); err != nil {
		return sum, fmt.Errorf("%s, ticks from %d: %w", p.name, p.From, err)
	}
	return sum, nil
}
