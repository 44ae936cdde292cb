package ship

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sextant/collectors/spool"
	"sextant/internal/embedded/broker"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

const topic = "telemetry.test"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startBroker serves dir on addr, "" for any free port.
func startBroker(t *testing.T, dir, addr string) *broker.Broker {
	t.Helper()
	b, err := broker.Start(t.Context(), broker.Config{
		Dir: dir, Addr: addr, Logger: quiet,
		Topics: []topics.Topic{{Name: topic, Partitions: 1, Replication: 1,
			Config: map[string]string{"max.message.bytes": "2097152", "message.timestamp.type": "LogAppendTime"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var quiet = slog.New(slog.DiscardHandler)

func closeBroker(t *testing.T, b *broker.Broker) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// freeAddr is a loopback address on which nothing listens yet.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func newProducer(t *testing.T, addr string) *kafka.Producer {
	t.Helper()
	p, err := kafka.NewProducer(kafka.Config{Brokers: []string{addr}}, kafka.ProducerOptions{Topic: topic})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func openSpool(t *testing.T, dir string, o spool.Options) *spool.Spool {
	t.Helper()
	o.Logger = quiet
	s, err := spool.Open(dir, o)
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

func entry(n int, size int) spool.Entry {
	return spool.Entry{
		Node: "node-1", Target: "node/n1:9100", Scrape: time.Now().UnixMilli(), State: wire.StatePartial,
		Payload: append(fmt.Appendf(nil, "%d:", n), bytes.Repeat([]byte{byte(n)}, size)...),
	}
}

// appendEntries appends the entries from ≤ n < to; the numbers are those of the spool.
func appendEntries(t *testing.T, s *spool.Spool, from, to, size int) {
	t.Helper()
	for n := from; n < to; n++ {
		if seq, err := s.Append(entry(n, size)); err != nil || seq != uint64(n) {
			t.Fatalf("Append = %d, %v; want %d", seq, err, n)
		}
	}
}

// run ships until the returned function is called, which says how long stopping took.
func run(t *testing.T, s *spool.Spool, p Producer, o Options) (stop func() time.Duration) {
	t.Helper()
	if o.Logger == nil {
		o.Logger = quiet
	}
	sh, err := New(s, p, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := sh.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	stop = sync.OnceValue(func() time.Duration {
		begin := time.Now()
		cancel()
		wg.Wait()
		return time.Since(begin)
	})
	t.Cleanup(func() { stop() })
	return stop
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-tick.C {
		if ok() {
			return
		}
	}
	t.Fatalf("not within 30 s: %s", what)
}

// arrived is what a broker holds, in order.
type arrived struct {
	envelopes []wire.Envelope
	payloads  []string
}

func (a arrived) seqs() []uint64 {
	var out []uint64
	for _, e := range a.envelopes {
		out = append(out, e.Seq)
	}
	return out
}

// readAll reads the topic from its beginning until it has each of the numbers 1 to last.
func readAll(t *testing.T, addr string, last int) arrived {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var a arrived
	seen := map[uint64]bool{}
	err := kafka.Consume(ctx, kafka.Config{Brokers: []string{addr}},
		kafka.ConsumerOptions{Group: fmt.Sprint("reader-", time.Now().UnixNano()), Topic: topic, Logger: quiet},
		func(ctx context.Context, p *kafka.Partition) error {
			for ctx.Err() == nil {
				records, err := p.Fetch(ctx)
				if err != nil {
					return err
				}
				for _, r := range records {
					e, err := wire.ParseEnvelope(r.Headers, nil)
					if err != nil || string(r.Key) != e.Node {
						return fmt.Errorf("record %d with key %s: %w", r.Offset, r.Key, err)
					}
					a.envelopes = append(a.envelopes, e)
					a.payloads = append(a.payloads, string(r.Value))
					seen[e.Seq] = true
				}
				if len(seen) >= last && p.Lag() == 0 {
					cancel()
				}
			}
			return nil
		})
	if err != nil || len(seen) < last {
		t.Fatalf("read %d of %d numbers: %v: %v", len(seen), last, err, a.seqs())
	}
	return a
}

// wantOnce checks that each number from 1 to last came exactly once.
func wantOnce(t *testing.T, a arrived, last int) {
	t.Helper()
	got := a.seqs()
	slices.Sort(got)
	for i, seq := range got {
		if seq != uint64(i+1) || len(got) != last {
			t.Fatalf("numbers %v, want 1 to %d once each", got, last)
		}
	}
}

// turns collects the messages that are logged.
type turns struct {
	mu   sync.Mutex
	said []string
}

func (l *turns) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.MessageKey {
			return a
		}
		return slog.Attr{}
	}}))
}

func (l *turns) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, string(bytes.TrimSpace(b)))
	return len(b), nil
}

func (l *turns) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.said)
}

func (l *turns) want(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.said, want) {
		t.Fatalf("logged %q, want %q", l.said, want)
	}
}
