package pipeline_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sextant/pipeline"
	"sextant/schema/wire"
)

// reader is a source that hands out a log a few records at a time, and then waits as a
// broker does. It checks that nothing is committed before it is durable.
type reader struct {
	t         *testing.T
	log       []wire.Record
	chunk     int
	fetched   int
	store     *slowStore
	committed []pipeline.Checkpoint
	fetchErr  error
}

func (r *reader) Fetch(ctx context.Context) ([]wire.Record, error) {
	if r.fetchErr != nil {
		return nil, r.fetchErr
	}
	n := min(r.chunk, len(r.log)-r.fetched)
	if n == 0 {
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	}
	r.fetched += n
	return r.log[r.fetched-n : r.fetched], nil
}

func (r *reader) Commit(_ context.Context, c pipeline.Checkpoint) error {
	if c.Written > r.store.durable {
		r.t.Errorf("commit of %d, but only records below %d are durable", c.Written, r.store.durable)
	}
	r.committed = append(r.committed, c)
	return nil
}

// slowStore is a table that takes time, fails, or hangs.
type slowStore struct {
	*table
	delay    time.Duration
	failures int
	hang     bool
	durable  int64 // records below it are stored
	writing  bool
	dead     []pipeline.DeadLetter
	rowsSeen atomic.Int64 // feature rows so far, for the test to look at meanwhile
}

func (s *slowStore) Write(ctx context.Context, b *pipeline.Batch) error {
	if s.writing {
		panic("two writes at once")
	}
	s.writing = true
	defer func() { s.writing = false }()
	if s.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(s.delay)
	if s.failures > 0 {
		s.failures--
		return errors.New("connection refused")
	}
	if len(b.Dead) > 0 && len(s.dead) == 0 {
		return errors.New("dead letters are not kept")
	}
	s.durable = b.Last + 1
	for _, r := range b.Rows {
		s.rowsSeen.Add(int64(len(r.Tick)))
	}
	return s.table.Write(ctx, b)
}

func (s *slowStore) Keep(_ context.Context, dead []pipeline.DeadLetter) error {
	s.dead = append(s.dead, dead...)
	return nil
}

func records(events []event) []wire.Record {
	var log []wire.Record
	for _, e := range events {
		if e.idle == 0 {
			log = append(log, e.record)
		}
	}
	return log
}

// start runs a machine over a stream in the background; the result comes when it ends.
func start(t *testing.T, ctx context.Context, events []event, store *slowStore, cfg pipeline.RunConfig) (*reader, chan error) {
	store.table = newTable()
	src := &reader{t: t, log: records(events), chunk: 7, store: store}
	cfg.Dead = store
	done := make(chan error, 1)
	go func() { done <- pipeline.Run(ctx, src, newMachine(t, pipeline.Checkpoint{}), store, cfg) }()
	return src, done
}

// expect is what a stream leaves behind when nobody watches its silences but the last.
func expect(t *testing.T, events []event, want *table) {
	t.Helper()
	live(t, after(events, pipeline.Checkpoint{}), want, 50)
}

// TestRunWritesThenCommits runs a stream to its end and stops it.
func TestRunWritesThenCommits(t *testing.T) {
	for _, c := range []struct {
		name  string
		store *slowStore
		cfg   pipeline.RunConfig
	}{
		{"by time", &slowStore{}, pipeline.RunConfig{}},
		{"by rows", &slowStore{delay: 30 * time.Millisecond}, pipeline.RunConfig{MaxRows: 40}},
		{"every record", &slowStore{}, pipeline.RunConfig{MaxRows: 1}},
		{"after failures", &slowStore{failures: 5}, pipeline.RunConfig{MaxRows: 100}},
		{"slowly", &slowStore{delay: 3 * time.Second}, pipeline.RunConfig{MaxRows: 1000, Flush: time.Minute}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events := stream(3, 150)
				ctx, cancel := context.WithCancel(context.Background())
				src, done := start(t, ctx, events, c.store, c.cfg)
				time.Sleep(20 * time.Second) // the last silence is short of an idle close
				cancel()
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				want := newTable()
				expect(t, events, want)
				if d := c.store.diff(want); d != "" {
					t.Error(d)
				}
				last := src.committed[len(src.committed)-1]
				if end := src.log[len(src.log)-1].Offset + 1; last.Written != end {
					t.Errorf("the last commit is %d, want %d", last.Written, end)
				}
				if len(c.store.dead) == 0 {
					t.Error("the stream holds rubbish, but no dead letter was kept")
				}
			})
		})
	}
}

// TestRunClosesSilence wants the rows of the last ticks although no record follows.
func TestRunClosesSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := stream(3, 40)
		ctx, cancel := context.WithCancel(context.Background())
		var store slowStore
		src, done := start(t, ctx, events, &store, pipeline.RunConfig{})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		before := store.rowsSeen.Load()
		time.Sleep(60 * time.Second)
		synctest.Wait()
		if after := store.rowsSeen.Load(); after <= before {
			t.Errorf("%d rows before a minute of silence, %d after", before, after)
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if last := src.committed[len(src.committed)-1]; last.Watermark <= events[len(events)-1].record.Ingest {
			t.Errorf("watermark %d did not pass the last record", last.Watermark)
		}
	})
}

// TestRunWaitsForTheStore wants reading to stop while the store does not answer.
func TestRunWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		store := slowStore{hang: true}
		src, done := start(t, ctx, stream(3, 300), &store, pipeline.RunConfig{MaxRows: 50, Flush: 3 * time.Second})
		time.Sleep(time.Minute)
		cancel()
		start := time.Now()
		if err := <-done; err == nil {
			t.Error("Run says that all is stored")
		}
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("the last write was given %s, want 3s", d)
		}
		if src.fetched > 60 {
			t.Errorf("%d records were fetched with nothing stored", src.fetched)
		}
		if len(src.committed) > 0 {
			t.Errorf("commits %v without a write", src.committed)
		}
	})
}

// TestRunEndsWithTheSource wants the source's error, and no goroutine left behind.
func TestRunEndsWithTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{table: newTable()}
		src := &reader{t: t, store: store, fetchErr: errors.New("not the leader")}
		err := pipeline.Run(t.Context(), src, newMachine(t, pipeline.Checkpoint{}), store, pipeline.RunConfig{})
		if !errors.Is(err, src.fetchErr) {
			t.Errorf("got %v, want %v", err, src.fetchErr)
		}
	})
}

// TestRunHandsRowsOutAtOnce: at the end of the log a closed tick does not wait for its
// batch to grow old.
func TestRunHandsRowsOutAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{}
		ctx, cancel := context.WithCancel(context.Background())
		_, done := start(t, ctx, stream(3, 150), store, pipeline.RunConfig{MaxDelay: time.Hour})
		time.Sleep(time.Second) // four fetches that wait
		if store.rowsSeen.Load() == 0 {
			t.Error("no feature row was written within a second, although the log was read to its end")
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}
