package kafka_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

func TestApplyTopicsOnApacheKafka(t *testing.T) {
	cfg := kafka.Config{Brokers: []string{apacheAddr(t)}}
	spec := topics.All()[0]
	spec.Name = unique("apply")
	apply := func(opt kafka.ApplyOptions) string {
		t.Helper()
		changes, err := kafka.ApplyTopics(t.Context(), cfg, []topics.Topic{spec}, opt)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(fmt.Sprint(changes), spec.Name, "T")
	}
	one := kafka.ApplyOptions{Replication: 1}

	if _, err := kafka.ApplyTopics(t.Context(), cfg, []topics.Topic{spec}, kafka.ApplyOptions{}); err == nil || !strings.Contains(err.Error(), "wants 3 replicas and the cluster has 1 brokers") {
		t.Errorf("three replicas on one broker: %v", err)
	}
	created := "[create T with 12 partitions, 1 replicas]"
	if got := apply(kafka.ApplyOptions{Replication: 1, DryRun: true}); got != created {
		t.Error(got)
	}
	if got := apply(one); got != created {
		t.Errorf("%s: the dry run before has created it, or this run has not", got)
	}
	if got := apply(one); got != "[]" {
		t.Errorf("a second run changes %s", got)
	}
	spec.Partitions = 20
	spec.Config["retention.ms"] = "7200000"
	both := "[drift of T: partitions is 12, defined as 20; left alone alter T: retention.ms from 86400000 to 7200000]"
	if got := apply(kafka.ApplyOptions{Replication: 1, DryRun: true}); got != both {
		t.Error(got)
	}
	if got := apply(one); got != both {
		t.Error(got)
	}
	// A broker answers from its copy of the metadata, which is a moment behind.
	eventually(t, 10*time.Second, "the setting holds", func() bool {
		return apply(one) == "[drift of T: partitions is 12, defined as 20; left alone]"
	})
	spec.Config["no.such.setting"] = "1"
	if _, err := kafka.ApplyTopics(t.Context(), cfg, []topics.Topic{spec}, one); err == nil || !strings.Contains(err.Error(), spec.Name+": alter settings:") {
		t.Errorf("an unknown setting: %v", err)
	}
}

func TestTheEmbeddedBrokerKeepsItsSettings(t *testing.T) {
	cfg := kafka.Config{Brokers: []string{embeddedAddr(t)}}
	spec := topics.All()[0].Single()
	spec.Name = unique("apply")
	if _, err := kafka.ApplyTopics(t.Context(), cfg, []topics.Topic{spec}, kafka.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	// Created with the broker's own retention, which the definition may not change.
	_, err := kafka.ApplyTopics(t.Context(), cfg, []topics.Topic{spec}, kafka.ApplyOptions{})
	if !errors.Is(err, kafkago.PolicyViolation) {
		t.Errorf("a second apply: %v, want a policy violation", err)
	}
}
