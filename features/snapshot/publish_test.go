package snapshot

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sextant/features/online"
)

// running is a server and its store at work in a bubble.
func running(t *testing.T, w *world, change ...func(*Options)) *Server {
	t.Helper()
	store, err := online.New(w, w.set.Views, online.Options{Log: slog.New(slog.DiscardHandler), Settle: 8 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Log: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&o)
	}
	s, err := New(store, w.set, w, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- store.Run(ctx) }()
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v", err)
			}
		}
	})
	synctest.Wait()
	return s
}

func ms(t time.Time) int64 { return t.UnixMilli() }

// until sleeps to a time after a tick of the bubble's clock, which begins at midnight.
func until(tick time.Time, after time.Duration) {
	time.Sleep(time.Until(tick.Add(after)))
	synctest.Wait()
}

func TestVersionIsTheTickThatHasSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		tick := time.Now().Truncate(Step).Add(Step)
		w.add(w.view("fast"), ms(tick)-10_000, ms(tick)-5_000, []float64{1, 1}, "a")
		s := running(t, w)
		until(tick, 6*time.Second)
		w.add(w.view("fast"), ms(tick), ms(tick)+5_000, []float64{2, 2}, "a")
		until(tick, 7900*time.Millisecond)
		if x := ask(t, s, "service=boxes", "raw"); x.header["version"] != float64(ms(tick)-10_000) || x.values[0][0] != 1 {
			t.Errorf("before it settled: %v", x)
		}
		until(tick, 8100*time.Millisecond)
		x := ask(t, s, "service=boxes", "raw")
		if x.header["version"] != float64(ms(tick)) || x.values[0][0] != 2 || x.ages[0][0] != 8 || x.header["known"] != float64(ms(tick)+8_000) {
			t.Errorf("when it settled: %v", x)
		}
		// Rows that come later are of a later version.
		w.add(w.view("fast"), ms(tick), ms(tick)+9_000, []float64{3, 3}, "b")
		until(tick, 9500*time.Millisecond)
		if x := ask(t, s, "service=boxes", "raw"); len(x.keys) != 1 {
			t.Errorf("a version that changed: %v", x)
		}
		until(tick, Step+8100*time.Millisecond)
		if x := ask(t, s, "service=boxes", "raw"); x.header["version"] != float64(ms(tick)+10_000) || len(x.keys) != 2 {
			t.Errorf("the next: %v", x)
		}
	})
}

// What is served while the source is away is judged as of each tick, and says that it is late.
func TestSourceAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		tick := time.Now().Truncate(Step).Add(Step)
		w.fail(errAway)
		s := running(t, w)
		until(tick, 2*Step)
		if got := get(s.Handler(), "/v1/snapshot?service=boxes"); got.Code != 503 || got.Header().Get("Retry-After") == "" {
			t.Errorf("before the first answer: %d %s", got.Code, got.Body)
		}
		w.fail(nil)
		for i := range int64(3) {
			w.add(w.view("fast"), ms(tick)+i*10_000, ms(tick)+i*10_000+5_000, []float64{1, 1}, "a")
		}
		until(tick, 3*Step+8500*time.Millisecond)
		if x := ask(t, s, "service=boxes", "raw"); x.status[0][0] != 1 || x.header["views"].([]any)[0].(map[string]any)["late"] != false {
			t.Fatalf("when it answers: %v", x)
		}
		w.fail(errAway)
		until(tick, 6*Step+10500*time.Millisecond)
		x := ask(t, s, "service=boxes", "raw")
		if x.header["version"] != float64(ms(tick)+60_000) || x.status[0][0] != 1 || x.ages[0][0] != 48 || x.header["views"].([]any)[0].(map[string]any)["late"] != true {
			t.Errorf("while it is away: %v", x)
		}
		until(tick, 9*Step+10500*time.Millisecond)
		if x := ask(t, s, "service=boxes", "raw"); x.status[0][0] != 4 || x.ages[0][0] != 78 {
			t.Errorf("behind the TTL: %v", x)
		}
		until(tick, 70*Step+10500*time.Millisecond)
		if x := ask(t, s, "service=boxes", "raw"); len(x.keys) != 0 {
			t.Errorf("when nothing is remembered: %v", x)
		}
	})
}

// A replica that starts at any time serves the same bytes for the same version as one that
// runs, and what it serves is what the past answers later.
func TestReplicasAndThePastAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := newWorld(), rand.New(rand.NewPCG(1, 2))
		tick := time.Now().Truncate(Step).Add(Step)
		s := running(t, w)
		served := map[int64]string{}
		var replicas []*Server
		for i := range int64(80) {
			now := tick.Add(time.Duration(i) * Step)
			until(now, 5*time.Second)
			for _, v := range w.set.Views[:3] {
				for n := range 6 {
					if node := string(rune('a' + n)); r.IntN(8) > 0 && !(n == 5 && i > 10) {
						keys := []string{node, node, node}[:len(v.Keys)]
						values := []float64{r.Float64(), float64(i)}[:len(v.Features)]
						w.add(v, ms(now), ms(now)+5_000, values, keys...)
					}
				}
			}
			until(now, 8500*time.Millisecond)
			served[ms(now)] = strings.Join(ask(t, s, "service=boxes", "arrow").rowsOf(), "\n")
			for _, other := range replicas {
				x, y := ask(t, other, "service=boxes", "raw"), ask(t, s, "service=boxes", "raw")
				if a, b := strings.Join(x.rowsOf(), "\n"), strings.Join(y.rowsOf(), "\n"); a != b || x.header["version"] != y.header["version"] {
					t.Errorf("step %d: a replica says %v\n%s\nand one that ran %v\n%s", i, x.header["version"], a, y.header["version"], b)
				}
			}
			if i%13 == 7 { // one that starts in the middle of a tick, before or behind the tick's rows
				time.Sleep(time.Duration(r.IntN(6000)) * time.Millisecond)
				replicas = append(replicas, running(t, w))
			}
		}
		compared, gone := 0, 0
		for version, want := range served {
			at := time.UnixMilli(version).Add(8 * time.Second).UTC().Format(time.RFC3339)
			x := ask(t, s, "service=boxes&as_of="+at, "arrow")
			if got := strings.Join(x.rowsOf(), "\n"); got != want || x.header["version"] != float64(version) {
				t.Errorf("%s as it was:\n%s\nserved then:\n%s", at, got, want)
			}
			compared++
			if strings.Contains(want, "f NaN:3 NaN:3 ") {
				gone++
			}
		}
		if compared != 80 || gone < 5 || gone > 40 {
			t.Errorf("%d versions, %d in which a node that went is forgotten", compared, gone)
		}
	})
}
