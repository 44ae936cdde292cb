package kafka_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"sextant/internal/embedded/broker"
	"sextant/internal/testkit/kafkatest"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

// produceUntil sends numbered records, a few dozen at a time, until stop is closed. It
// returns how many were acknowledged: all numbers below.
func produceUntil(ctx context.Context, p *kafka.Producer, stop <-chan struct{}) (int, error) {
	for n := 0; ; n += 40 {
		select {
		case <-stop:
			return n, nil
		case <-time.After(5 * time.Millisecond): // a stream, not a flood
		}
		if err := sendAll(ctx, p, messages(n, 40, 30)); err != nil {
			return n, err
		}
	}
}

// A broker dies in mid-stream and comes back. Every record that the producer was told is
// stored must reach the consumer.
func TestNothingAcknowledgedIsLostWhenApacheKafkaIsKilled(t *testing.T) {
	a, err := kafkatest.StartApache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
	})
	survivesCrashes(t, a.Addr(), 1, func() {
		if err := a.Kill9(); err != nil {
			t.Fatal(err)
		}
		if err := a.Start(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNothingAcknowledgedIsLostWhenTheEmbeddedBrokerRestarts(t *testing.T) {
	ports, err := kafkatest.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	conf := broker.Config{Dir: t.TempDir(), Addr: fmt.Sprintf("127.0.0.1:%d", ports[0]), Logger: quiet}
	b, err := broker.Start(t.Context(), conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	survivesCrashes(t, b.Addr(), 2, func() {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if b, err = broker.Start(t.Context(), conf); err != nil {
			t.Fatal(err)
		}
	})
}

func survivesCrashes(t *testing.T, addr string, crashes int, crash func()) {
	cfg := kafka.Config{Brokers: []string{addr}}
	topic := newTopic(t, cfg, 3, nil)
	p := newProducer(t, cfg, topic)
	s := newSink()
	leave := consume(t, cfg, unique("g"), topic, s.drain)

	stop := make(chan struct{})
	var acked int
	var failed error
	var producing sync.WaitGroup
	producing.Go(func() { acked, failed = produceUntil(t.Context(), p, stop) })
	for range crashes {
		before := s.distinct()
		eventually(t, 60*time.Second, "the stream flows", func() bool { return s.distinct() > before+200 })
		crash()
	}
	before := s.distinct()
	eventually(t, 60*time.Second, "the stream flows again", func() bool { return s.distinct() > before+200 })
	close(stop)
	producing.Wait()
	if failed != nil {
		t.Fatal(failed)
	}
	eventually(t, 60*time.Second, "all acknowledged records", func() bool { return s.distinct() >= acked })
	leave()
	missing := 0
	for seq := range acked {
		if s.count(seq) == 0 {
			missing++
		}
	}
	if missing > 0 || acked == 0 {
		t.Errorf("%d of %d acknowledged records are missing", missing, acked)
	}
	t.Logf("%d records acknowledged over %d crashes, none missing", acked, crashes)
}

// Members come and go while records flow. Each record must be seen, and the group must
// end with commits at the end of every partition.
func TestMembersComeAndGo(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic, group := newTopic(t, cfg, 6, nil), unique("g")
		p := newProducer(t, cfg, topic)
		s := newSink()
		stop := make(chan struct{})
		var acked int
		var failed error
		var producing sync.WaitGroup
		producing.Go(func() { acked, failed = produceUntil(t.Context(), p, stop) })

		flows := func() {
			before := s.distinct()
			eventually(t, 40*time.Second, "the stream flows", func() bool { return s.distinct() > before+100 })
		}
		a := consume(t, cfg, group, topic, s.drain)
		flows()
		b := consume(t, cfg, group, topic, s.drain)
		flows()
		a()
		flows()
		c := consume(t, cfg, group, topic, s.drain)
		flows()
		b()
		flows()
		close(stop)
		producing.Wait()
		if failed != nil {
			t.Fatal(failed)
		}
		eventually(t, 40*time.Second, "all records", func() bool { return s.distinct() >= acked })
		c()

		// What is committed is all there is: a fresh member gets nothing.
		late := newSink()
		starts := make(chan int64, 6)
		d := consume(t, cfg, group, topic, func(ctx context.Context, p *kafka.Partition) error {
			offset, _ := p.Start()
			_, end := p.Bounds()
			starts <- end - offset
			return late.drain(ctx, p)
		})
		for range 6 {
			select {
			case behind := <-starts:
				if behind != 0 {
					t.Errorf("a partition was left %d records behind its end", behind)
				}
			case <-time.After(40 * time.Second):
				t.Fatal("the last member gets no partitions")
			}
		}
		d()
		t.Logf("%d records, none missing", acked)
	})
}

// A dead letter topic that nobody may fill with more than the record: kept here so that
// the producer's own topic list and the helper cannot drift.
func TestDeadLettersReachTheirTopic(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		spec := topics.All()[1].Single()
		if _, err := kafka.ApplyTopics(t.Context(), cfg, []topics.Topic{spec}, kafka.ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		p := newProducer(t, cfg, "")
		big := record(make([]byte, 3<<20))
		if err := p.SendDead(t.Context(), topics.Samples, big, "too large by far"); err != nil {
			t.Fatal(err)
		}
		if err := p.SendDead(t.Context(), topics.Samples, record([]byte("x")), "cut off at byte 1"); err != nil {
			t.Fatal(err)
		}
		reasons := make(chan string, 8)
		consume(t, cfg, unique("g"), spec.Name, func(ctx context.Context, p *kafka.Partition) error {
			for {
				rs, err := p.Fetch(ctx)
				if err != nil {
					return err
				}
				for _, r := range rs {
					reasons <- string(r.Headers[0].Value)
				}
			}
		})
		for _, want := range []string{"too large by far", "cut off at byte 1"} {
			select {
			case got := <-reasons:
				if got != want {
					t.Errorf("reason %q, want %q", got, want)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("dead letters do not arrive")
			}
		}
	})
}
