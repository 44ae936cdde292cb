package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"sextant/pipeline/kafka"
	"sextant/schema/wire"
)

// messages returns n messages of as many nodes, numbered from first in the sx-seq header.
func messages(first, n, nodes int) []kafka.Message {
	msgs := make([]kafka.Message, n)
	for i := range msgs {
		seq := first + i
		msgs[i] = kafka.Message{
			Key:     []byte(fmt.Sprintf("node-%d", seq%nodes)),
			Value:   []byte(fmt.Sprintf("value %d", seq)),
			Headers: []wire.Header{{Key: "sx-v", Value: []byte("1")}, {Key: "sx-seq", Value: []byte(strconv.Itoa(seq))}},
		}
	}
	return msgs
}

func seqOf(r wire.Record) int {
	n, _ := strconv.Atoi(string(r.Headers[1].Value))
	return n
}

// sink is a consumer's memory: what it saw, and how often.
type sink struct {
	mu   sync.Mutex
	seen map[int]int
}

func newSink() *sink { return &sink{seen: map[int]int{}} }

func (s *sink) add(rs []wire.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rs {
		s.seen[seqOf(r)]++
	}
}

func (s *sink) distinct() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

func (s *sink) count(seq int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[seq]
}

// drain reads into the sink and commits behind every batch, until ctx ends.
func (s *sink) drain(ctx context.Context, p *kafka.Partition) error {
	next, _ := p.Start()
	for {
		rs, err := p.Fetch(ctx)
		if err != nil {
			return errors.Join(err, p.Commit(ctx, next, "w="+strconv.FormatInt(next, 10)))
		}
		if len(rs) == 0 {
			continue
		}
		s.add(rs)
		next = rs[len(rs)-1].Offset + 1
		if err := p.Commit(ctx, next, "w="+strconv.FormatInt(next, 10)); err != nil {
			return err
		}
	}
}

// consume runs a member of the group until stop is called, which waits for its end.
func consume(t testing.TB, cfg kafka.Config, group, topic string, run kafka.Run) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- kafka.Consume(ctx, cfg, kafka.ConsumerOptions{Group: group, Topic: topic, Logger: quiet}, run)
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("consume: %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Error("Consume does not end")
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

func TestRecordsArriveOnceInOrderWithTheirHeaders(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic := newTopic(t, cfg, 3, nil)
		p := newProducer(t, cfg, topic)
		const n = 1000
		before := time.Now().UnixMilli()
		if err := sendAll(t.Context(), p, messages(0, n, 50)); err != nil {
			t.Fatal(err)
		}
		s := newSink()
		var mu sync.Mutex
		parts := map[string]int32{}
		var lag int64
		stop := consume(t, cfg, unique("g"), topic, func(ctx context.Context, p *kafka.Partition) error {
			var last int64 = -1
			for {
				rs, err := p.Fetch(ctx)
				if err != nil {
					return err
				}
				for _, r := range rs {
					seq := seqOf(r)
					if string(r.Key) != fmt.Sprintf("node-%d", seq%50) || string(r.Value) != fmt.Sprintf("value %d", seq) ||
						r.Headers[0].Key != "sx-v" || r.Partition != p.ID() || r.Offset <= last {
						t.Errorf("record %+v after offset %d of partition %d", r, last, p.ID())
					}
					if now := time.Now().UnixMilli(); r.Ingest < before || r.Ingest > now {
						t.Errorf("ingest time %d is not in %d..%d", r.Ingest, before, now)
					}
					last = r.Offset
					mu.Lock()
					if at, ok := parts[string(r.Key)]; ok && at != r.Partition {
						t.Errorf("%s is in partitions %d and %d", r.Key, at, r.Partition)
					}
					parts[string(r.Key)] = r.Partition
					mu.Unlock()
				}
				s.add(rs)
				mu.Lock()
				lag = p.Lag()
				mu.Unlock()
			}
		})
		eventually(t, 20*time.Second, "all records", func() bool { return s.distinct() == n })
		stop()
		if lag != 0 {
			t.Errorf("lag of %d behind the last record", lag)
		}
		for seq, times := range s.seen {
			if times != 1 {
				t.Errorf("record %d came %d times", seq, times)
			}
		}
		if len(parts) != 50 {
			t.Errorf("%d nodes, want 50", len(parts))
		}
	})
}

func TestIngestIsTheBrokersClock(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic := newTopic(t, cfg, 1, nil)
		// A producer whose clock is an hour slow. The embedded broker keeps the distances
		// within a batch, Apache Kafka does not.
		old, apart := time.Now().Add(-time.Hour), time.Minute
		if strings.HasSuffix(t.Name(), "embedded") {
			apart = 0
		}
		transport := &kafkago.Transport{}
		defer transport.CloseIdleConnections()
		other := &kafkago.Client{Addr: kafkago.TCP(cfg.Brokers...), Transport: transport}
		before := time.Now().UnixMilli()
		for _, codec := range []kafkago.Compression{0, kafkago.Gzip, kafkago.Snappy, kafkago.Lz4, kafkago.Zstd} {
			res, err := other.Produce(t.Context(), &kafkago.ProduceRequest{
				Topic: topic, RequiredAcks: kafkago.RequireAll, Compression: codec,
				Records: kafkago.NewRecordReader(
					kafkago.Record{Time: old, Value: kafkago.NewBytes([]byte(codec.String()))},
					kafkago.Record{Time: old.Add(apart), Value: kafkago.NewBytes([]byte(codec.String()))}),
			})
			if err != nil || res.Error != nil {
				t.Fatal(codec, err, res)
			}
		}
		got := make(chan wire.Record, 16)
		consume(t, cfg, unique("g"), topic, func(ctx context.Context, p *kafka.Partition) error {
			for {
				rs, err := p.Fetch(ctx)
				if err != nil {
					return err
				}
				for _, r := range rs {
					r.Value = append([]byte(nil), r.Value...)
					got <- r
				}
			}
		})
		for range 10 {
			select {
			case r := <-got:
				if r.Ingest < before || r.Ingest > time.Now().UnixMilli() {
					t.Errorf("%s: ingest %s, the broker appended it after %s", r.Value, time.UnixMilli(r.Ingest), time.UnixMilli(before))
				}
			case <-time.After(20 * time.Second):
				t.Fatal("records do not arrive")
			}
		}
	})
}

func TestRestartGoesOnFromTheCommitWithItsMetadata(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic, group := newTopic(t, cfg, 2, nil), unique("g")
		p := newProducer(t, cfg, topic)
		first := newSink()
		stop := consume(t, cfg, group, topic, first.drain)
		if err := sendAll(t.Context(), p, messages(0, 300, 20)); err != nil {
			t.Fatal(err)
		}
		eventually(t, 20*time.Second, "the first 300", func() bool { return first.distinct() == 300 })
		stop()
		if err := sendAll(t.Context(), p, messages(300, 100, 20)); err != nil {
			t.Fatal(err)
		}

		second := newSink()
		var mu sync.Mutex
		starts := map[int32]string{}
		consume(t, cfg, group, topic, func(ctx context.Context, p *kafka.Partition) error {
			offset, meta := p.Start()
			mu.Lock()
			starts[p.ID()] = fmt.Sprintf("%d %s", offset, meta)
			mu.Unlock()
			if want := "w=" + strconv.FormatInt(offset, 10); meta != want {
				t.Errorf("partition %d starts at %d with metadata %q, want %q", p.ID(), offset, meta, want)
			}
			return second.drain(ctx, p)
		})
		eventually(t, 20*time.Second, "the next 100", func() bool { return second.distinct() >= 100 })
		for seq := range maps.Keys(second.seen) {
			if seq < 300 {
				t.Errorf("record %d was committed and came again", seq)
			}
		}
		if len(starts) != 2 {
			t.Errorf("starts %v, want two", starts)
		}
	})
}

func TestAnOldGenerationCannotCommit(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic, group := newTopic(t, cfg, 1, nil), unique("g")
		var (
			mu   sync.Mutex
			held []*kafka.Partition
		)
		// Each run ends at once, so that the group goes through generations.
		stop := consume(t, cfg, group, topic, func(ctx context.Context, p *kafka.Partition) error {
			mu.Lock()
			held = append(held, p)
			n := len(held)
			mu.Unlock()
			if n == 1 {
				return nil
			}
			if err := p.Commit(ctx, 7, "new"); err != nil {
				t.Errorf("the current generation: %v", err)
			}
			mu.Lock()
			old := held[0]
			mu.Unlock()
			if err := old.Commit(ctx, 3, "old"); !errors.Is(err, kafka.ErrFenced) {
				t.Errorf("commit of an old generation: %v, want ErrFenced", err)
			}
			mu.Lock()
			held = append(held, nil) // done
			mu.Unlock()
			<-ctx.Done()
			return nil
		})
		eventually(t, 20*time.Second, "a second generation", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(held) >= 3
		})
		stop()
	})
}
