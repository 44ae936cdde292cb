package ship

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sextant/collectors/spool"
	"sextant/pipeline/kafka"
)

const (
	lost      = `msg="broker lost, entries wait in the spool"`
	recovered = `msg="broker recovered"`
)

func TestEachEntryArrivesOnceWithItsFacts(t *testing.T) {
	b := startBroker(t, t.TempDir(), "")
	defer closeBroker(t, b)
	s := openSpool(t, t.TempDir(), spool.Options{})
	run(t, s, newProducer(t, b.Addr()), Options{})
	appendEntries(t, s, 1, 201, 500)
	eventually(t, "all acknowledged", func() bool { return s.Oldest() == 201 })

	a := readAll(t, b.Addr(), 200)
	wantOnce(t, a, 200)
	for i, e := range a.envelopes {
		want := entry(int(e.Seq), 500)
		if e.Agent != s.Agent() || e.Target != want.Target || e.State != want.State || e.Scrape == 0 || e.Dropped != 0 {
			t.Fatalf("envelope %+v", e)
		}
		if e.Oldest < 1 || e.Oldest > e.Seq || (i > 0 && e.Oldest < a.envelopes[i-1].Oldest) {
			t.Fatalf("oldest %d of number %d after %+v", e.Oldest, e.Seq, a.envelopes[max(i-1, 0)])
		}
		if a.payloads[i] != string(want.Payload) {
			t.Fatalf("payload of %d is %q", e.Seq, a.payloads[i])
		}
	}
}

// gate refuses while it is shut. When there is something to happen then, it happens during
// a refused Send, so before the next one is put together, and the gate opens.
type gate struct {
	Producer
	shut atomic.Bool
	then atomic.Pointer[func()]
}

func (g *gate) Send(ctx context.Context, msgs []kafka.Message) []error {
	if !g.shut.Load() {
		return g.Producer.Send(ctx, msgs)
	}
	if then := g.then.Load(); then != nil {
		(*then)()
		g.shut.Store(false)
	}
	results := make([]error, len(msgs))
	for i := range results {
		results[i] = errors.New("not yet")
	}
	return results
}

// The broker is away at the start, comes, goes, and comes back. Nothing is lost, nothing
// comes twice, what is fresh then goes first, and each turn is one line in the log.
func TestBrokerAwayAtStartAndLater(t *testing.T) {
	const fresh = 3 * time.Second
	dir, addr := t.TempDir(), freeAddr(t)
	s := openSpool(t, t.TempDir(), spool.Options{Fresh: fresh, SegmentBytes: 8 << 10, Sync: spool.SyncAlways})
	var log turns
	g := &gate{Producer: newProducer(t, addr)}
	stop := run(t, s, g, Options{MaxBackoff: 200 * time.Millisecond, Logger: log.logger()})

	appendEntries(t, s, 1, 51, 500)
	eventually(t, "the start without a broker is noted", func() bool { return log.count() == 1 })
	b := startBroker(t, dir, addr)
	eventually(t, "the first entries", func() bool { return s.Pending() == 0 })

	closeBroker(t, b)
	appendEntries(t, s, 51, 101, 500)
	aged := time.Now().Add(fresh)
	eventually(t, "the loss is noted", func() bool { return log.count() == 3 })
	eventually(t, "the backlog is no longer fresh", func() bool { return time.Now().After(aged) })
	g.shut.Store(true)
	b = startBroker(t, dir, addr)
	then := func() {
		for n := 101; n <= 110; n++ {
			if _, err := s.Append(entry(n, 500)); err != nil {
				t.Error(err)
			}
		}
	}
	g.then.Store(&then)
	eventually(t, "all entries", func() bool { return s.Oldest() == 111 })
	stop()
	defer closeBroker(t, b)

	a := readAll(t, addr, 110)
	order := a.seqs()
	wantOnce(t, a, 110)
	if !slices.Equal(order[50:60], []uint64{101, 102, 103, 104, 105, 106, 107, 108, 109, 110}) {
		t.Fatalf("fresh entries did not go first: %v", order[50:])
	}
	if !slices.IsSorted(order[60:]) {
		t.Fatalf("backlog out of order: %v", order[60:])
	}
	log.want(t, lost, recovered, lost, recovered)
}

// deaf sends for real, and loses the answer.
type deaf struct {
	Producer
	mu   sync.Mutex
	left int // answers that are still lost
}

func (d *deaf) Send(ctx context.Context, msgs []kafka.Message) []error {
	results := d.Producer.Send(ctx, msgs)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == 0 {
		return results
	}
	d.left--
	for i := range results {
		results[i] = context.DeadlineExceeded
	}
	return results
}

// A record whose answer was lost is sent again under its number with the same bytes, also
// by the next process.
func TestUnknownOutcomeKeepsTheNumber(t *testing.T) {
	b := startBroker(t, t.TempDir(), "")
	defer closeBroker(t, b)
	dir := t.TempDir()
	s := openSpool(t, dir, spool.Options{})
	appendEntries(t, s, 1, 31, 500)
	d := &deaf{Producer: newProducer(t, b.Addr()), left: 2}
	stop := run(t, s, d, Options{MinBackoff: time.Hour, MaxBackoff: time.Hour})
	eventually(t, "one lost answer", func() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.left == 1 })
	stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = openSpool(t, dir, spool.Options{})
	run(t, s, d, Options{})
	eventually(t, "all acknowledged", func() bool { return s.Oldest() == 31 })
	a := readAll(t, b.Addr(), 30)
	count := map[uint64]int{}
	for i, e := range a.envelopes {
		count[e.Seq]++
		if a.payloads[i] != string(entry(int(e.Seq), 500).Payload) {
			t.Fatalf("number %d with another payload", e.Seq)
		}
	}
	if count[1] != 3 || len(count) != 30 {
		t.Fatalf("copies by number: %v, want 3 of the first", count)
	}
}

func TestTooLargeRecordIsSidelined(t *testing.T) {
	b := startBroker(t, t.TempDir(), "")
	defer closeBroker(t, b)
	dir := t.TempDir()
	s := openSpool(t, dir, spool.Options{})
	appendEntries(t, s, 1, 3, 100)
	appendEntries(t, s, 3, 4, 3<<20)
	appendEntries(t, s, 4, 6, 100)
	run(t, s, newProducer(t, b.Addr()), Options{})
	eventually(t, "all settled", func() bool { return s.Oldest() == 6 })
	appendEntries(t, s, 6, 7, 100)
	eventually(t, "the last settled", func() bool { return s.Oldest() == 7 })

	a := readAll(t, b.Addr(), 5)
	if got := a.seqs(); !slices.Equal(got, []uint64{1, 2, 4, 5, 6}) {
		t.Fatalf("numbers %v", got)
	}
	if last := a.envelopes[4]; last.Dropped != 1 || last.Oldest != 6 {
		t.Fatalf("envelope after a side-lined record: %+v", last)
	}
	kept, _ := filepath.Glob(filepath.Join(dir, "oversize", "*.rw2"))
	if len(kept) != 1 {
		t.Fatalf("side-lined files: %v", kept)
	}
	if info, err := os.Stat(kept[0]); err != nil || info.Size() < 3<<20 {
		t.Fatalf("side-lined payload: %v, %v", info, err)
	}
}

// A broker that accepts connections and never answers must not hold up the stop.
func TestStopWithAHungBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	connected := make(chan struct{}, 100)
	wg.Go(func() {
		var open []net.Conn
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				break
			}
			if err != nil {
				t.Error(err)
				break
			}
			open = append(open, c)
			connected <- struct{}{}
		}
		for _, c := range open {
			c.Close()
		}
	})
	defer l.Close()
	s := openSpool(t, t.TempDir(), spool.Options{})
	var log turns
	stop := run(t, s, newProducer(t, l.Addr().String()), Options{Logger: log.logger()})
	appendEntries(t, s, 1, 11, 100)
	<-connected
	if took := stop(); took > 2*time.Second {
		t.Fatalf("stopping took %s", took)
	}
	if s.Pending() != 10 {
		t.Fatalf("%d pending, want 10", s.Pending())
	}
	log.want(t)
}
