package topics

import (
	"regexp"
	"strconv"
	"testing"
)

// lastValue are the topics of which only the newest record of each key counts.
var lastValue = map[string]bool{Inventory: true, Watched: true, Nodes: true}

func TestDefinitions(t *testing.T) {
	legal := regexp.MustCompile(`^[a-z][a-z0-9.]{0,248}$`)
	seen := map[string]bool{}
	for _, topic := range All() {
		if !legal.MatchString(topic.Name) || seen[topic.Name] {
			t.Errorf("%q: name is illegal or taken", topic.Name)
		}
		seen[topic.Name] = true
		if topic.Partitions < 1 || topic.Replication < 1 || topic.Key == "" || topic.Value == "" || topic.Doc == "" {
			t.Errorf("%s: incomplete: %+v", topic.Name, topic)
		}
		isr, err := strconv.Atoi(topic.Config["min.insync.replicas"])
		if err != nil || isr >= topic.Replication {
			t.Errorf("%s: min.insync.replicas %q leaves no broker to lose of %d", topic.Name, topic.Config["min.insync.replicas"], topic.Replication)
		}
		// Ingest time is the broker's. A compacted topic loses records of the same key, so
		// only last values may have one, and it must not be compressed.
		want := map[string]string{
			"message.timestamp.type": "LogAppendTime",
			"cleanup.policy":         "delete",
			"compression.type":       "producer",
			"max.message.bytes":      strconv.Itoa(MaxMessageBytes),
		}
		if lastValue[topic.Name] {
			want["cleanup.policy"], want["compression.type"] = "compact", "uncompressed"
		}
		for key, want := range want {
			if got := topic.Config[key]; got != want {
				t.Errorf("%s: %s = %q, want %q", topic.Name, key, got, want)
			}
		}
	}
	for _, name := range []string{Samples, DeadLetter, Inventory, Tasks, Watched, Nodes} {
		if !seen[name] {
			t.Errorf("%s is named and not defined", name)
		}
	}
}

func TestSingleLeavesTheDefinitionAlone(t *testing.T) {
	all := All()
	one := all[0].Single()
	if one.Replication != 1 || one.Config["min.insync.replicas"] != "1" {
		t.Errorf("single: %+v", one)
	}
	if all[0].Replication == 1 || all[0].Config["min.insync.replicas"] == "1" {
		t.Error("Single changed the topic that it was called on")
	}
}
