package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestEntriesComeBackAsTheyWere(t *testing.T) {
	for _, policy := range []Sync{SyncInterval, SyncAlways, SyncNone} {
		t.Run(string(policy), func(t *testing.T) {
			s := mustOpen(t, t.TempDir(), Options{Sync: policy, SyncEvery: time.Millisecond})
			appendAll(t, s, 1, 100)
			items := takeAll(t, s)
			wantSeqs(t, items, seqRange(1, 100))
			wantNumbered(t, items)
			if more := takeAll(t, s); len(more) != 0 {
				t.Fatalf("took %v twice", seqs(more))
			}
		})
	}
}

// Numbers go on where they stopped, also when nothing is left of the entries that bore them.
func TestNumbersStayDenseOverRestarts(t *testing.T) {
	dir := t.TempDir()
	next := 1
	for round := range 6 {
		s := mustOpen(t, dir, Options{SegmentBytes: 600})
		appendAll(t, s, next, next+20)
		next += 20
		items := takeAll(t, s)
		wantSeqs(t, items, seqRange(uint64(next-20), uint64(next)))
		s.Ack(items...)
		if got := s.Oldest(); got != uint64(next) {
			t.Fatalf("round %d: oldest %d, want %d", round, got, next)
		}
		mustClose(t, s)
	}
	s := mustOpen(t, dir, Options{})
	if names, _ := filepath.Glob(filepath.Join(dir, "*.seg")); len(names) != 0 {
		t.Fatalf("settled segments stay: %v", names)
	}
	appendAll(t, s, next, next+1)
}

func TestAgentIDLivesAsLongAsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	id := s.Agent()
	appendAll(t, s, 1, 3)
	mustClose(t, s)
	if err := os.Remove(filepath.Join(dir, "agent")); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, Options{})
	if s.Agent() != id {
		t.Fatalf("agent %s after its file was lost, want %s from the segment", s.Agent(), id)
	}
	other := mustOpen(t, t.TempDir(), Options{})
	if other.Agent() == id {
		t.Fatal("two directories share an agent id")
	}
}

func TestSegmentOfAnotherSpoolIsRefused(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	sa, sb := mustOpen(t, a, Options{}), mustOpen(t, b, Options{})
	appendAll(t, sa, 1, 3)
	mustClose(t, sa)
	mustClose(t, sb)
	name := filepath.Base(segmentPath("", 1))
	if err := os.Rename(filepath.Join(a, name), filepath.Join(b, name)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(b, Options{}); err == nil || !strings.Contains(err.Error(), sa.Agent()) {
		t.Fatalf("Open = %v, want an error that names agent %s", err, sa.Agent())
	}
}

func TestSecondOpenNamesTheHolder(t *testing.T) {
	dir := t.TempDir()
	mustOpen(t, dir, Options{})
	_, err := Open(dir, Options{})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Fatalf("Open = %v, want ErrLocked with pid %d", err, os.Getpid())
	}
}

func TestWhatWasAcknowledgedStaysSo(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{SegmentBytes: 500})
	appendAll(t, s, 1, 31)
	items := takeAll(t, s)
	s.Ack(items[:10]...)
	s.Ack(items[20:25]...)
	mustClose(t, s)

	s = mustOpen(t, dir, Options{SegmentBytes: 500})
	if s.Oldest() != 11 || s.Pending() != 15 {
		t.Fatalf("oldest %d and %d pending, want 11 and 15", s.Oldest(), s.Pending())
	}
	left := takeAll(t, s)
	wantSeqs(t, left, append(seqRange(11, 21), seqRange(26, 31)...))
	wantNumbered(t, left)
}

func TestReturnedItemsKeepTheirNumbers(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	appendAll(t, s, 1, 11)
	items := takeAll(t, s)
	s.Ack(items[0], items[4])
	s.Return(items[1:4]...)
	s.Return(items[5:]...)
	again := takeAll(t, s)
	wantSeqs(t, again, append(seqRange(2, 5), seqRange(6, 11)...))
	wantNumbered(t, again)
}

// After an outage what was just scraped goes first, and what waited follows in order.
func TestFreshEntriesGoBeforeTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, t.TempDir(), Options{Fresh: 20 * time.Second})
		for n := 1; n <= 10; n++ {
			appendAll(t, s, n, n+1)
			time.Sleep(10 * time.Second)
		}
		fresh, err := s.TakeFresh(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		wantSeqs(t, fresh, []uint64{9, 10})
		appendAll(t, s, 11, 12)
		time.Sleep(time.Second)
		if fresh, err = s.TakeFresh(1 << 20); err != nil {
			t.Fatal(err)
		}
		wantSeqs(t, fresh, []uint64{11})
		old, err := s.TakeBacklog(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		wantSeqs(t, old, seqRange(1, 9))
	})
}

// An entry that waits too long while fresh becomes backlog by itself.
func TestReturnedFreshEntryAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, t.TempDir(), Options{Fresh: 20 * time.Second})
		appendAll(t, s, 1, 2)
		time.Sleep(time.Second)
		items, err := s.TakeFresh(1)
		if err != nil {
			t.Fatal(err)
		}
		wantSeqs(t, items, []uint64{1})
		time.Sleep(20 * time.Second)
		s.Return(items...)
		if items, err = s.TakeFresh(1); err != nil || len(items) != 0 {
			t.Fatalf("TakeFresh = %v, %v; want nothing", seqs(items), err)
		}
		if items, err = s.TakeBacklog(1); err != nil {
			t.Fatal(err)
		}
		wantSeqs(t, items, []uint64{1})
	})
}

func TestTakeKeepsToItsBytes(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{MaxBytes: 1 << 20})
	for range 5 {
		if _, err := s.Append(Entry{Node: "n", Payload: make([]byte, 1000)}); err != nil {
			t.Fatal(err)
		}
	}
	offered(t, s)
	for _, c := range []struct{ room, want int }{{3000, 2}, {1, 1}, {1 << 20, 2}, {1 << 20, 0}} {
		items, err := s.TakeFresh(c.room)
		if err != nil || len(items) != c.want {
			t.Fatalf("TakeFresh(%d) = %d items, %v; want %d", c.room, len(items), err, c.want)
		}
	}
}

func TestEntriesBeyondALimitAreRefused(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{MaxPayload: 100})
	for name, e := range map[string]Entry{
		"payload": {Node: "n", Payload: make([]byte, 101)},
		"no node": {Payload: []byte("x")},
		"node":    {Node: strings.Repeat("n", 256)},
		"target":  {Node: "n", Target: strings.Repeat("t", 1025)},
	} {
		if seq, err := s.Append(e); !errors.Is(err, ErrRefused) || seq != 0 {
			t.Errorf("%s: Append = %d, %v; want ErrRefused", name, seq, err)
		}
	}
	appendAll(t, s, 1, 2)
}

func TestOptionsReportEveryFault(t *testing.T) {
	_, err := Open(t.TempDir(), Options{MaxBytes: 1, SegmentBytes: -1, MaxPayload: -1, MemoryBytes: -1, MaxOversize: -1, SyncEvery: -1, Fresh: -1, Sync: "often"})
	for _, word := range []string{"spool size", "segment size", "payload limit", "memory size", "oversize cap", "sync interval", "fresh time", `sync policy "often"`} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("no word of %q in: %v", word, err)
		}
	}
}

// Appends from many goroutines share fsyncs, and each number is given out once.
func TestConcurrentAppends(t *testing.T) {
	const writers, each = 16, 50
	reg := prometheus.NewRegistry()
	s := mustOpen(t, t.TempDir(), Options{Sync: SyncAlways, SegmentBytes: 4000, Registerer: reg})
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[uint64]string{}
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				text := fmt.Sprintf("%d/%d", w, i)
				seq, err := s.Append(Entry{Node: "n", Payload: []byte(text)})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				got[seq] = text
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	items := takeAll(t, s)
	wantSeqs(t, items, seqRange(1, writers*each+1))
	for _, it := range items {
		if got[it.Seq] != string(it.Payload) {
			t.Fatalf("entry %d is %q, was appended as %q", it.Seq, it.Payload, got[it.Seq])
		}
	}
	if n := testutil.CollectAndCount(s.m.syncSeconds); n != 1 {
		t.Fatalf("%d sync histograms", n)
	}
}

func TestAppendAfterClose(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	mustClose(t, s)
	if _, err := s.Append(numbered(1)); !errors.Is(err, ErrClosed) {
		t.Fatalf("Append = %v, want ErrClosed", err)
	}
}
