package kafka_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

// A producer believes its metadata for minutes, so what it says about a moved leader has
// to be noticed from the brokers' answers.
func TestAMovedLeaderIsFound(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(1, "moving"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	p := newProducer(t, kafka.Config{Brokers: cluster.ListenAddrs()}, "moving")
	for round := range 4 {
		if err := cluster.MoveTopicPartition("moving", 0, int32(round%3)); err != nil {
			t.Fatal(err)
		}
		eventually(t, 5*time.Second, "the record at the new leader", func() bool {
			return p.Send(t.Context(), messages(round, 1, 1))[0] == nil
		})
	}
}

// A topic that is created after a send failed for its absence is found at once.
func TestANewTopicIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg kafka.Config) {
		spec := topics.All()[0].Single()
		spec.Name = unique("later")
		p := newProducer(t, cfg, spec.Name)
		if err := p.Send(t.Context(), messages(0, 1, 1))[0]; err == nil {
			t.Fatal("a record is stored in no topic")
		}
		if _, err := kafka.ApplyTopics(t.Context(), cfg, []topics.Topic{spec}, kafka.ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, 10*time.Second, "the record in the new topic", func() bool {
			return p.Send(t.Context(), messages(0, 1, 1))[0] == nil
		})
	})
}
