package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"sextant/schema/topics"
	"sextant/schema/wire"
)

func TestStartFrom(t *testing.T) {
	retained := position{first: 50, end: 100}
	for _, c := range []struct {
		name      string
		committed commitment
		offset    int64
		meta      string
		lost      int64
	}{
		{"never committed", commitment{-1, ""}, 50, "", 0},
		{"within", commitment{70, "c"}, 70, "c", 0},
		{"at the first", commitment{50, "c"}, 50, "c", 0},
		{"at the end", commitment{100, "c"}, 100, "c", 0},
		{"expired", commitment{20, "c"}, 50, "c", 30},
		{"the broker lost records", commitment{101, "c"}, 50, "", 0},
	} {
		from, lost := startFrom(c.committed, retained)
		if from.offset != c.offset || from.metadata != c.meta || lost != c.lost || from.bounds != retained {
			t.Errorf("%s: %+v, lost %d", c.name, from, lost)
		}
	}
}

func TestDeadLetterKeepsWhatFits(t *testing.T) {
	rec := wire.Record{Partition: 3, Offset: 7, Ingest: 12, Key: []byte("n1"), Value: []byte("v"),
		Headers: []wire.Header{{Key: "sx-seq", Value: []byte("9")}}}
	m := DeadLetter("from", rec, "why", DefaultMaxRecordBytes)
	got := map[string]string{}
	for _, h := range m.Headers {
		got[h.Key] = string(h.Value)
	}
	for k, want := range map[string]string{DeadReason: "why", DeadTopic: "from", DeadPartition: "3", DeadOffset: "7", DeadIngest: "12", "sx-seq": "9"} {
		if got[k] != want {
			t.Errorf("%s is %q, want %q", k, got[k], want)
		}
	}
	if m.Topic != topics.DeadLetter || string(m.Key) != "n1" || string(m.Value) != "v" {
		t.Errorf("%+v", m)
	}

	huge := strings.Repeat("x", 2<<20)
	for name, change := range map[string]func(*wire.Record){
		"value":   func(r *wire.Record) { r.Value = []byte(huge) },
		"key":     func(r *wire.Record) { r.Key = []byte(huge) },
		"headers": func(r *wire.Record) { r.Headers = []wire.Header{{Key: "k", Value: []byte(huge)}} },
	} {
		big := rec
		change(&big)
		m := DeadLetter("from", big, huge, DefaultMaxRecordBytes)
		if n := recordSize(&m); n > DefaultMaxRecordBytes {
			t.Errorf("a dead letter with a huge %s has %d bytes", name, n)
		}
		if len(m.Value) == 0 {
			t.Errorf("a dead letter with a huge %s keeps no value", name)
		}
	}
}

// Another client with Kafka's default partitioner must put a node where ours does. The
// hashes are those of the tests of Kafka's own Utils.murmur2.
func TestPartitionerIsKafkas(t *testing.T) {
	b := kafka.Murmur2Balancer{Consistent: true}
	ids := make([]int, 12)
	for i := range ids {
		ids[i] = i
	}
	for key, hash := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string": -1486304829, "abc": 479470107,
	} {
		want := int(uint32(hash)&0x7fffffff) % 12
		if got := b.Balance(kafka.Message{Key: []byte(key)}, ids...); got != want {
			t.Errorf("%q goes to %d, Kafka's clients say %d", key, got, want)
		}
	}
}

func TestReplicated(t *testing.T) {
	def := topics.All()[0]
	got, err := replicated(def, 1, 1)
	if err != nil || got.Replication != 1 || got.Config["min.insync.replicas"] != "1" || def.Config["min.insync.replicas"] != "2" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := replicated(def, 0, 2); err == nil || !strings.Contains(err.Error(), "wants 3 replicas and the cluster has 2 brokers") {
		t.Errorf("too few brokers: %v", err)
	}
}

func TestBackoffGrowsAndForgets(t *testing.T) {
	c := &consumer{}
	if c.backoff() != 0 {
		t.Error("a first generation waits")
	}
	var last time.Duration
	for range 8 {
		c.ended(time.Second, 1)
		c.ended(time.Second, 0) // a neighbour that was interrupted
		if got := c.backoff(); got < last || got > maxBackoff {
			t.Errorf("backoff %s after %s", got, last)
		} else {
			last = got
		}
	}
	if last != maxBackoff {
		t.Errorf("backoff ends at %s", last)
	}
	c.ended(2*goodRun, 0)
	if c.backoff() != 0 {
		t.Error("a long good run is not forgotten for")
	}
}
