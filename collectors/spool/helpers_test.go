package spool

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sextant/schema/wire"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("SPOOL_TEST_CHILD"); role != "" {
		os.Exit(child(role, os.Getenv("SPOOL_TEST_DIR")))
	}
	goleak.VerifyTestMain(m)
}

// numbered is the entry that a test appends as its n-th: recognisable, partly compressible
// and of varying size.
func numbered(n int) Entry {
	rnd := rand.New(rand.NewPCG(uint64(n), 7))
	noise := make([]byte, rnd.IntN(60))
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	return Entry{
		Node: "node-1", Target: fmt.Sprintf("node/host-%d:9100", n%3), Scrape: int64(1_700_000_000_000 + n),
		State:   wire.State(n % 3),
		Payload: append(bytes.Repeat([]byte(fmt.Sprintf("entry %d ", n)), 1+n%5), noise...),
	}
}

func mustOpen(t *testing.T, dir string, o Options) *Spool {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func mustClose(t *testing.T, s *Spool) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func appendAll(t *testing.T, s *Spool, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if seq, err := s.Append(numbered(n)); err != nil || seq != uint64(n) {
			t.Fatalf("Append = %d, %v; want %d", seq, err, n)
		}
	}
}

// offered waits until every append so far is offered.
func offered(t *testing.T, s *Spool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		s.mu.Lock()
		ok := s.visible == s.next
		s.mu.Unlock()
		if ok {
			return
		}
		<-s.Ready()
	}
	t.Fatal("entries were not offered")
}

// takeAll drains fresh and backlog without acknowledging.
func takeAll(t *testing.T, s *Spool) []Item {
	t.Helper()
	offered(t, s)
	var all []Item
	for {
		fresh, err := s.TakeFresh(1 << 10)
		if err != nil {
			t.Fatal(err)
		}
		old, err := s.TakeBacklog(1 << 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(fresh)+len(old) == 0 {
			return all
		}
		all = append(append(all, fresh...), old...)
	}
}

func seqs(items []Item) []uint64 {
	out := make([]uint64, len(items))
	for i, it := range items {
		out[i] = it.Seq
	}
	return out
}

func seqRange(from, to uint64) []uint64 {
	var out []uint64
	for ; from < to; from++ {
		out = append(out, from)
	}
	return out
}

func wantSeqs(t *testing.T, items []Item, want []uint64) {
	t.Helper()
	if got := seqs(items); !slices.Equal(got, want) {
		t.Fatalf("took %v, want %v", got, want)
	}
}

// wantNumbered checks that each item is what was appended under its number.
func wantNumbered(t *testing.T, items []Item) {
	t.Helper()
	for _, it := range items {
		if err := sameEntry(it.Entry, numbered(int(it.Seq))); err != nil {
			t.Fatalf("entry %d: %v", it.Seq, err)
		}
	}
}

func sameEntry(got, want Entry) error {
	if !bytes.Equal(got.Payload, want.Payload) {
		return fmt.Errorf("payload %q, want %q", got.Payload, want.Payload)
	}
	got.Payload, want.Payload = nil, nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("%v, want %v", got, want)
	}
	return nil
}
