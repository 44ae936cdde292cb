package rollup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// memory is a store whose hours cost time and no rows.
type memory struct {
	rolled   map[int64]Hour
	seen     map[int64]uint64
	oldest   int64
	repaired []int64
	cost     time.Duration
	fail     bool
	log      []string
}

func (m *memory) Rolled(_ context.Context, from int64) (map[int64]Hour, error) {
	out := map[int64]Hour{}
	for s, h := range m.rolled {
		if s >= from {
			out[s] = h
		}
	}
	return out, nil
}

func (m *memory) Seen(_ context.Context, from int64) (map[int64]uint64, error) {
	out := map[int64]uint64{}
	for s, n := range m.seen {
		if s >= from {
			out[s] = n
		}
	}
	return out, nil
}

func (m *memory) Touched(context.Context, int64) (int64, []int64, error) {
	o, r := m.oldest, m.repaired
	m.oldest, m.repaired = 0, nil
	return o, r, nil
}

func (m *memory) Roll(_ context.Context, h Hour) error {
	time.Sleep(m.cost)
	if m.fail {
		return errors.New("the store is away")
	}
	h.Seen = m.seen[h.Start]
	m.rolled[h.Start] = h
	state := "open"
	if h.Closed {
		state = "closed"
	}
	m.log = append(m.log, fmt.Sprintf("%s %s", time.UnixMilli(h.Start).UTC().Format("15"), state))
	return nil
}

// take returns what was computed since, without the open hour, which is computed all the time.
func (m *memory) take(open bool) string {
	var out []string
	for _, l := range m.log {
		if open || !strings.HasSuffix(l, "open") {
			out = append(out, l)
		}
	}
	m.log = nil
	return strings.Join(out, ", ")
}

// The clock of a bubble begins at midnight UTC of 2000-01-01.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		at := func(h int) int64 { return begin.Add(time.Duration(h) * time.Hour).UnixMilli() }
		m := &memory{rolled: map[int64]Hour{}, seen: map[int64]uint64{at(-30): 1, at(-2): 2, at(-1): 3}, cost: time.Second}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- Run(ctx, m, Defaults()) }()

		time.Sleep(4 * time.Minute)
		// At the start all hours that have rows, the newest first; the last one is not settled yet.
		if got := m.take(false); got != "22 closed, 18 closed, 23 closed" {
			t.Errorf("at the start: %s", got)
		}
		time.Sleep(10 * time.Minute)
		opens := strings.Count(m.take(true), "00 open")
		if opens < 15 || opens > 20 {
			t.Errorf("the open hour was computed %d times in 10 minutes, want every 30 s and what it costs", opens)
		}
		time.Sleep(50 * time.Minute)
		if got := m.take(false); got != "00 closed" {
			t.Errorf("after an hour: %s", got)
		}
		// Rows come late, an hour is repaired, an event tells of three hours ago.
		m.seen[at(-2)], m.repaired = 9, []int64{at(-5)}
		time.Sleep(6 * time.Minute)
		if got := m.take(false); got != "22 closed, 19 closed" {
			t.Errorf("late rows: %s", got)
		}
		m.oldest = at(-1)
		time.Sleep(6 * time.Minute)
		if got := m.take(false); got != "00 closed, 23 closed" {
			t.Errorf("a late event: %s", got)
		}
		// What fails is tried again.
		m.fail, m.seen[at(-2)] = true, 10
		time.Sleep(6 * time.Minute)
		m.fail = false
		time.Sleep(time.Minute)
		if got := m.take(false); got != "22 closed" {
			t.Errorf("after a failure: %s", got)
		}
		// An hour that costs 30 s is computed every 10 minutes, a twentieth of the time.
		m.cost = 30 * time.Second
		time.Sleep(15 * time.Minute)
		m.take(true)
		time.Sleep(20 * time.Minute)
		if got := strings.Count(m.take(true), "01 open"); got > 2 {
			t.Errorf("a costly hour was computed %d times in 20 minutes", got)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestHourAt(t *testing.T) {
	start := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	var got []string
	for _, after := range []time.Duration{5 * time.Second, 30 * time.Minute, time.Hour + time.Minute, time.Hour + 2*time.Minute} {
		h := HourAt(start.UnixMilli(), start.Add(after), 2*time.Minute)
		got = append(got, fmt.Sprintf("%v %t", time.UnixMilli(h.Until).Sub(start), h.Closed))
	}
	if want := []string{"0s false", "29m50s false", "1h0m0s false", "1h0m0s true"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
