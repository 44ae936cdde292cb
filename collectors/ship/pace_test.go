package ship

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sextant/collectors/spool"
	"sextant/pipeline/kafka"
	"sextant/schema/wire"
)

func TestPaceFollowsTheLink(t *testing.T) {
	p := newPace(1 << 20)
	for range 20 {
		p.sent(10 * time.Millisecond)
	}
	if p.bytes != 1<<20 {
		t.Fatalf("%d bytes on a fast link, want the limit", p.bytes)
	}
	for range 20 {
		p.sent(time.Second)
	}
	if p.bytes != minBacklogBatch {
		t.Fatalf("%d bytes on a slow link, want the least", p.bytes)
	}
	p.sent(70 * time.Millisecond)
	if p.bytes != minBacklogBatch {
		t.Fatalf("%d bytes after a batch of the right time, want no change", p.bytes)
	}
}

// link is a broker behind a line of some bandwidth and delay, in the time of the test.
type link struct {
	rtt    time.Duration
	perSec int // bytes
	broken bool

	mu    sync.Mutex
	sends int
	acked map[uint64]time.Time
}

func (l *link) Send(ctx context.Context, msgs []kafka.Message) []error {
	results := make([]error, len(msgs))
	size := 0
	for _, m := range msgs {
		size += len(m.Value)
	}
	sleep(ctx, l.rtt+time.Duration(size)*time.Second/time.Duration(l.perSec))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sends++
	for i, m := range msgs {
		e, err := wire.ParseEnvelope(m.Headers, nil)
		switch {
		case err != nil:
			panic(err)
		case l.broken:
			results[i] = errors.New("no route to host")
		case ctx.Err() != nil:
			results[i] = ctx.Err()
		default:
			l.acked[e.Seq] = time.Now()
		}
	}
	return results
}

func (l *link) set(broken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = broken
}

// While ten megabytes of backlog go over a line of one megabyte a second, the entries that
// are scraped meanwhile pass it.
func TestBacklogDoesNotDelayFreshEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const old, fresh, size = 1000, 40, 10_000
		s := openSpool(t, t.TempDir(), spool.Options{Fresh: 20 * time.Second, Sync: spool.SyncNone})
		appendEntries(t, s, 1, old+1, size)
		time.Sleep(21 * time.Second)
		l := &link{rtt: 20 * time.Millisecond, perSec: 1 << 20, acked: map[uint64]time.Time{}}
		stop := run(t, s, l, Options{})
		begin := time.Now()
		scraped := map[uint64]time.Time{}
		for n := old + 1; n <= old+fresh; n++ {
			scraped[uint64(n)] = time.Now()
			appendEntries(t, s, n, n+1, size)
			time.Sleep(200 * time.Millisecond)
		}
		l.mu.Lock()
		var worst time.Duration
		for seq, at := range scraped {
			worst = max(worst, l.acked[seq].Sub(at))
			if l.acked[seq].IsZero() {
				t.Errorf("fresh entry %d was not sent", seq)
			}
		}
		behind := len(l.acked) - fresh
		l.mu.Unlock()
		// Two batches at most: the one under way and its own.
		if worst > 350*time.Millisecond {
			t.Errorf("a fresh entry waited %s", worst)
		}
		if share := float64(behind*size) / (time.Since(begin).Seconds() * float64(l.perSec)); share < 0.5 {
			t.Errorf("backlog used %.0f %% of the line, want most of it", 100*share)
		}
		stop()
	})
}

// With the broker away for ten minutes the shipper tries now and then, and says so once.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openSpool(t, t.TempDir(), spool.Options{})
		l := &link{perSec: 1 << 30, broken: true, acked: map[uint64]time.Time{}}
		var log turns
		stop := run(t, s, l, Options{Logger: log.logger()})
		appendEntries(t, s, 1, 11, 100)
		time.Sleep(10 * time.Minute)
		l.mu.Lock()
		// Pauses are 2.5 to 5 s once they have grown.
		if l.sends < 120 || l.sends > 260 {
			t.Errorf("%d sends in 10 minutes", l.sends)
		}
		l.mu.Unlock()
		log.want(t, lost)
		l.set(false)
		time.Sleep(6 * time.Second)
		if s.Pending() != 0 {
			t.Errorf("%d pending after the recovery", s.Pending())
		}
		log.want(t, lost, recovered)
		stop()
	})
}

func TestOptionsReportEveryFault(t *testing.T) {
	s := openSpool(t, t.TempDir(), spool.Options{})
	for _, o := range []Options{{BatchBytes: 1}, {MinBackoff: -1}, {MinBackoff: time.Minute}, {Drain: -1}} {
		if _, err := New(s, &link{}, o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	reg := prometheus.NewRegistry()
	for i, want := range []bool{true, false} {
		if _, err := New(s, &link{}, Options{Registerer: reg}); (err == nil) != want {
			t.Errorf("New %d on one registry: %v", i, err)
		}
	}
}
