// Package features measures the evaluation of feature views beside Prometheus' rule
// engine, which has the same expressions as recording rules and the same samples in its
// own head.
package features

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"syscall"
	"time"

	"sextant/features"
	"sextant/internal/testkit/fleet"
	"sextant/pipeline/evaluate"
)

// Options of a run. The zero value is the default.
type Options struct {
	Nodes  []int         // sizes of the fleet, ascending; 1,000, 10,000 and 100,000
	Memory int64         // bytes that the state of one engine may take, 6 GiB; a larger fleet is measured in part
	Slow   time.Duration // no fleet is tried at which a tick is expected to take more CPU time, 20 s
}

// options are those of the pipeline.
var options = evaluate.Options{Lookback: time.Minute, GroupSize: 64}

// measuredTicks are 60 s: views of longer intervals count by their share.
const measuredTicks = 6

// Row is one engine at one size. Figures are of all nodes, also where fewer were measured.
type Row struct {
	Nodes    int
	Engine   string
	Measured int           // nodes; 0: not measured, since a tick would be slow
	Tick     time.Duration // CPU time of the evaluation of a tick, the mean of six
	Add      time.Duration // CPU time of taking in the samples of a tick
	State    int64         // bytes per node
	Plans    int64         // bytes of them that the evaluation added
	Values   float64       // feature values per node and tick
}

// Result is what Run measured.
type Result struct {
	Views    []string
	Features int
	Series   float64 // per node, that some expression reads
	Labels   int64   // bytes of their labels per node, which each engine keeps
	History  time.Duration
	Rows     []Row
}

// engine is one way to evaluate the features of nodes. Nodes join in the order of their
// numbers.
type engine interface {
	join(node int, t *telemetry) error
	add(node int, points []point) error
	// pass lets a tick go by, unix ms, without evaluating it.
	pass(tick int64) error
	// evaluate evaluates what is due at a tick, unix ms, and returns the number of results.
	evaluate(tick int64) (values int, err error)
	close() error
}

var engines = []struct {
	name string
	make func([]*features.View) (engine, error)
}{
	{"Sextant", func(v []*features.View) (engine, error) { return newWindows(v, false) }},
	{"Prometheus' rule engine over its TSDB", func(v []*features.View) (engine, error) { return newRuleEngine(v) }},
	{"upstream engine over Sextant's windows", func(v []*features.View) (engine, error) { return newWindows(v, true) }},
}

// Run measures each engine at each size, one after the other.
func Run(ctx context.Context, o Options, progress io.Writer) (Result, error) {
	if len(o.Nodes) == 0 {
		o.Nodes = []int{1_000, 10_000, 100_000}
	}
	o.Memory, o.Slow = cmp.Or(o.Memory, 6<<30), cmp.Or(o.Slow, 20*time.Second)
	slices.Sort(o.Nodes)
	if o.Nodes[0] < 1 {
		return Result{}, fmt.Errorf("bench: %d nodes: want at least 1", o.Nodes[0])
	}
	views, err := shipped()
	if err != nil {
		return Result{}, err
	}
	keep, err := newWindows(views, false)
	if err != nil {
		return Result{}, err
	}
	history := keep.eval.Store().History()
	warm := int(history/fleet.Interval) + 2
	t, err := record(warm+2*measuredTicks, keep.eval.Store())
	if err != nil {
		return Result{}, err
	}
	r := Result{History: time.Duration(history) * time.Millisecond}
	for _, v := range views {
		r.Views = append(r.Views, v.Ref())
		r.Features += len(v.Features)
	}
	for i := range t.nodes {
		r.Series += float64(len(t.nodes[i].series)) / originals
		for _, ls := range t.nodes[i].series {
			r.Labels += int64(ls.ByteSize())
		}
	}
	r.Labels /= originals
	last := make([]Row, len(engines))
	for _, n := range o.Nodes {
		for k, e := range engines {
			row := Row{Nodes: n, Engine: e.name, Measured: o.fit(n, last[k])}
			if row.Measured > 0 {
				fmt.Fprintf(progress, "%s: %d of %d nodes\n", e.name, row.Measured, n)
				if err := row.measure(ctx, e.make, views, t, warm); err != nil {
					return r, fmt.Errorf("%s, %d nodes: %w", e.name, row.Measured, err)
				}
				last[k] = row
			}
			r.Rows = append(r.Rows, row)
		}
	}
	return r, nil
}

// fit is how many of n nodes can be measured, as the size before tells.
func (o *Options) fit(n int, before Row) int {
	if before.Measured == 0 {
		return n
	}
	if before.Tick/time.Duration(before.Nodes)*time.Duration(n) > o.Slow {
		return 0
	}
	return min(n, int(o.Memory/before.State))
}

// shipped is the features of PromQL that the services node_state and task_state read, in
// their views.
func shipped() ([]*features.View, error) {
	set, err := features.Read(features.BuiltinSource())
	if err != nil {
		return nil, err
	}
	wanted := map[*features.Feature]bool{}
	for _, s := range set.Services {
		if s.Name != "node_state" && s.Name != "task_state" {
			continue
		}
		for _, c := range s.Columns {
			wanted[c.Def()] = true
		}
	}
	var views []*features.View
	for _, v := range set.Views {
		if v := part(v, wanted); v.SQL == "" && len(v.Features) > 0 {
			views = append(views, v)
		}
	}
	return views, nil
}

// part is a view with the wanted features alone.
func part(v *features.View, wanted map[*features.Feature]bool) *features.View {
	out := *v
	out.Features = nil
	for i := range v.Features {
		if wanted[&v.Features[i]] {
			out.Features = append(out.Features, v.Features[i])
		}
	}
	return &out
}

// measure fills the windows of an engine, has it evaluate each view once, and then takes
// the time of some ticks.
func (r *Row) measure(ctx context.Context, open func([]*features.View) (engine, error), views []*features.View, t *telemetry, warm int) error {
	before := heap()
	e, err := open(views)
	if err != nil {
		return err
	}
	defer e.close()
	for i := range r.Measured {
		if err := e.join(i, t); err != nil {
			return err
		}
	}
	if _, _, err := r.drive(ctx, e, t, 0, warm, e.pass); err != nil {
		return err
	}
	filled, values := heap(), 0
	evaluate := func(tick int64) error {
		n, err := e.evaluate(tick)
		values += n
		return err
	}
	if _, _, err := r.drive(ctx, e, t, warm, warm+measuredTicks, evaluate); err != nil {
		return err
	}
	planned := heap()
	r.State, r.Plans = (planned-before)/int64(r.Measured), (planned-filled)/int64(r.Measured)
	values = 0
	add, eval, err := r.drive(ctx, e, t, warm+measuredTicks, warm+2*measuredTicks, evaluate)
	if err != nil {
		return err
	}
	scale := func(d time.Duration) time.Duration {
		return d * time.Duration(r.Nodes) / time.Duration(r.Measured*measuredTicks)
	}
	r.Add, r.Tick = scale(add), scale(eval)
	r.Values = float64(values) / float64(r.Measured*measuredTicks)
	return nil
}

// drive adds the samples of ticks [from, to) and closes each by f. It returns the CPU time of
// the two.
func (r *Row) drive(ctx context.Context, e engine, t *telemetry, from, to int, f func(tick int64) error) (add, closed time.Duration, err error) {
	for tick := from; tick < to; tick++ {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		began := cpu()
		for i := range r.Measured {
			if err := e.add(i, t.pointsOf(i, tick)); err != nil {
				return 0, 0, err
			}
		}
		added := cpu()
		if err := f(fleet.Base + int64(tick+1)*fleet.Interval); err != nil {
			return 0, 0, err
		}
		add, closed = add+added-began, closed+cpu()-added
	}
	return add, closed, nil
}

// heap is the bytes that are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what finalizers released goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// cpu is the CPU time of this process, collector included.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic("BUG: getrusage of this process: " + err.Error())
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
