// Package topics is the list of Kafka topics that the line uses. It is data: a topic is
// a row of All, created by an explicit apply and never by a broker's auto-creation,
// which would pick the broker's own partition count and timestamp type.
package topics

import "maps"

// The topics by name.
const (
	Samples    = "telemetry.samples"
	DeadLetter = "telemetry.deadletter"
	Inventory  = "inventory"
	Tasks      = "tasks"
	Watched    = "tasks.watched"
	Nodes      = "nodes"
)

// MaxMessageBytes is the largest record batch that a broker must take, compressed. It is
// twice the largest record that an agent sends, so that a batch's own overhead and an
// incompressible record still fit.
const MaxMessageBytes = 2 << 20

// Topic is the definition of one Kafka topic.
type Topic struct {
	Name        string
	Partitions  int
	Replication int               // copies, on as many brokers
	Config      map[string]string // topic-level settings; all others stay the broker's
	Key         string            // what the record key is
	Value       string            // what the record value is
	Doc         string            // one sentence
}

// All returns a fresh copy of every topic's definition.
func All() []Topic {
	return []Topic{
		{
			Name: Samples, Partitions: 12, Replication: 3,
			Key:   "node name, so that one consumer sees all of a node in order",
			Value: "io.prometheus.write.v2.Request, one scrape of one target; envelope in sx-* headers",
			Doc:   "What agents scraped, with the vendors' names and values untouched.",
			Config: map[string]string{
				"cleanup.policy":    "delete",
				"compression.type":  "producer",
				"max.message.bytes": "2097152",
				// The append time is the pipeline's ingest time. It must come from the
				// broker: an agent's clock may be wrong by hours.
				"message.timestamp.type": "LogAppendTime",
				"min.insync.replicas":    "2",
				"retention.ms":           "86400000", // a day of outage behind the broker
				// Only closed segments expire; without this a quiet partition keeps a week.
				"segment.ms": "3600000",
			},
		},
		{
			Name: DeadLetter, Partitions: 1, Replication: 3,
			Key:   "the refused record's key",
			Value: "the refused record's value; reason and origin in sx-dead-* headers",
			Doc:   "Records that can never be read, with the reason.",
			Config: map[string]string{
				"cleanup.policy":         "delete",
				"compression.type":       "producer",
				"max.message.bytes":      "2097152",
				"message.timestamp.type": "LogAppendTime",
				"min.insync.replicas":    "2",
				"retention.ms":           "604800000",
				"segment.ms":             "86400000",
			},
		},
		{
			// As many partitions as the samples have, so that a node's documents and its
			// samples have the same number.
			Name: Inventory, Partitions: 12, Replication: 3,
			Key:   "node name; a record without a value says that the node is gone",
			Value: "inventory document of the node, JSON (schema/inventory)",
			Doc:   "What each node is made of: the newest document of each is kept for ever.",
			Config: map[string]string{
				"cleanup.policy": "compact",
				// A compacted topic stays uncompressed: clients are known to fail on
				// compressed batches that compaction has thinned out.
				"compression.type":       "uncompressed",
				"delete.retention.ms":    "86400000", // a consumer that was away for a day still sees that a node is gone
				"max.message.bytes":      "2097152",
				"message.timestamp.type": "LogAppendTime",
				"min.insync.replicas":    "2",
				// Only closed segments are compacted, and hourly copies add up.
				"segment.ms": "21600000",
			},
		},
		{
			Name: Tasks, Partitions: 12, Replication: 3,
			Key:   "cluster/task, so that the events of a task are in one partition",
			Value: "task event, JSON (schema/tasks)",
			Doc:   "What happens to pods, jobs and all else that is placed.",
			Config: map[string]string{
				"cleanup.policy":    "delete",
				"compression.type":  "producer",
				"max.message.bytes": "2097152",
				// An event from the future is told by the broker's clock.
				"message.timestamp.type": "LogAppendTime",
				"min.insync.replicas":    "2",
				"retention.ms":           "604800000", // nobody tells of a task again: a week of outage behind the broker
				"segment.ms":             "86400000",
			},
		},
		{
			Name: Watched, Partitions: 12, Replication: 3,
			Key:   "cluster/task; a record without a value says that the object is gone",
			Value: "what the watcher of Kubernetes has said of a task, JSON (internal/kube)",
			Doc:   "What the watcher knows, for whoever takes over: read whole at each start.",
			Config: map[string]string{
				"cleanup.policy":         "compact",
				"compression.type":       "uncompressed", // as of the inventory
				"delete.retention.ms":    "86400000",
				"max.message.bytes":      "2097152",
				"message.timestamp.type": "LogAppendTime",
				"min.insync.replicas":    "2",
				// A start reads it whole: what is superseded goes soon.
				"min.cleanable.dirty.ratio": "0.2",
				"segment.ms":                "3600000",
			},
		},
		{
			Name: Nodes, Partitions: 12, Replication: 3,
			Key:   "cluster/node; a record without a value says that the node was deleted",
			Value: "what Kubernetes says of the node, JSON (schema/nodes)",
			Doc:   "The nodes of each cluster as its API server has them: the newest document of each is kept for ever.",
			Config: map[string]string{
				"cleanup.policy":            "compact",
				"compression.type":          "uncompressed", // as of the inventory
				"delete.retention.ms":       "86400000",
				"max.message.bytes":         "2097152",
				"message.timestamp.type":    "LogAppendTime",
				"min.insync.replicas":       "2",
				"min.cleanable.dirty.ratio": "0.2", // a watcher that starts reads it whole
				"segment.ms":                "3600000",
			},
		},
	}
}

// Single returns t for a cluster of one broker.
func (t Topic) Single() Topic {
	t.Config = maps.Clone(t.Config)
	t.Replication = 1
	t.Config["min.insync.replicas"] = "1"
	return t
}
