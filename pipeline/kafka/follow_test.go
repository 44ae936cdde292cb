package kafka_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"sextant/pipeline/kafka"
)

// A follower waits for the commits of all partitions, and says how many records are left.
func TestFollowerAwaitsTheGroup(t *testing.T) {
	cfg := kafka.Config{Brokers: []string{embeddedAddr(t)}}
	topic := newTopic(t, cfg, 2, nil)
	group := topic + "-group"
	f, err := kafka.NewFollower(cfg, group, topic)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Await(t.Context(), kafka.Committed); err != nil {
		t.Fatalf("an empty topic: %v", err)
	}
	p, err := kafka.NewProducer(cfg, kafka.ProducerOptions{Topic: topic})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, err := range p.Send(t.Context(), []kafka.Message{{Topic: topic, Key: []byte("a"), Value: []byte("1")}, {Topic: topic, Key: []byte("b"), Value: []byte("2")},
		{Topic: topic, Key: []byte("c"), Value: []byte("3")}}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := f.Await(short, kafka.Committed); err == nil || !strings.Contains(err.Error(), "has 3 records of "+topic+" left") {
		t.Errorf("nobody reads: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- kafka.Consume(ctx, cfg, kafka.ConsumerOptions{Group: group, Topic: topic, Logger: quiet}, func(ctx context.Context, p *kafka.Partition) error {
			for {
				records, err := p.Fetch(ctx)
				if err != nil {
					return err
				}
				for i := range records {
					if err := p.Commit(ctx, records[i].Offset+1, ""); err != nil {
						return err
					}
				}
			}
		})
	}()
	long, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := f.Await(long, kafka.Committed); err != nil {
		t.Error(err)
	}
	if err := f.Await(long, func(offset int64, meta string) (int64, bool) { return 0, offset > 0 && meta == "" }); err != nil {
		t.Errorf("enough is done where records are left: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
