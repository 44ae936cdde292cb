package online

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sextant/features"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// running starts Run in a synctest bubble and stops it when the test ends.
func running(t *testing.T, src Source, v *features.View, reg prometheus.Registerer) *Store {
	t.Helper()
	s, err := New(src, []*features.View{v}, Options{Log: quiet(), Registerer: reg})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
	synctest.Wait()
	return s
}

func ms(t time.Time) int64 { return t.UnixMilli() }

func TestRunFollowsTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, v := &table{}, testView()
		now := time.Now()
		src.add(row{"a", ms(now), 1, 1, "x"})
		s := running(t, src, v, nil)
		if load(s.Snapshot(v), "a") != 1 || s.Ready() != nil {
			t.Fatalf("after the first load: %+v, %v", s.Snapshot(v), s.Ready())
		}
		src.add(row{"a", ms(now) + 10_000, 1, 2, "x"}, row{"b", ms(now) + 10_000, 1, 3, "x"})
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if load(s.Snapshot(v), "a") != 2 || load(s.Snapshot(v), "b") != 3 {
			t.Errorf("half a second later: %+v", s.Snapshot(v))
		}
		if s.Snapshot(testView()) != nil {
			t.Error("a snapshot of a view that the store does not hold")
		}
	})
}

// A partition that is behind writes rows below the newest tick.
func TestRunFindsRowsOfAPartitionThatIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, v := &table{}, testView()
		now := time.Now()
		src.add(row{"fast", ms(now), 1, 1, ""}, row{"slow", ms(now) - 40_000, 1, 1, ""})
		s := running(t, src, v, nil)
		src.add(row{"slow", ms(now) - 30_000, 1, 2, ""}, row{"late", ms(now) - 50_000, 1, 3, ""})
		time.Sleep(minDeep + time.Second)
		synctest.Wait()
		if load(s.Snapshot(v), "slow") != 2 || load(s.Snapshot(v), "late") != 3 {
			t.Errorf("slow %v, late %v", load(s.Snapshot(v), "slow"), load(s.Snapshot(v), "late"))
		}
		deep, shallow := 0, 0
		for _, after := range src.asked[1:] {
			if after == ms(now)-v.Interval.Milliseconds() {
				shallow++
			} else {
				deep++
			}
		}
		if deep != 1 || shallow < 8 {
			t.Errorf("%d deep and %d shallow looks in %s", deep, shallow, minDeep+time.Second)
		}
	})
}

func TestSourceAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, v, reg := &table{}, testView(), prometheus.NewPedanticRegistry()
		src.fail(errAway)
		s := running(t, src, v, reg)
		if err := s.Ready(); err == nil || err.Error() != "box@v1: not loaded yet: dial 10.0.0.4:9000: refused" {
			t.Errorf("before the first answer: %v", err)
		}
		start := time.Now()
		src.add(row{"a", ms(start), 1, 1, ""})
		src.fail(nil)
		time.Sleep(maxWait)
		synctest.Wait()
		if s.Ready() != nil || load(s.Snapshot(v), "a") != 1 {
			t.Fatalf("when it is back: %v", s.Ready())
		}

		src.fail(errAway)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if err := s.Ready(); err != nil {
			t.Errorf("after 20 s: %v", err)
		}
		time.Sleep(50 * time.Second)
		synctest.Wait()
		if err := s.Ready(); err == nil || !strings.Contains(err.Error(), "box@v1: no answer for 1m") {
			t.Errorf("after 70 s: %v", err)
		}
		// What is known is served on, and is honest about its age.
		r := s.Snapshot(v).Find(nil, [][]string{{"a"}})[0]
		if status := s.Snapshot(v).RowStatus(r, ms(time.Now())); status != features.OutsideMaxAge {
			t.Errorf("status %s", status)
		}
		if n := testutil.ToFloat64(s.metrics.errors.WithLabelValues("box@v1")); n < 10 || n > 25 {
			t.Errorf("%v failures in 70 s: the pause between them is wrong", n)
		}
		want := `
			# HELP sextant_online_newest_tick_age_seconds Age of the newest tick in memory; absent while there is none.
			# TYPE sextant_online_newest_tick_age_seconds gauge
			sextant_online_newest_tick_age_seconds{view="box@v1"} 75
			# HELP sextant_online_rows Entities whose latest row is in memory.
			# TYPE sextant_online_rows gauge
			sextant_online_rows{view="box@v1"} 1
		`
		if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "sextant_online_rows", "sextant_online_newest_tick_age_seconds"); err != nil {
			t.Error(err)
		}
		src.fail(nil)
		time.Sleep(maxWait)
		synctest.Wait()
		if s.Ready() != nil {
			t.Errorf("when it is back again: %v", s.Ready())
		}
	})
}

// A store that restarts answers like the one that ran all the time.
func TestRestartChangesNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, v := &table{}, testView()
		ran := running(t, src, v, nil)
		for i := range 60 {
			now := ms(time.Now())
			src.add(row{"live", now, now, float64(i), ""})
			if i < 30 {
				src.add(row{"died", now, now, float64(i), ""})
			}
			time.Sleep(30 * time.Second)
			synctest.Wait()
			fresh, err := New(src, []*features.View{v}, Options{Log: quiet()})
			if err != nil {
				t.Fatal(err)
			}
			if err := fresh.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, node := range []string{"live", "died", "never"} {
				a, b := status(ran.Snapshot(v), node), status(fresh.Snapshot(v), node)
				if a != b {
					t.Errorf("step %d: %s is %s, after a restart %s", i, node, a, b)
				}
			}
		}
		if got := status(ran.Snapshot(v), "died"); got != features.NotFound {
			t.Errorf("after %s: %s", v.Memory(), got)
		}
	})
}

func status(s *Snapshot, node string) features.Status {
	return s.RowStatus(s.Find(nil, [][]string{{node}})[0], ms(time.Now()))
}

func TestSlowSourceIsAskedLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &slow{took: 2 * time.Second}
		running(t, src, testView(), nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(src.asked); n < 5 || n > 7 {
			t.Errorf("asked %d times in a minute, each answer takes 2 s", n)
		}
	})
}

type slow struct {
	table
	took time.Duration
}

func (s *slow) LatestRows(ctx context.Context, v *features.View, after int64) (*features.Rows, error) {
	select {
	case <-time.After(s.took):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.table.LatestRows(ctx, v, after)
}

func TestSourceThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := running(t, &slow{took: time.Hour}, testView(), nil)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if err := s.Ready(); err == nil || !strings.Contains(err.Error(), "not loaded yet: context deadline exceeded") {
			t.Errorf("ready: %v", err)
		}
	})
}

// Readers must see whole rows while a writer swaps snapshots; the race detector sees the
// rest. A row's load is its tick, so a torn row shows.
func TestReadersBesideRefresh(t *testing.T) {
	src, v := &table{}, testView()
	s, err := New(src, []*features.View{v}, Options{Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				snap := s.Snapshot(v)
				for _, r := range snap.Find(nil, [][]string{{"a", "b", "c"}}) {
					if r >= 0 && snap.Cols[0].Num[r] != float64(snap.Tick[r]) {
						t.Errorf("torn row: tick %d, load %v", snap.Tick[r], snap.Cols[0].Num[r])
					}
				}
			}
		})
	}
	base := ms(time.Now())
	for i := range int64(200) {
		tick := base + i
		src.add(row{string(rune('a' + i%3)), tick, tick, float64(tick), ""})
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestNewRefusesASecondStoreOnOneRegistry(t *testing.T) {
	reg := prometheus.NewRegistry()
	if _, err := New(&table{}, []*features.View{testView()}, Options{Registerer: reg}); err != nil {
		t.Fatal(err)
	}
	if _, err := New(&table{}, []*features.View{testView()}, Options{Registerer: reg}); err == nil {
		t.Error("no error")
	}
}
