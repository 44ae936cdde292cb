package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/segmentio/kafka-go"

	"sextant/schema/topics"
)

// Action is what ApplyTopics did, or would do, about a difference.
type Action string

// The actions. A drift is left alone: it needs a person's decision.
const (
	Created Action = "create"
	Altered Action = "alter"
	Drifted Action = "drift"
)

// Change is one difference between a definition and the cluster.
type Change struct {
	Topic    string
	Action   Action
	Key      string // a setting, or "partitions" or "replication"; empty for a created topic
	From, To string
}

func (c Change) String() string {
	switch c.Action {
	case Created:
		return fmt.Sprintf("create %s with %s", c.Topic, c.To)
	case Drifted:
		return fmt.Sprintf("drift of %s: %s is %s, defined as %s; left alone", c.Topic, c.Key, c.From, c.To)
	}
	return fmt.Sprintf("alter %s: %s from %s to %s", c.Topic, c.Key, c.From, c.To)
}

// ApplyOptions change what ApplyTopics does.
type ApplyOptions struct {
	DryRun      bool // report only
	Replication int  // copies instead of the definition's; 0: as defined
}

// ApplyTopics makes the cluster agree with the definitions: it creates topics that are
// missing and alters settings that differ. It never changes a topic's number of
// partitions, which would move nodes between partitions in mid-stream, nor its replicas;
// both are reported as drift. Applying twice changes nothing the second time.
func ApplyTopics(ctx context.Context, cfg Config, want []topics.Topic, opt ApplyOptions) ([]Change, error) {
	if err := Ping(ctx, cfg); err != nil {
		return nil, err
	}
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	have, brokers, err := c.topics(ctx)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, t := range want {
		if t, err = replicated(t, opt.Replication, brokers); err != nil {
			return changes, err
		}
		at, exists := have[t.Name]
		apply := c.createTopic
		if exists {
			apply = c.alterTopic
		}
		done, err := apply(ctx, t, at, opt.DryRun)
		changes = append(changes, done...)
		if err != nil {
			return changes, fmt.Errorf("topic %s: %w", t.Name, rootCause(err))
		}
	}
	return changes, nil
}

// replicated returns t with as many replicas as asked for. It fails when the cluster has
// too few brokers, instead of quietly keeping fewer copies than defined.
func replicated(t topics.Topic, replication, brokers int) (topics.Topic, error) {
	if replication > 0 {
		t.Replication, t.Config = replication, maps.Clone(t.Config)
		if isr, err := strconv.Atoi(t.Config["min.insync.replicas"]); err == nil && isr > replication {
			t.Config["min.insync.replicas"] = strconv.Itoa(replication)
		}
	}
	if t.Replication > brokers {
		return t, fmt.Errorf("topic %s wants %d replicas and the cluster has %d brokers: add brokers or ask for fewer replicas",
			t.Name, t.Replication, brokers)
	}
	return t, nil
}

// topics returns the cluster's topics by name, and how many brokers it has.
func (c *client) topics(ctx context.Context) (map[string]kafka.Topic, int, error) {
	res, err := c.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, 0, fmt.Errorf("metadata: %w", rootCause(err))
	}
	out := map[string]kafka.Topic{}
	for _, t := range res.Topics {
		out[t.Name] = t
	}
	return out, len(res.Brokers), nil
}

func (c *client) createTopic(ctx context.Context, t topics.Topic, _ kafka.Topic, dry bool) ([]Change, error) {
	spec := kafka.TopicConfig{Topic: t.Name, NumPartitions: t.Partitions, ReplicationFactor: t.Replication}
	for _, k := range slices.Sorted(maps.Keys(t.Config)) {
		spec.ConfigEntries = append(spec.ConfigEntries, kafka.ConfigEntry{ConfigName: k, ConfigValue: t.Config[k]})
	}
	change := Change{Topic: t.Name, Action: Created, To: fmt.Sprintf("%d partitions, %d replicas", t.Partitions, t.Replication)}
	if dry {
		return []Change{change}, nil
	}
	res, err := c.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{spec}})
	if err == nil {
		err = res.Errors[t.Name]
	}
	if errors.Is(err, kafka.TopicAlreadyExists) {
		return nil, nil // another apply was faster
	}
	if err != nil {
		return nil, fmt.Errorf("create: %w", rootCause(err))
	}
	return []Change{change}, nil
}

func (c *client) alterTopic(ctx context.Context, t topics.Topic, at kafka.Topic, dry bool) ([]Change, error) {
	changes := drift(t, at)
	have, err := c.topicConfig(ctx, t.Name)
	if err != nil {
		return changes, err
	}
	var set []kafka.IncrementalAlterConfigsRequestConfig
	for _, k := range slices.Sorted(maps.Keys(t.Config)) {
		if have[k] == t.Config[k] {
			continue
		}
		changes = append(changes, Change{Topic: t.Name, Action: Altered, Key: k, From: have[k], To: t.Config[k]})
		set = append(set, kafka.IncrementalAlterConfigsRequestConfig{
			Name: k, Value: t.Config[k], ConfigOperation: kafka.ConfigOperationSet})
	}
	if dry || len(set) == 0 {
		return changes, nil
	}
	res, err := c.IncrementalAlterConfigs(ctx, &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: t.Name, Configs: set,
		}},
	})
	if err != nil {
		return changes, fmt.Errorf("alter settings: %w", rootCause(err))
	}
	for _, r := range res.Resources {
		if r.Error != nil {
			return changes, fmt.Errorf("alter settings: %w", r.Error)
		}
	}
	return changes, nil
}

// drift reports what is never altered.
func drift(t topics.Topic, at kafka.Topic) []Change {
	var out []Change
	if n := len(at.Partitions); n != t.Partitions {
		out = append(out, Change{t.Name, Drifted, "partitions", strconv.Itoa(n), strconv.Itoa(t.Partitions)})
	}
	if len(at.Partitions) > 0 {
		if n := len(at.Partitions[0].Replicas); n != t.Replication {
			out = append(out, Change{t.Name, Drifted, "replication", strconv.Itoa(n), strconv.Itoa(t.Replication)})
		}
	}
	return out
}

// topicConfig returns the effective settings of a topic, the broker's defaults included.
func (c *client) topicConfig(ctx context.Context, topic string) (map[string]string, error) {
	res, err := c.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}},
	})
	if err != nil {
		return nil, fmt.Errorf("describe settings: %w", rootCause(err))
	}
	out := map[string]string{}
	for _, r := range res.Resources {
		if r.Error != nil {
			return nil, fmt.Errorf("describe settings: %w", r.Error)
		}
		for _, e := range r.ConfigEntries {
			out[e.ConfigName] = e.ConfigValue
		}
	}
	return out, nil
}
