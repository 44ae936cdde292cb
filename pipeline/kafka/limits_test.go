package kafka_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sextant/pipeline/kafka"
	"sextant/schema/wire"
)

func record(value []byte) wire.Record {
	return wire.Record{Partition: 3, Offset: 7, Ingest: 1_700_000_000_000, Key: []byte("n1"), Value: value}
}

// noise returns n bytes that do not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func TestOneOversizeRecordDoesNotFailItsNeighbours(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic := newTopic(t, cfg, 1, map[string]string{"max.message.bytes": "20000"})
		p, err := kafka.NewProducer(cfg, kafka.ProducerOptions{Topic: topic, MaxRecordBytes: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		msgs := messages(0, 6, 1)
		msgs[1].Value = noise(200_000) // refused here
		msgs[4].Value = noise(50_000)  // refused by the broker, with all of its batch at first
		for i, err := range p.Send(t.Context(), msgs) {
			if large := i == 1 || i == 4; errors.Is(err, kafka.ErrTooLarge) != large || (err != nil) != large {
				t.Errorf("message %d: %v", i, err)
			}
		}
		s := newSink()
		stop := consume(t, cfg, unique("g"), topic, s.drain)
		eventually(t, 20*time.Second, "the four neighbours", func() bool { return s.distinct() == 4 })
		stop()
	})
}

func TestALargeCallIsCutIntoRequests(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic := newTopic(t, cfg, 1, nil)
		p := newProducer(t, cfg, topic)
		msgs := messages(0, 8, 1)
		for i := range msgs {
			msgs[i].Value = noise(900_000) // two of them exceed the broker's limit
		}
		for i, err := range p.Send(t.Context(), msgs) {
			if err != nil {
				t.Errorf("message %d: %v", i, err)
			}
		}
		// Each batch is nearly as large as a whole fetch.
		s := newSink()
		stop := consume(t, cfg, unique("g"), topic, s.drain)
		eventually(t, 20*time.Second, "all eight", func() bool { return s.distinct() == 8 })
		stop()
	})
}

// admin is another client's view, for what the adapter itself never does.
func admin(t *testing.T, cfg kafka.Config) *kadm.Client {
	cl, err := kgo.NewClient(kgo.SeedBrokers(cfg.Brokers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return kadm.NewClient(cl)
}

func TestStartingAfterTheRecordsExpired(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic, group := newTopic(t, cfg, 1, nil), unique("g")
		if err := sendAll(t.Context(), newProducer(t, cfg, topic), messages(0, 100, 5)); err != nil {
			t.Fatal(err)
		}
		adm := admin(t, cfg)
		at := kadm.Offsets{}
		at.Add(kadm.Offset{Topic: topic, Partition: 0, At: 10, LeaderEpoch: -1, Metadata: "checkpoint"})
		if err := adm.CommitAllOffsets(t.Context(), group, at); err != nil {
			t.Fatal(err)
		}
		expired := kadm.Offsets{}
		expired.AddOffset(topic, 0, 60, -1)
		if _, err := adm.DeleteRecords(t.Context(), expired); err != nil {
			t.Fatal(err)
		}
		reg := prometheus.NewRegistry()
		offset, meta := startOf(t, cfg, group, topic, reg)
		if offset != 60 || meta != "checkpoint" {
			t.Errorf("starts at %d with %q, want 60 and the checkpoint", offset, meta)
		}
		want := "# HELP sextant_kafka_lost_records_total Offsets that could not be read: expired before they were read, or corrupt.\n" +
			"# TYPE sextant_kafka_lost_records_total counter\nsextant_kafka_lost_records_total{reason=\"retention\"} 50\n"
		if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "sextant_kafka_lost_records_total"); err != nil {
			t.Error(err)
		}
	})
}

func TestStartingAfterTheBrokerLostRecords(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic, group := newTopic(t, cfg, 1, nil), unique("g")
		if err := sendAll(t.Context(), newProducer(t, cfg, topic), messages(0, 100, 5)); err != nil {
			t.Fatal(err)
		}
		at := kadm.Offsets{}
		at.Add(kadm.Offset{Topic: topic, Partition: 0, At: 500, LeaderEpoch: -1, Metadata: "void"})
		if err := admin(t, cfg).CommitAllOffsets(t.Context(), group, at); err != nil {
			t.Fatal(err)
		}
		if offset, meta := startOf(t, cfg, group, topic, nil); offset != 0 || meta != "" {
			t.Errorf("starts at %d with %q, want 0 and no checkpoint", offset, meta)
		}
	})
}

// Records expire below a consumer that is reading: the fetch fails, and the next
// generation starts at what is left.
func TestRecordsExpireUnderAReader(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic := newTopic(t, cfg, 1, nil)
		p := newProducer(t, cfg, topic)
		// Six pages of data; the reader stops after the first.
		for i := range 8 {
			msgs := messages(i, 1, 1)
			msgs[0].Value = noise(900_000)
			if err := sendAll(t.Context(), p, msgs); err != nil {
				t.Fatal(err)
			}
		}
		adm := admin(t, cfg)
		s := newSink()
		var runs atomic.Int32
		stop := consume(t, cfg, unique("g"), topic, func(ctx context.Context, p *kafka.Partition) error {
			if runs.Add(1) == 1 {
				rs, err := p.Fetch(ctx)
				for err == nil && len(rs) == 0 {
					rs, err = p.Fetch(ctx)
				}
				if err != nil {
					return err
				}
				expired := kadm.Offsets{}
				expired.AddOffset(topic, 0, 7, -1)
				if _, err := adm.DeleteRecords(ctx, expired); err != nil {
					t.Error(err)
				}
			}
			return s.drain(ctx, p)
		})
		eventually(t, 30*time.Second, "the last record", func() bool { return s.count(7) > 0 })
		if runs.Load() < 2 {
			t.Error("the reader passed over expired records without ending its generation")
		}
		stop()
	})
}

// startOf joins the group and returns where partition 0 starts.
func startOf(t *testing.T, cfg kafka.Config, group, topic string, reg prometheus.Registerer) (int64, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	offset, meta := int64(-1), ""
	err := kafka.Consume(ctx, cfg, kafka.ConsumerOptions{Group: group, Topic: topic, Logger: quiet, Registerer: reg},
		func(_ context.Context, p *kafka.Partition) error {
			offset, meta = p.Start()
			cancel()
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return offset, meta
}

// A pipeline that does not fetch must not make the reader collect records.
func TestABusyCallerStopsTheReading(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		topic := newTopic(t, cfg, 1, nil)
		p := newProducer(t, cfg, topic)
		for i := range 12 {
			msgs := messages(i, 1, 1)
			msgs[0].Value = noise(900_000)
			if err := sendAll(t.Context(), p, msgs); err != nil {
				t.Fatal(err)
			}
		}
		reg := prometheus.NewRegistry()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- kafka.Consume(ctx, cfg, kafka.ConsumerOptions{Group: unique("g"), Topic: topic, Logger: quiet, Registerer: reg},
				func(ctx context.Context, _ *kafka.Partition) error { <-ctx.Done(); return nil })
		}()
		fetched := func() float64 { return gathered(t, reg, "sextant_kafka_fetched_bytes_total") }
		eventually(t, 20*time.Second, "two pages", func() bool { return fetched() > 1_500_000 })
		time.Sleep(400 * time.Millisecond) // time in which a third page would have come
		if got := fetched(); got > 2.5*(1<<20) {
			t.Errorf("%.0f bytes were fetched for a caller that takes none", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func gathered(t *testing.T, reg *prometheus.Registry, name string) float64 {
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return 0
}
