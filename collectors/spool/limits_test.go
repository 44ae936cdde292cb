package spool

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// big is an entry of a little over 4 KiB on disk that does not compress.
func big(n int) Entry {
	e := numbered(n)
	e.Payload = make([]byte, 4096)
	x := uint64(n)
	for i := range e.Payload {
		x = x*6364136223846793005 + 1442695040888963407
		e.Payload[i] = byte(x >> 56)
	}
	return e
}

func TestOldestSegmentGoesAtTheCap(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	o := Options{MaxBytes: 128 << 10, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	s := mustOpen(t, dir, o)
	for n := 1; n <= 100; n++ {
		if _, err := s.Append(big(n)); err != nil {
			t.Fatal(err)
		}
		if got := diskBytes(t, dir); got > o.MaxBytes {
			t.Fatalf("%d bytes on disk after %d entries, cap %d", got, n, o.MaxBytes)
		}
	}
	dropped := s.Dropped()
	if dropped < 60 || dropped > 80 {
		t.Fatalf("dropped %d of 100 entries of 4 KiB at a cap of 128 KiB", dropped)
	}
	if got := testutil.ToFloat64(s.m.dropped.WithLabelValues("cap")); got != float64(dropped) {
		t.Fatalf("counter %v, dropped %d", got, dropped)
	}
	mustClose(t, s)
	if told := strings.Count(log.String(), "spool is full, the oldest entries are dropped"); told != 1 {
		t.Errorf("the full spool was told %d times, want once:\n%s", told, &log)
	}

	s = mustOpen(t, dir, o)
	if s.Dropped() != dropped || s.Oldest() != dropped+1 {
		t.Fatalf("dropped %d and oldest %d after a restart, want %d and %d", s.Dropped(), s.Oldest(), dropped, dropped+1)
	}
	wantSeqs(t, takeAll(t, s), seqRange(dropped+1, 101))
}

func diskBytes(t *testing.T, dir string) (n int64) {
	t.Helper()
	segs, err := listSegments(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range segs {
		n += s.size
	}
	return n
}

// What a shipper holds when its segment goes may still be delivered: it counts as dropped
// only when it comes back.
func TestHeldEntriesAreNotDroppedAtTheCap(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{MaxBytes: 128 << 10})
	for n := 1; n <= 2; n++ {
		if _, err := s.Append(big(n)); err != nil {
			t.Fatal(err)
		}
	}
	held := takeAll(t, s)
	wantSeqs(t, held, []uint64{1, 2})
	for n := 3; n <= 60; n++ {
		if _, err := s.Append(big(n)); err != nil {
			t.Fatal(err)
		}
	}
	before := s.Dropped()
	if before == 0 || s.Oldest() != 1 {
		t.Fatalf("dropped %d, oldest %d; want some and 1", before, s.Oldest())
	}
	s.Ack(held[0])
	if s.Dropped() != before || s.Oldest() != 2 {
		t.Fatalf("dropped %d, oldest %d after an ack; want %d and 2", s.Dropped(), s.Oldest(), before)
	}
	s.Return(held[1])
	if s.Dropped() != before+1 {
		t.Fatalf("dropped %d after a return, want %d", s.Dropped(), before+1)
	}
}

func TestSidelinedRecordsAreKeptWithTheirReason(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{MaxOversize: 10_000})
	appendAll(t, s, 1, 3)
	items := takeAll(t, s)
	if err := s.Sideline(items[0], errors.New("message of 2000000 bytes exceeds 1048576")); err != nil {
		t.Fatal(err)
	}
	s.Ack(items[1])
	if s.Dropped() != 1 || s.Oldest() != 3 {
		t.Fatalf("dropped %d, oldest %d; want 1 and 3", s.Dropped(), s.Oldest())
	}
	texts, _ := filepath.Glob(filepath.Join(dir, "oversize", "*.txt"))
	if len(texts) != 1 {
		t.Fatalf("reason files: %v", texts)
	}
	text, err := os.ReadFile(texts[0])
	if err != nil || !strings.Contains(string(text), "2000000") || !strings.Contains(string(text), items[0].Target) {
		t.Fatalf("reason %q, %v", text, err)
	}
	payload, err := os.ReadFile(strings.TrimSuffix(texts[0], ".txt") + ".rw2")
	if err != nil || string(payload) != string(items[0].Payload) {
		t.Fatalf("payload %q, %v", payload, err)
	}
}

func TestSidelineIsBounded(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{MaxOversize: 10_000})
	for n := 1; n <= 10; n++ {
		if _, err := s.Append(big(n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, it := range takeAll(t, s) {
		if err := s.Sideline(it, errors.New("too large")); err != nil {
			t.Fatal(err)
		}
	}
	var total int64
	files, err := os.ReadDir(filepath.Join(dir, "oversize"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 11_000 || len(files) < 3 {
		t.Fatalf("%d bytes in %d side-lined files, cap 10000 and the last reason", total, len(files))
	}
	if s.Dropped() != 10 {
		t.Fatalf("dropped %d, want 10", s.Dropped())
	}
}

// Acknowledged segments leave the disk while the spool runs, also those behind a gap.
func TestSettledSegmentsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{SegmentBytes: 500, SyncEvery: time.Millisecond})
	appendAll(t, s, 1, 101)
	items := takeAll(t, s)
	s.Ack(items[1:]...)
	onDisk := func() int {
		names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	for deadline := time.Now().Add(10 * time.Second); onDisk() > 2; {
		if time.Now().After(deadline) {
			t.Fatalf("%d segments on disk, want the first and the last", onDisk())
		}
	}
	s.Return(items[0])
	again := takeAll(t, s)
	wantSeqs(t, again, []uint64{1})
	wantNumbered(t, again)
	s.mu.Lock()
	bytes := s.bytes
	s.mu.Unlock()
	if got := diskBytes(t, dir); got != bytes {
		t.Fatalf("%d bytes on disk, %d counted", got, bytes)
	}
}

// TestReceivedPushesOutNothing floods a spool with entries of others, with nobody to take them: each
// scrape of the agent's own stays, and the sender is told.
func TestReceivedPushesOutNothing(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{MaxBytes: 256 << 10})
	own, refused := 0, 0
	for n := 1; n <= 300; n++ {
		e := big(n)
		if e.Received = n%12 != 0; !e.Received {
			own++
		}
		switch _, err := s.Append(e); {
		case errors.Is(err, ErrShare) && e.Received:
			refused++
		case err != nil:
			t.Fatal(err)
		}
	}
	if refused < 200 || s.Dropped() != 0 {
		t.Fatalf("%d received entries refused, %d dropped, want most and none", refused, s.Dropped())
	}
	if got := testutil.ToFloat64(s.m.shared); got != float64(refused) {
		t.Errorf("counter %v, refused %d", got, refused)
	}
	if kept := len(takeAll(t, s)); kept != 300-refused || own != 25 {
		t.Errorf("%d entries kept, %d of them own, want %d", kept, own, 300-refused)
	}
	if _, err := s.Append(Entry{Node: "n", Payload: big(1).Payload}); err != nil {
		t.Errorf("an entry of the agent's own: %v", err)
	}
}
