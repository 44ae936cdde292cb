package broker

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sextant/schema/topics"
)

// Each topic is trimmed by the commits of its own group: the inventory goes as soon as it
// is stored, and a group that is not named trims nothing.
func TestTrimFollowsTheGroupOfEachTopic(t *testing.T) {
	b := start(t, t.TempDir(), func(c *Config) { c.Groups = []string{"pipeline-inventory"} })
	cl := client(t, b)
	for _, topic := range []string{topics.Samples, topics.Inventory} {
		for range 5 {
			if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Key: []byte("n1"), Value: []byte("v")}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	commit := func(group, topic string, at int64) {
		os := kadm.Offsets{}
		os.AddOffset(topic, 0, at, -1)
		if err := kadm.NewClient(cl).CommitAllOffsets(t.Context(), group, os); err != nil {
			t.Fatal(err)
		}
	}
	commit("stranger", topics.Samples, 4)
	commit("pipeline-inventory", topics.Inventory, 3)
	deadline := time.Now().Add(20 * time.Second)
	for b.cluster.PartitionInfo(topics.Inventory, 0).LogStartOffset != 3 {
		if time.Now().After(deadline) {
			t.Fatalf("inventory begins at %d, want 3", b.cluster.PartitionInfo(topics.Inventory, 0).LogStartOffset)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if first := b.cluster.PartitionInfo(topics.Samples, 0).LogStartOffset; first != 0 {
		t.Errorf("samples begin at %d, and nobody has stored them", first)
	}
}
