package kafka_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sextant/internal/embedded/broker"
	"sextant/internal/testkit/kafkatest"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

// The brokers that every test of the table runs against. Apache Kafka is started once
// for all tests, the embedded broker too: tests use topics of their own.
var (
	apache = sync.OnceValues(func() (*kafkatest.Apache, error) {
		a, err := kafkatest.StartApache(tempDir)
		if a != nil {
			started = append(started, a.Stop)
		}
		return a, err
	})
	embedded = sync.OnceValues(func() (*broker.Broker, error) {
		b, err := broker.Start(context.Background(), broker.Config{Dir: tempDir + "/embedded", Group: "unused", Logger: quiet})
		if err == nil {
			started = append(started, b.Close)
		}
		return b, err
	})
	tempDir string
	started []func() error
	quiet   = slog.New(slog.DiscardHandler)
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if tempDir, err = os.MkdirTemp("", "sextant-kafka-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(tempDir)
		code := m.Run()
		for _, stop := range started {
			if err := stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
		if err := goleak.Find(); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		return code
	}())
}

func apacheAddr(t testing.TB) string {
	t.Helper()
	a, err := apache()
	if err != nil {
		t.Fatal(err)
	}
	return a.Addr()
}

func embeddedAddr(t testing.TB) string {
	t.Helper()
	b, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	return b.Addr()
}

// onBoth runs the test against the embedded broker and Apache Kafka.
func onBoth(t *testing.T, test func(t *testing.T, cfg kafka.Config)) {
	for name, addr := range map[string]func(testing.TB) string{"embedded": embeddedAddr, "apache": apacheAddr} {
		t.Run(name, func(t *testing.T) {
			test(t, kafka.Config{Brokers: []string{addr(t)}})
		})
	}
}

// newTopic creates a topic of the test's own, like telemetry.samples, and returns it.
func newTopic(t testing.TB, cfg kafka.Config, partitions int, config map[string]string) string {
	t.Helper()
	spec := topics.All()[0].Single()
	spec.Name, spec.Partitions = unique("t"), partitions
	for k, v := range config {
		spec.Config[k] = v
	}
	if _, err := kafka.ApplyTopics(t.Context(), cfg, []topics.Topic{spec}, kafka.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	return spec.Name
}

func unique(prefix string) string {
	var b [6]byte
	rand.Read(b[:])
	return prefix + "." + hex.EncodeToString(b[:])
}

func newProducer(t testing.TB, cfg kafka.Config, topic string) *kafka.Producer {
	t.Helper()
	p, err := kafka.NewProducer(cfg, kafka.ProducerOptions{Topic: topic, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// sendAll sends the messages until each is acknowledged, as an agent does.
func sendAll(ctx context.Context, p *kafka.Producer, msgs []kafka.Message) error {
	for len(msgs) > 0 {
		var again []kafka.Message
		for i, err := range p.Send(ctx, msgs) {
			if err != nil {
				again = append(again, msgs[i])
			}
		}
		msgs = again
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(msgs) > 0 {
			time.Sleep(100 * time.Millisecond) // the broker is away: do not spin
		}
	}
	return nil
}

// eventually waits for cond, looking often.
func eventually(t testing.TB, within time.Duration, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}
