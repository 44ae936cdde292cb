package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/internal/clickhouse"
	"sextant/internal/exit"
	"sextant/pipeline/backfill"
	"sextant/pipeline/derive"
)

func featuresBackfillCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backfill",
		Short: "Give feature views their past, from the samples that are stored",
		Long: `backfill computes the rows of a view for ticks in [from, to) with the evaluator of the pipeline, from what was in
time, and stores those that are missing. What is there stays: only what is NULL in a row is filled. A run that was
stopped goes on where it was when the same command is given again. Ticks that the pipeline has not stored yet are left
to it. Several views of the stream share the reading of the samples. Views that the store computes are asked of it again,
tick by tick.`,
		Example: "  sextant features backfill --view node_monitoring --from 2026-01-01T00:00:00Z --to 2026-01-08T00:00:00Z --parallel 4\n" +
			"  sextant features backfill --view node_static@v2,node_trend --from 24h",
		Args: cobra.NoArgs,
	}
	var o backfillFlags
	f := cmd.Flags()
	f.StringSliceVar(&o.views, "view", nil, "the view, or one version of it: node_static@v2; several of the stream, separated by commas")
	f.StringVar(&o.from, "from", "", "first tick: RFC 3339 with a zone, or how long ago, as 24h")
	f.StringVar(&o.to, "to", "", "the tick after the last, likewise; default: as far as rows are stored")
	f.StringSliceVar(&o.nodes, "nodes", nil, "only these nodes, separated by commas")
	f.IntVar(&o.parallel, "parallel", max(runtime.NumCPU()/2, 1), "groups of nodes at once; of a view that the store computes, hours")
	f.BoolVar(&o.again, "again", false, "begin anew, whatever a run before has done")
	f.StringVar(&o.profile, "cpu-profile", "", "write a CPU profile to this file until the end")
	onStore(cmd, func(cmd *cobra.Command, _ []string, cfg *Config, db *clickhouse.DB) error {
		stop, err := profileCPU(o.profile)
		if err != nil {
			return err
		}
		return errors.Join(o.run(cmd, cfg, db), stop())
	})
	return cmd
}

type backfillFlags struct {
	views, nodes []string
	from, to     string
	parallel     int
	again        bool
	profile      string
}

func (o *backfillFlags) run(cmd *cobra.Command, cfg *Config, db *clickhouse.DB) error {
	ctx, now := cmd.Context(), time.Now()
	from, to, err := o.times(now)
	if err != nil {
		return exit.Usage(err)
	}
	state, err := db.Registry(ctx)
	if err != nil {
		return err
	}
	views, err := o.viewsOf(state.Active)
	if err != nil {
		return exit.Usage(err)
	}
	sink, err := db.NewSink(clickhouse.DefaultSinkConfig())
	if err != nil {
		return err
	}
	store := db.NewBackfillStore(sink)
	closed, err := store.Closed(ctx, cfg.Pipeline.Lateness.D())
	if err != nil {
		return errors.Join(err, sink.Close())
	}
	if to = min(to, closed+1); to <= from {
		return errors.Join(fmt.Errorf("no tick from %s on is stored yet: rows are stored up to %s", text(from), text(closed)), sink.Close())
	}
	line := newProgressLine(cmd.ErrOrStderr(), now)
	p, err := o.fill(ctx, cfg, db, store, views, backfill.Range{Nodes: o.nodes, From: from, To: to}, line.moved)
	line.close()
	fmt.Fprintf(cmd.OutOrStdout(), "%s from %s to %s: %d rows computed, %d stored, %d values filled; %d values differ from what is stored, which stays\n",
		refsOf(views), text(from), text(to), p.Rows, p.Stored, p.Filled, p.Differ)
	return errors.Join(err, sink.Close())
}

// viewsOf finds the views, which must be such that one run can fill them.
func (o *backfillFlags) viewsOf(set *features.Set) ([]*features.View, error) {
	var views []*features.View
	for _, name := range o.views {
		v, ok := set.View(name)
		switch {
		case !ok:
			return nil, fmt.Errorf("--view: %q is not in force: sextant features apply, or list", name)
		case v.Push:
			return nil, fmt.Errorf("--view: %s is pushed: nothing here computes its rows", v.Ref())
		case v.InStore() && len(o.views) > 1:
			return nil, fmt.Errorf("--view: the store computes %s, which a run fills alone", v.Ref())
		case v.InStore() && len(o.nodes) > 0:
			return nil, fmt.Errorf("--nodes: the store computes %s for all nodes at once", v.Ref())
		case slices.Contains(views, v):
			return nil, fmt.Errorf("--view: %s is there twice", v.Ref())
		}
		views = append(views, v)
	}
	return views, nil
}

func refsOf(views []*features.View) string {
	refs := make([]string, len(views))
	for i, v := range views {
		refs[i] = v.Ref()
	}
	return strings.Join(refs, ", ")
}

func (o *backfillFlags) fill(ctx context.Context, cfg *Config, db *clickhouse.DB, store *clickhouse.BackfillStore, views []*features.View, r backfill.Range, moved func(backfill.Progress)) (backfill.Progress, error) {
	job := ""
	if !o.again {
		job = o.job(views, r)
	}
	if v := views[0]; v.InStore() {
		return backfill.RunStore(ctx, storeViews{db.NewDeriveStore().Anew(), db}, store, backfill.StoreConfig{
			View: v, Schedule: deriveSchedule(cfg), Job: job, From: r.From, To: r.To, Parallel: o.parallel, Moved: moved,
		})
	}
	return backfill.Run(ctx, store, backfill.Config{
		Views: views, Job: job, Nodes: r.Nodes, From: r.From, To: r.To,
		Lateness: cfg.Pipeline.Lateness.D(), Parallel: o.parallel, Moved: moved,
	})
}

// job names what is to be done. The end is not in it when it is open: what is new then is a
// part of its own.
func (o *backfillFlags) job(views []*features.View, r backfill.Range) string {
	var b strings.Builder
	for _, v := range views {
		fmt.Fprintf(&b, "%s %.12s ", v.Ref(), v.Hash())
	}
	fmt.Fprintf(&b, "from %d to %s nodes %x", r.From, o.to, xxhash.Sum64String(fmt.Sprint(r.Nodes)))
	return b.String()
}

// storeViews evaluates views that the store computes, and reads rows.
type storeViews struct {
	*clickhouse.DeriveStore
	db *clickhouse.DB
}

func (s storeViews) RowsBetween(ctx context.Context, v *features.View, from, to int64) (*features.Rows, error) {
	return s.db.RowsBetween(ctx, v, from, to)
}

var _ backfill.Spanning = storeViews{}

// deriveSchedule is when the views that the store computes are due live.
func deriveSchedule(cfg *Config) derive.Schedule {
	return derive.Schedule{Delay: cfg.Pipeline.Lateness.D() + deriveWrite, Settle: deriveSettle, CatchUp: deriveCatchUp}
}

// times is the range in unix ms. Without an end it is open.
func (o *backfillFlags) times(now time.Time) (from, to int64, err error) {
	if len(o.views) == 0 || o.from == "" {
		return 0, 0, errors.New("--view and --from are needed")
	}
	if o.parallel < 1 || o.parallel > 64 {
		return 0, 0, fmt.Errorf("--parallel: %d is not within 1 and 64", o.parallel)
	}
	if from, err = moment(o.from, now); err != nil {
		return 0, 0, fmt.Errorf("--from: %w", err)
	}
	if to = now.UnixMilli(); o.to != "" {
		if to, err = moment(o.to, now); err != nil {
			return 0, 0, fmt.Errorf("--to: %w", err)
		}
	}
	if to <= from {
		return 0, 0, fmt.Errorf("--to: %s is not after --from", text(to))
	}
	return from, to, nil
}

// moment reads a time with a zone, or how long ago.
func moment(s string, now time.Time) (int64, error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d).UnixMilli(), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0, fmt.Errorf("%q is neither RFC 3339 with a zone nor how long ago", s)
	}
	return t.UnixMilli(), nil
}

func text(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// progressLine tells how far a backfill has come: a bar on a terminal, elsewhere a line now
// and then.
type progressLine struct {
	screen *screen
	begun  time.Time
	told   time.Time
	first  int64 // ticks that were done before
}

func newProgressLine(out io.Writer, now time.Time) *progressLine {
	return &progressLine{screen: newScreen(out), begun: now}
}

// How often it speaks.
const (
	tellTerminal = 200 * time.Millisecond
	tellLines    = 10 * time.Second
)

func (l *progressLine) moved(p backfill.Progress) {
	now, every := time.Now(), tellLines
	if l.screen.tty {
		every = tellTerminal
	}
	if p.Samples == 0 && p.Rows == 0 {
		l.first = p.Done
	}
	if now.Sub(l.told) < every && p.Done < p.Ticks {
		return
	}
	l.told = now
	l.screen.Show([]string{progressText(p, l.first, now.Sub(l.begun), l.screen.tty)})
}

func (l *progressLine) close() {
	if l.screen.tty {
		l.screen.Close()
	}
}

// progressText is a bar, the share that is done, the pace and the time that is left.
func progressText(p backfill.Progress, first int64, took time.Duration, bar bool) string {
	share := float64(p.Done) / float64(max(p.Ticks, 1))
	left := "?"
	if done := p.Done - first; done > 0 {
		left = (time.Duration(float64(took) * float64(p.Ticks-p.Done) / float64(done))).Round(time.Second).String()
	}
	out := fmt.Sprintf("%3.0f %%  %d rows, %.0f samples/s, %s left", 100*share, p.Rows, float64(p.Samples)/max(took.Seconds(), 0.001), left)
	if bar {
		const width = 30
		n := int(share * width)
		out = fmt.Sprintf("[%-*s] %s", width, bars[:n], out)
	}
	return out
}

const bars = "=============================="
