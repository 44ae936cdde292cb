package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sextant/features"
)

func TestDue(t *testing.T) {
	const m = int64(time.Minute / time.Millisecond)
	now := 100 * hour
	for _, c := range []struct {
		name    string
		stored  map[int64]uint64
		made    map[int64]Made
		changed map[int64]int64
		want    []int64
	}{
		{"never measured, the newest first", map[int64]uint64{97: 5, 98: 5}, nil, nil, []int64{98, 97}},
		{"measured", map[int64]uint64{98: 5}, map[int64]Made{98: {99 * hour, 5}}, nil, nil},
		{"rows came since", map[int64]uint64{98: 6}, map[int64]Made{98: {99 * hour, 5}}, nil, []int64{98}},
		{"not closed", map[int64]uint64{99: 6, 100: 6}, nil, nil, []int64{99}},
		{"changed and quiet", nil, map[int64]Made{50: {60 * hour, 5}}, map[int64]int64{50: now - 6*m}, []int64{50}},
		{"still changing", nil, map[int64]Made{50: {now - 10*m, 5}}, map[int64]int64{50: now - 2*m}, nil},
		{"changing for long", nil, map[int64]Made{50: {now - 31*m, 5}}, map[int64]int64{50: now - 2*m}, []int64{50}},
		{"measured while it changed", nil, map[int64]Made{50: {now - 8*m, 5}}, map[int64]int64{50: now - 9*m}, []int64{50}},
		{"measured after it changed", nil, map[int64]Made{50: {now - 8*m, 5}}, map[int64]int64{50: now - 20*m}, nil},
	} {
		times := func(in map[int64]Made) map[int64]Made {
			out := map[int64]Made{}
			for h, x := range in {
				out[h*hour] = x
			}
			return out
		}
		stored, changed := map[int64]uint64{}, map[int64]int64{}
		for h, n := range c.stored {
			stored[h*hour] = n
		}
		for h, at := range c.changed {
			changed[h*hour] = at
		}
		got := due(stored, times(c.made), changed, now, now)
		for i := range got {
			got[i] /= hour
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// book is a store whose rows are written by the test; it measures what it has.
type book struct {
	rows   map[int64]uint64
	made   map[int64]Made
	said   []string
	counts int
	fail   error
}

func (b *book) Closed(context.Context) (int64, error) { return time.Now().UnixMilli(), b.fail }
func (b *book) Stored(context.Context, *features.View, int64) (map[int64]uint64, error) {
	b.counts++
	return b.rows, nil
}
func (b *book) Made(context.Context, int64) (map[string]map[int64]Made, error) {
	return map[string]map[int64]Made{"v@v1": b.made}, nil
}
func (b *book) Changed(context.Context) (map[string]map[int64]int64, error) { return nil, nil }
func (b *book) Measure(_ context.Context, _ *features.View, h int64, n uint64) error {
	b.said = append(b.said, fmt.Sprintf("%s %d", time.UnixMilli(h).UTC().Format("15:04"), n))
	b.made[h] = Made{time.Now().UnixMilli(), n}
	return nil
}
func (b *book) Latest(context.Context) ([]Latest, error) {
	return []Latest{{View: "v@v1", Feature: "x", NullRatio: 0.5, PSI: map[string]float64{"train": 0.3}}, {View: "gone@v1", Feature: "x"}}, nil
}
func (b *book) Newest(context.Context, *features.View, int64) ([]int64, error) {
	return []int64{time.Now().UnixMilli() - 20_000}, nil
}

// The test begins at midnight.
func TestRunMeasuresEachHourOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().UnixMilli()
		b := &book{rows: map[int64]uint64{start - hour: 7}, made: map[int64]Made{}}
		reg := prometheus.NewRegistry()
		m := NewMetrics(reg)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour+10*time.Minute)
		defer cancel()
		go func() {
			time.Sleep(32 * time.Minute) // rounds are at multiples of 5 minutes
			b.rows[start] = 5
			b.fail = errors.New("away")
			time.Sleep(10 * time.Minute)
			b.fail = nil
			time.Sleep(49 * time.Minute)
			b.rows[start] = 6 // late
			if n := testutil.CollectAndCount(m.psi) + testutil.CollectAndCount(m.nulls); n != 2 {
				t.Errorf("%d series of psi and null ratio, want one each of the view in force", n)
			}
			if age := testutil.ToFloat64(m.age.WithLabelValues("v@v1", "x")); age != 20 {
				t.Errorf("age %v", age)
			}
		}()
		err := Run(ctx, b, Config{Metrics: m, Views: []*features.View{{Name: "v", Version: 1, Interval: 10 * time.Second, Features: []features.Feature{{Name: "x"}}}}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if want := []string{"23:00 7", "00:00 5", "00:00 6"}; !slices.Equal(b.said, want) {
			t.Errorf("%q, want %q", b.said, want)
		}
		if b.counts > 20 {
			t.Errorf("rows were counted %d times in two hours", b.counts)
		}
		if n := testutil.ToFloat64(m.failures); n != 2 {
			t.Errorf("%v rounds failed, want 2", n)
		}
		if n := testutil.CollectAndCount(m.age); n != 0 {
			t.Errorf("%d series are left when somebody else measures", n)
		}
	})
}
