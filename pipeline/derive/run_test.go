package derive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sextant/features"
)

// ledger is a store that writes down what it is asked, at which second of the test.
type ledger struct {
	start    time.Time
	said     []string
	progress map[string]Done
	fail     func(what string) error
	open     int
	value    float64 // of each row; 0: one that is in range
}

func (l *ledger) note(what string, at At) error {
	text := fmt.Sprintf("%s %d", what, (at.Tick-l.start.UnixMilli())/1000)
	if l.fail != nil {
		if err := l.fail(text); err != nil {
			return err
		}
	}
	l.said = append(l.said, text)
	return nil
}

func (l *ledger) Prepare(_ context.Context, at At) error {
	l.open++
	return l.note("prepare", at)
}

func (l *ledger) Release(context.Context, At) error { l.open--; return nil }

func (l *ledger) Derive(_ context.Context, v *features.View, at At) (*features.Rows, error) {
	if err := l.note("derive "+v.Name, at); err != nil {
		return nil, err
	}
	return &features.Rows{View: v, Tick: []int64{at.Tick}, Known: []int64{at.Known}, Keys: [][]string{{"k"}}, Cols: []features.Column{{Num: []float64{cmp.Or(l.value, 0.5)}}}}, nil
}

func (l *ledger) WriteDerived(_ context.Context, r *features.Rows, at At) error {
	if len(r.Known) > 0 && r.Known[0] != at.Known {
		return fmt.Errorf("known %d, want %d", r.Known[0], at.Known)
	}
	return l.note("write "+r.View.Name, at)
}
func (l *ledger) Breaches(_ context.Context, at At) (int, error) { return 0, l.note("breaches", at) }
func (l *ledger) Progress(_ context.Context, since int64) (map[string]Done, error) {
	out := map[string]Done{}
	for job, d := range l.progress {
		d.Ticks = slices.DeleteFunc(slices.Clone(d.Ticks), func(t int64) bool { return t < since })
		out[job] = d
	}
	return out, nil
}
func (l *ledger) Done(_ context.Context, job string, at At, _ int) error {
	if err := l.note("done "+job, at); err != nil {
		return err
	}
	d, ok := l.progress[job]
	if !ok {
		d.First = at.Tick
	}
	l.progress[job] = Done{d.First, max(d.Last, at.Tick), append(d.Ticks, at.Tick)}
	return nil
}

// upTo is a job that has every tick of 10 s in [first, last], seconds of the test.
func (l *ledger) upTo(job string, first, last, step int64) {
	at := func(s int64) int64 { return l.start.UnixMilli() + s*1000 }
	d := Done{First: at(first), Last: at(last)}
	for s := first; s <= last; s += step {
		d.Ticks = append(d.Ticks, at(s))
	}
	l.progress[job] = d
}

func viewNamed(name string, interval time.Duration, sql string) *features.View {
	return &features.View{Name: name, Version: 1, Keys: []string{"k"}, Interval: interval, SQL: sql, Features: []features.Feature{ratio()}}
}

// runFor runs the views of l for a time and returns what was asked of the store.
func runFor(t *testing.T, d time.Duration, l *ledger, m *Metrics, stored func(context.Context, int64) error) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	err := Run(ctx, l, Config{Metrics: m, Stored: stored, Schedule: Schedule{Delay: 5 * time.Second, Settle: time.Second, CatchUp: 30 * time.Second},
		Views: []*features.View{viewNamed("fast", 10*time.Second, "s"), viewNamed("slow", 20*time.Second, "s"), viewNamed("promql", 10*time.Second, "")}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if l.open != 0 {
		t.Errorf("%d ticks are not released", l.open)
	}
	return slices.DeleteFunc(l.said, func(s string) bool { return !strings.HasPrefix(s, "write") && !strings.HasPrefix(s, "breaches") })
}

func always(context.Context, int64) error { return nil }

func TestRunEvaluatesEveryTickOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{start: time.Now(), progress: map[string]Done{}}
		got := runFor(t, 27*time.Second, l, nil, always)
		want := []string{"write fast -10", "breaches -10", "write slow -20", "write fast 0", "write slow 0", "breaches 0", "write fast 10", "breaches 10", "write fast 20", "write slow 20", "breaches 20"}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q\nwant\n%q", got, want)
		}
	})
}

// After a stop the newest tick comes first, then what was missed, from the oldest on, up to the
// bound; the rest is counted.
func TestRunCatchesUpNewestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{start: time.Now(), progress: map[string]Done{}}
		l.upTo("fast@v1", -200, -100, 10)
		l.upTo("slow@v1", -200, -20, 20)
		l.upTo(Breaches, -200, -20, 10)
		m := NewMetrics(prometheus.NewRegistry())
		got := runFor(t, 3*time.Second, l, m, always)
		if want := []string{"write fast -10", "breaches -10", "write fast -30", "write fast -20"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if n := testutil.ToFloat64(m.skipped.WithLabelValues("fast@v1")); n != 6 {
			t.Errorf("%v ticks are given up, want 6", n)
		}
	})
}

// A tick that becomes due while what was missed is made up for goes first; a restart in the
// middle goes on with the gap.
func TestNewTicksGoBeforeMissedOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{start: time.Now(), progress: map[string]Done{}}
		l.upTo("fast@v1", -200, -40, 10)
		l.upTo("slow@v1", -200, 100, 20)
		l.upTo(Breaches, -200, 100, 10)
		l.fail = func(what string) error {
			if strings.HasPrefix(what, "derive") {
				time.Sleep(4 * time.Second)
			}
			return nil
		}
		got := runFor(t, 7*time.Second, l, nil, always)
		if want := []string{"write fast -10", "write fast -30"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q: at 6 s tick 0 is due, and it stops at 7 s", got, want)
		}
		l.said = nil
		l.fail = nil
		got = runFor(t, time.Second, l, nil, always)
		if want := []string{"write fast 0", "write fast -20"}; !slices.Equal(got, want) {
			t.Errorf("after a restart %q, want %q", got, want)
		}
	})
}

// A tick whose rows could not be noted is made again, and what it refused counts once.
func TestRefusedValuesCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{start: time.Now(), progress: map[string]Done{}, value: 2}
		tries := 0
		l.fail = func(what string) error {
			if strings.HasPrefix(what, "done fast") {
				if tries++; tries == 1 {
					return errors.New("away")
				}
			}
			return nil
		}
		m := NewMetrics(prometheus.NewRegistry())
		runFor(t, 7*time.Second, l, m, always)
		if n := testutil.ToFloat64(m.values.WithLabelValues("fast@v1", "ratio", "out_of_range")); n != 2 || tries != 3 {
			t.Errorf("%v values are refused in %d attempts, want 2 in 3: two ticks", n, tries)
		}
	})
}

// A view that fails is counted and tried again, from the tick that it lacks, and the
// others go on.
func TestOneFailingViewStopsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		l := &ledger{start: now, progress: map[string]Done{}}
		l.fail = func(what string) error {
			if strings.HasPrefix(what, "derive fast") && time.Since(now) < 15*time.Second {
				return errors.New("memory limit")
			}
			return nil
		}
		m := NewMetrics(prometheus.NewRegistry())
		got := runFor(t, 17*time.Second, l, m, always)
		want := []string{"write slow -20", "breaches -10", "write slow 0", "breaches 0", "write fast -10", "write fast 0", "write fast 10", "breaches 10"}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%q is missing in %q", w, got)
			}
		}
		if n := testutil.ToFloat64(m.failures.WithLabelValues("fast@v1")); n != 2 {
			t.Errorf("%v failures, want 2", n)
		}
	})
}

// No tick is evaluated before what the stream held is stored.
func TestRunWaitsForTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		l := &ledger{start: now, progress: map[string]Done{}}
		m := NewMetrics(prometheus.NewRegistry())
		got := runFor(t, 17*time.Second, l, m, func(_ context.Context, tick int64) error {
			if want := time.Now().Add(-6 * time.Second).Truncate(10 * time.Second).UnixMilli(); tick != want {
				t.Errorf("waits for tick %d, want the newest that is due, %d", tick, want)
			}
			if time.Since(now) < 10*time.Second {
				return errors.New("3 records left")
			}
			if len(l.said) > 0 {
				t.Errorf("%q was asked when nothing was stored", l.said)
			}
			return nil
		})
		if len(got) == 0 || testutil.ToFloat64(m.waits) != 2 {
			t.Errorf("%q, %v waits", got, testutil.ToFloat64(m.waits))
		}
	})
}

// The views that look back further than the stream run apart: nothing of SQL is prepared or
// looked for, and theirs alone are evaluated.
func TestLongViewsRunApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{start: time.Now(), progress: map[string]Done{}}
		long := viewNamed("long", 20*time.Second, "")
		long.Long = true
		views := []*features.View{long, viewNamed("stream", 10*time.Second, ""), viewNamed("sql", 10*time.Second, "SELECT 1")}
		for _, c := range []struct {
			long bool
			want []string
		}{
			{true, []string{"derive long 0", "write long 0", "done long@v1 0"}},
			{false, []string{"prepare 0", "derive sql 0", "write sql 0", "done sql@v1 0", "breaches 0", "done sla_events 0"}},
		} {
			l.said, l.start = nil, time.Now().Truncate(20*time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := Run(ctx, l, Config{Views: views, Long: c.long, Stored: always, Schedule: Schedule{CatchUp: 10 * time.Second}})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || !slices.Equal(l.said, c.want) {
				t.Errorf("long %v: %q, want %q (%v)", c.long, l.said, c.want, err)
			}
		}
	})
}
