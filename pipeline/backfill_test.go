package pipeline_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"sextant/features"
	"sextant/pipeline"
	"sextant/pipeline/backfill"
	"sextant/schema/quality"
)

// shelf is a store of one row for each sample, by the rules of the real one, in memory. It is
// what the stream writes to and a backfill reads.
type shelf struct {
	samples map[sampleKey]stored
	series  map[uint64]backfill.Series
	rows    map[string]string // as in table
	marked  map[string]uint16 // flags of rows
	ticks   []int64           // of rows
	without uint16            // samples with one of these flags are not read
}

type stored struct {
	v     float64
	flags uint16
}

func newShelf() *shelf {
	return &shelf{map[sampleKey]stored{}, map[uint64]backfill.Series{}, map[string]string{}, map[string]uint16{}, nil, quality.Unusable | quality.Late}
}

// Write implements pipeline.Sink.
func (s *shelf) Write(_ context.Context, b *pipeline.Batch) error {
	for i, id := range b.Samples.Series {
		key := sampleKey{id, b.Samples.Time[i]}
		if had, ok := s.samples[key]; ok && had.flags&quality.Late == 0 && b.Samples.Flags[i]&quality.Late != 0 {
			continue
		}
		s.samples[key] = stored{b.Samples.Value[i], b.Samples.Flags[i]}
	}
	for _, r := range b.Series {
		ls := labels.NewBuilder(labels.EmptyLabels()).Set(labels.MetricName, r.Name)
		for _, l := range r.Labels {
			ls.Set(l.Name, l.Value)
		}
		s.series[r.ID] = backfill.Series{ID: r.ID, Node: r.Node, Labels: ls.Labels()}
	}
	s.put(b.Rows)
	return nil
}

func (s *shelf) put(all []*features.Rows) {
	for _, r := range all {
		for i := range r.Tick {
			s.rows[rowKey(r, i)], _, _ = strings.Cut(rowText(r, i), " flags=")
			s.marked[rowKey(r, i)] = r.Flag(i)
			s.ticks = append(s.ticks, r.Tick[i])
		}
	}
}

// streamed runs the stream's machine over events.
func streamed(t *testing.T, views []*features.View, events []event) *shelf {
	t.Helper()
	s := newShelf()
	m, err := pipeline.NewMachine(pipeline.Config{Topic: "t", Views: views, Lookback: testLookback, GroupSize: 2}, pipeline.Checkpoint{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.idle != 0 {
			m.Idle(e.idle)
		} else if err := m.Add(e.record); (err != nil) != e.dead {
			t.Fatal(err)
		}
		if b := m.Take(); b != nil {
			_ = s.Write(t.Context(), b)
			m.Recycle(b)
		}
	}
	return s
}

// again computes the rows of ticks [from, to) from the samples of s alone.
func (s *shelf) again(t *testing.T, views []*features.View, from, to int64) *shelf {
	t.Helper()
	out := newShelf()
	r, err := backfill.NewReplay(views, testLookback, 10*time.Second, 3)
	if err != nil {
		t.Fatal(err)
	}
	r.Know(slices.Collect(maps.Values(s.series)))
	keys := slices.SortedFunc(maps.Keys(s.samples), func(a, b sampleKey) int {
		if a.series != b.series {
			return int(int64(a.series>>1) - int64(b.series>>1))
		}
		return int(a.time - b.time)
	})
	// As a backfill reads them: a chunk of time after the other, in blocks that end anywhere.
	for read, at := int64(math.MinInt64), from-600_000; at < to; {
		last := min(at+170_000, to-10_000)
		var block backfill.Samples
		for _, k := range keys {
			x := s.samples[k]
			if k.time < read || k.time >= last || x.flags&s.without != 0 {
				continue
			}
			if len(block.Series) == 50 {
				r.Add(block)
				block = backfill.Samples{}
			}
			block.Series, block.Time = append(block.Series, k.series), append(block.Time, k.time)
			block.Value, block.Flags = append(block.Value, x.v), append(block.Flags, x.flags)
		}
		r.Add(block)
		r.Complete(last)
		for ; at <= last; at += 10_000 {
			if rows := r.Tick(at, at); at >= from {
				out.put(rows)
			}
		}
		read = last
	}
	return out
}

// TestLiveRowsAreBackfilledRows: what the stream computed at each tick, from records that
// came late, twice, out of order and with the times of their exporters, is what a backfill
// computes from the samples that were stored, to the last bit.
func TestLiveRowsAreBackfilledRows(t *testing.T) {
	late, compared, flagged, unflagged := 0, 0, 0, 0
	for seed := range uint64(30) {
		views := streamViews()
		was := streamed(t, views, stream(seed, 400))
		from, to := ticksOf(was)
		is := was.again(t, views, from, to+10_000)
		for _, x := range was.samples {
			late += int(x.flags & quality.Late / quality.Late)
		}
		compared += len(was.rows)
		if diff := difference(was.rows, is.rows); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		for k, f := range is.marked {
			if f&^was.marked[k] != 0 {
				t.Fatalf("seed %d: %s: backfilled flags %s, live %s", seed, k, quality.Text(f), quality.Text(was.marked[k]))
			}
			if flagged += int(min(was.marked[k], 1)); f != was.marked[k] {
				unflagged++
			}
		}
	}
	if late < 100 || compared < 1000 {
		t.Errorf("%d late samples and %d rows prove little", late, compared)
	}
	// What tells of a flag has one sample a time, newer ones only; what rows have has no such limit.
	if flagged < 100 || unflagged > flagged/10 {
		t.Errorf("%d of %d rows with flags lack some", unflagged, flagged)
	}
}

// TestLateSamplesWouldShow: were late samples in a backfill, it would not be what was live.
func TestLateSamplesWouldShow(t *testing.T) {
	views := streamViews()
	was := streamed(t, views, stream(1, 400))
	was.without = quality.Unusable
	from, to := ticksOf(was)
	if diff := difference(was.rows, was.again(t, views, from, to+10_000).rows); diff == "" {
		t.Error("late samples changed no row: the comparison sees nothing")
	}
}

// ticksOf is the first and the last tick that has rows. The ticks before the first record of
// all are nobody's: a backfill may have rows of them.
func ticksOf(s *shelf) (from, to int64) {
	from, to = math.MaxInt64, 0
	for _, at := range s.ticks {
		from, to = min(from, at), max(to, at)
	}
	return from, to
}

// difference is the first of what two tables do not share.
func difference(was, is map[string]string) string {
	for _, k := range slices.Sorted(maps.Keys(was)) {
		if got, ok := is[k]; !ok || got != was[k] {
			return fmt.Sprintf("%s: live %q, backfilled %q (%v)", k, was[k], got, ok)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[k]; !ok {
			return fmt.Sprintf("%s: not live, backfilled %q", k, is[k])
		}
	}
	return ""
}
