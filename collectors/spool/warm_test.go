package spool

import (
	"bytes"
	"os"
	"testing"
)

// What keeps up with the appends is handed out without the disk: here its bytes are spoilt
// in between. What falls behind, or comes back, is read, and found damaged.
func TestNewEntriesAreNotReadBack(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	appendAll(t, s, 1, 4)
	offered(t, s)
	s.mu.Lock()
	path, size := s.segs[0].path, s.segs[0].size
	s.mu.Unlock()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, size-headerSize), headerSize); err != nil {
		t.Fatal(err)
	}
	items := takeAll(t, s)
	wantSeqs(t, items, []uint64{1, 2, 3})
	wantNumbered(t, items)
	s.Ack(items[0], items[1])
	s.Return(items[2])
	if again := takeAll(t, s); len(again) != 0 || s.Dropped() != 1 {
		t.Errorf("took %v and dropped %d, want a damaged entry", seqs(again), s.Dropped())
	}
}

// The payload is the caller's again after Append.
func TestAPayloadMayBeReused(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	e := numbered(1)
	e.Payload = bytes.Clone(e.Payload)
	if _, err := s.Append(e); err != nil {
		t.Fatal(err)
	}
	clear(e.Payload)
	wantNumbered(t, takeAll(t, s))
}

// While nothing is taken, the memory stays within its bounds and the rest is on disk.
func TestMemoryIsBoundedWhileNothingIsTaken(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{Sync: SyncNone})
	const n = 2 * warmEntries
	appendAll(t, s, 1, n+1)
	big := Entry{Node: "node-1", Payload: make([]byte, warmBytes/2)}
	for range 8 {
		if _, err := s.Append(big); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	held, bytes := len(s.warm.held), s.warm.bytes
	s.mu.Unlock()
	if held > warmEntries || bytes > warmBytes || bytes < warmBytes/2 {
		t.Errorf("%d entries of %d bytes are held", held, bytes)
	}
	items := takeAll(t, s)
	if len(items) != n+8 {
		t.Fatalf("took %d entries, want %d", len(items), n+8)
	}
	wantNumbered(t, items[:n])
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.warm.held) != 0 || s.warm.bytes != 0 {
		t.Errorf("%d entries of %d bytes are held after all were taken", len(s.warm.held), s.warm.bytes)
	}
}
