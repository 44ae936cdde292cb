package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sextant/features"
)

// servedStore keeps rows of the log, or refuses them.
type servedStore struct {
	rows []features.Served
	err  error
}

func (s *servedStore) WriteServed(_ context.Context, rows []features.Served) error {
	if s.err == nil {
		s.rows = append(s.rows, rows...)
	}
	return s.err
}

func servedLog(t *testing.T, sink ServedSink, rate float64) *ServedLog {
	t.Helper()
	l, err := NewServedLog(sink, ServedOptions{Rate: rate, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// runFor has the log write for a time, and then to its end.
func runFor(t *testing.T, l *ServedLog, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := l.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// What is logged is what was answered: a default, a null, a row that expired, none at all.
func TestServedIsWhatWasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &servedStore{}
		l := servedLog(t, store, 1)
		h := serve(t, start.Add(45*time.Second), Options{Served: l})
		do(h, "POST", "/get-online-features", `{"features":["box:load","gpu:share","box:kernel"],"entities":{"node":["a","b"],"gpu":["1","9"]}}`)
		runFor(t, l, 2*time.Second)
		at := start.UnixMilli()
		var got []string
		for _, r := range store.rows {
			got = append(got, fmt.Sprintln(r.View.Ref(), r.Time-at, r.Keys, r.Tick-at, r.Features, r.Values, r.Texts, r.Statuses))
		}
		want := []string{
			"box@v2 45000 [a] 0 [load kernel] [0.10000000149011612 NaN] [ 6.8.0] [PRESENT PRESENT]\n",
			"box@v2 45000 [b] -30000 [load kernel] [NaN NaN] [ ] [OUTSIDE_MAX_AGE OUTSIDE_MAX_AGE]\n",
			"gpu@v1 45000 [a 1] 0 [share] [0.5] [] [NULL_VALUE]\n",
			fmt.Sprintf("gpu@v1 45000 [b 9] %d [share] [NaN] [] [NOT_FOUND]\n", -at),
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q\nwant\n%q", got, want)
		}
	})
}

func TestServedDropsAndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := func(l *ServedLog, times int) {
			h := serve(t, start, Options{Served: l})
			for range times {
				if w := do(h, "POST", "/get-online-features", `{"features":["box:load"],"entities":{"node":["a"]}}`); w.Code != 200 {
					t.Fatal(w.Body)
				}
			}
		}
		dropped := func(l *ServedLog, reason string) float64 {
			return testutil.ToFloat64(l.dropped.WithLabelValues(reason))
		}
		full := servedLog(t, &servedStore{}, 1)
		ask(full, servedQueue+3) // nobody writes
		if n := dropped(full, "queue"); n != 3 {
			t.Errorf("%v dropped by a full queue, want 3", n)
		}
		failing := servedLog(t, &servedStore{err: errors.New("away")}, 1)
		ask(failing, 2)
		runFor(t, failing, 2*time.Second)
		if n := dropped(failing, "store"); n != 2 {
			t.Errorf("%v dropped by a store that is away, want 2", n)
		}
		none := servedLog(t, &servedStore{}, 0)
		ask(none, 100)
		if len(none.queue) != 0 {
			t.Errorf("rate 0 keeps %d", len(none.queue))
		}
	})
}
