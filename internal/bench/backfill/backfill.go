// Package backfill measures how fast the past of feature views is computed from stored
// samples, beside the bare reading of the same samples.
package backfill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sextant/features"
	"sextant/internal/bench/child"
	"sextant/internal/bench/store"
	replay "sextant/pipeline/backfill"
)

// Options of a run. Zero values take the defaults that the fields name.
type Options struct {
	Nodes    int      // of the fleet, 64
	Ticks    int      // scrapes of each node, one every 10 s; 2,160, which is 6 h
	Views    []string // those of node_state that the pipeline computes
	Parallel int      // groups of nodes at once, 1
	Dir      string   // where data goes meanwhile; a new temporary folder when empty
}

func (o Options) complete() (Options, error) {
	if o.Nodes == 0 {
		o.Nodes = 64
	}
	if o.Ticks == 0 {
		o.Ticks = 2160
	}
	if o.Parallel == 0 {
		o.Parallel = 1
	}
	if o.Nodes < 1 || o.Ticks < 12 || o.Ticks > 8640 || o.Parallel < 1 || o.Parallel > 64 {
		return o, errors.New("bench: want at least 1 node, 12 to 8640 ticks, 1 to 64 groups at once")
	}
	return o, nil
}

// Result is what Run measured.
type Result struct {
	Options
	Stored  int64 // samples
	Read    int64 // of them, those that the views name
	Rows    int64 // feature rows
	Values  int64 // features of them
	Wall    time.Duration
	Program time.Duration // CPU time of the evaluator,
	Store   time.Duration // and of the engine
	Peak    int64         // bytes of memory of the evaluator,
	PeakOf  int64         // and of the engine

	BareWall  time.Duration // the same samples read as Native bytes and thrown away
	BareStore time.Duration
}

// Run stores what a fleet sent, and computes rows from it as a user would.
func Run(ctx context.Context, o Options, progress io.Writer) (*Result, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "sextant-bench-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		o.Dir = dir
	}
	views, err := viewsOf(o.Views)
	if err != nil {
		return nil, err
	}
	r := &Result{Options: o}
	r.Views = nil
	for _, v := range views {
		r.Views = append(r.Views, v.Ref())
	}
	b := &bench{Result: r, views: views, from: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2)}
	if b.store, err = store.Open(ctx, o.Dir); err != nil {
		return nil, err
	}
	defer b.store.Stop()
	fmt.Fprintf(progress, "backfill: storing %d scrapes of %d nodes\n", o.Ticks, o.Nodes)
	if err := b.fill(ctx); err != nil {
		return nil, fmt.Errorf("fill the store: %w", err)
	}
	fmt.Fprintf(progress, "backfill: %s from %d samples\n", strings.Join(r.Views, ", "), r.Stored)
	if err := b.backfill(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintln(progress, "backfill: bare limit: the same samples read and thrown away")
	return r, b.bare(ctx)
}

// viewsOf finds views by their names. Without names they are those that node_state reads.
func viewsOf(names []string) (out []*features.View, err error) {
	set, err := features.Read(features.BuiltinSource())
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		s, ok := set.Service("node_state")
		if !ok {
			return nil, errors.New("node_state is not built in")
		}
		seen := map[*features.View]bool{}
		for _, c := range s.Columns {
			if c.View.Streamed() && !seen[c.View] {
				seen[c.View] = true
				out = append(out, c.View)
			}
		}
		return out, nil
	}
	for _, n := range names {
		v, ok := set.View(n)
		if !ok || !v.Streamed() {
			return nil, fmt.Errorf("--view: %q is no built-in view that the pipeline computes", n)
		}
		out = append(out, v)
	}
	return out, nil
}

// bench is a store with samples.
type bench struct {
	*Result
	views []*features.View
	from  time.Time // of the first tick
	store *store.Store
}

// to is behind the last tick that is closed.
func (b *bench) to() time.Time { return b.from.Add(time.Duration(b.Ticks) * 10 * time.Second) }

// backfill runs the command, in a process of its own.
func (b *bench) backfill(ctx context.Context) error {
	before, began := b.store.CPU(), time.Now()
	p, err := child.Start(ctx, b.Dir, "backfill", "", b.store.Env, "features", "backfill",
		"--view", strings.Join(b.Views, ","), "--from", b.from.Format(time.RFC3339), "--to", b.to().Format(time.RFC3339),
		"--parallel", fmt.Sprint(b.Parallel), "--cpu-profile", filepath.Join(b.Dir, "backfill.pprof"))
	if err == nil {
		err = p.Wait()
	}
	if err != nil {
		return err
	}
	b.Wall, b.Program, b.Store = time.Since(began), p.CPUAtEnd(), b.store.CPU()-before
	b.Peak, b.PeakOf = p.PeakAtEnd(), b.store.Peak()
	for _, v := range b.views {
		rows, err := b.number(ctx, "SELECT count() FROM sextant."+v.Table())
		if err != nil {
			return err
		}
		b.Rows += rows
		b.Values += rows * int64(len(v.Features))
	}
	return nil
}

// bare reads what the backfill read, in its order, and throws it away.
func (b *bench) bare(ctx context.Context) error {
	names, err := metricsOf(b.views)
	if err != nil {
		return err
	}
	from := fmt.Sprintf(`FROM sextant.samples FINAL WHERE series IN (SELECT id FROM sextant.series WHERE name IN ('%s'))
		AND ts < fromUnixTimestamp64Milli(toInt64(%d), 'UTC')`, strings.Join(names, "', '"), b.to().UnixMilli())
	if b.Read, err = b.number(ctx, "SELECT count() "+from); err != nil {
		return err
	}
	before, began := b.store.CPU(), time.Now()
	if err := b.store.Do(ctx, "SELECT series, ts, value, flags "+from+" ORDER BY series, ts FORMAT Native", io.Discard); err != nil {
		return err
	}
	b.BareWall, b.BareStore = time.Since(began), b.store.CPU()-before
	return nil
}

// metricsOf lists what the views name.
func metricsOf(views []*features.View) ([]string, error) {
	r, err := replay.NewReplay(views, time.Minute, 10*time.Second, 1)
	if err != nil {
		return nil, err
	}
	return r.Names(), nil
}
