package clickhouse

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sextant/features"
)

// waitFor polls until ok, for as long as a slow machine may need.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// throughProxy opens the migrated database of the test once more, through a proxy.
func throughProxy(t *testing.T) (direct, db *DB, p *proxy, log *lockedBuffer) {
	t.Helper()
	direct = openDB(t)
	p = newProxy(t)
	c := direct.cfg
	c.Addr = []string{p.addr()}
	log = &lockedBuffer{}
	db, err := Open(t.Context(), c, newLog(log), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return direct, db, p, log
}

func TestWriteOutlastsAnOutage(t *testing.T) {
	direct, db, p, log := throughProxy(t)
	s := newSink(t, db)
	p.down.Store(true)
	p.breakAll()
	done := make(chan error, 1)
	go func() { done <- s.Write(context.Background(), testBatch(1, 1, 10)) }()
	retries := func() float64 { return testutil.ToFloat64(db.metrics.retries.WithLabelValues("series")) }
	waitFor(t, "three tries", func() bool { return retries() >= 3 })
	if got := testutil.ToFloat64(db.metrics.pending); got != 21 {
		t.Errorf("%v rows pending, want 21", got)
	}
	p.down.Store(false)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var rows uint64
	one(t, direct, "SELECT count() FROM {db}.samples", &rows)
	if rows != 10 {
		t.Errorf("%d rows, want 10", rows)
	}
	if n, m := strings.Count(log.String(), "takes no rows"), strings.Count(log.String(), "takes rows again"); n != 1 || m != 1 {
		t.Errorf("an outage is two lines of log, got %d and %d:\n%s", n, m, log)
	}
	if got := testutil.ToFloat64(db.metrics.pending); got != 0 {
		t.Errorf("%v rows pending after all", got)
	}
}

// The engine stored the rows, and the answer got lost: the retry must not store them again.
func TestLostAnswerLeavesNoCopy(t *testing.T) {
	direct, db, p, _ := throughProxy(t)
	s := newSink(t, db)
	b := testBatch(1, 1, 10)
	b.Series = nil // samples are the first insert
	p.cut.Store(1)
	if err := s.Write(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	if got := testutil.ToFloat64(db.metrics.retries.WithLabelValues("samples")); got < 1 {
		t.Fatalf("%v retries: no answer was lost", got)
	}
	var rows, ledger uint64
	one(t, direct, "SELECT (SELECT count() FROM {db}.samples), (SELECT count() FROM {db}.ingest_ledger)", &rows, &ledger)
	if rows != 10 || ledger != 1 {
		t.Errorf("%d rows and %d ledger rows, want 10 and 1: without FINAL", rows, ledger)
	}
}

func TestWriterMayLeave(t *testing.T) {
	_, db, p, _ := throughProxy(t)
	s := newSink(t, db)
	p.down.Store(true)
	p.breakAll()
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() { left <- s.Write(ctx, testBatch(1, 1, 10)) }()
	waitFor(t, "a try", func() bool { return testutil.ToFloat64(db.metrics.retries.WithLabelValues("series")) >= 1 })
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "telemetry.samples/1@1-1: not known to be stored") {
		t.Errorf("%v", err)
	}
	// Nobody waits for the first batch now: it must not hold up the next.
	p.down.Store(false)
	if err := s.Write(context.Background(), testBatch(2, 1, 10)); err != nil {
		t.Fatal(err)
	}
}

func TestCloseGivesWritersBack(t *testing.T) {
	_, db, p, _ := throughProxy(t)
	s := newSink(t, db)
	p.down.Store(true)
	p.breakAll()
	done := make(chan error, 2)
	for node := uint64(1); node <= 2; node++ {
		go func() { done <- s.Write(context.Background(), testBatch(node, 1, 10)) }()
	}
	waitFor(t, "a try", func() bool { return testutil.ToFloat64(db.metrics.retries.WithLabelValues("series")) >= 1 })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
	}
	if err := s.Write(context.Background(), testBatch(3, 1, 10)); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

func TestOpenWaitsForTheServer(t *testing.T) {
	p := newProxy(t)
	p.down.Store(true)
	c := testConfig(t)
	c.Addr = []string{p.addr()}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, c, slog.New(slog.DiscardHandler), nil); err == nil || !strings.Contains(err.Error(), "gave up after") || !strings.Contains(err.Error(), p.addr()) {
		t.Errorf("server away: %v", err)
	}
	opened := make(chan error, 1)
	log := &lockedBuffer{}
	go func() {
		db, err := Open(t.Context(), c, newLog(log), prometheus.NewRegistry())
		if err == nil {
			err = db.Close()
		}
		opened <- err
	}()
	waitFor(t, "a line of log", func() bool { return strings.Contains(log.String(), "does not answer") })
	p.down.Store(false)
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// A batch whose columns differ in length is refused before it can break the connection.
func TestRaggedBatchIsRefused(t *testing.T) {
	db := openDB(t)
	s := newSink(t, db)
	b := testBatch(1, 1, 3)
	b.Samples.Flags = b.Samples.Flags[:2]
	if err := s.Write(t.Context(), b); err == nil || !strings.Contains(err.Error(), "3 series, 3 times, 3 values, 2 flags") {
		t.Errorf("samples: %v", err)
	}
	b = testBatch(1, 1, 3)
	r := testRows(testView(), "n1", t0, 1)
	r.Cols[4].Str = nil
	b.Rows = []*features.Rows{r}
	if err := s.Write(t.Context(), b); err == nil || !strings.Contains(err.Error(), "0 values of kernel for 1 rows") {
		t.Errorf("rows: %v", err)
	}
	if got := testutil.ToFloat64(db.metrics.refused); got != 2 {
		t.Errorf("%v refused, want 2", got)
	}
}
