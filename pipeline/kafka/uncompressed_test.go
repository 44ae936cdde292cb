package kafka_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"sextant/pipeline/kafka"
)

// One producer sends to a compacted topic as it is, and to another one compressed. The
// broker is asked by another client, which sees the batch's codec.
func TestACompactedTopicIsNotCompressed(t *testing.T) {
	addr := embeddedAddr(t)
	cfg := kafka.Config{Brokers: []string{addr}}
	plain, packed := newTopic(t, cfg, 1, nil), newTopic(t, cfg, 1, nil)
	p, err := kafka.NewProducer(cfg, kafka.ProducerOptions{Uncompressed: []string{plain}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	value := bytes.Repeat([]byte("inventory "), 1000)
	for _, topic := range []string{packed, plain, packed} {
		if err := p.Send(t.Context(), []kafka.Message{{Topic: topic, Key: []byte("n1"), Value: value}})[0]; err != nil {
			t.Fatal(err)
		}
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics(plain, packed))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for seen := 0; seen < 3; {
		fetched := cl.PollFetches(ctx)
		if err := fetched.Err(); err != nil {
			t.Fatal(err)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			seen++
			if codec := r.Attrs.CompressionType(); (codec == 0) != (r.Topic == plain) || !bytes.Equal(r.Value, value) {
				t.Errorf("topic %s: codec %d, %d bytes", r.Topic, codec, len(r.Value))
			}
		})
	}
}
