package kafka

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// partitions returns the partition ids of a topic, 0 to n-1. The answer comes from the
// transport's cache, which is metadataTTL old at most. It never creates the topic.
func (c *client) partitions(ctx context.Context, topic string) ([]int, error) {
	res, err := c.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, fmt.Errorf("metadata of %s: %w", topic, rootCause(err))
	}
	for _, t := range res.Topics {
		if t.Name != topic {
			continue
		}
		if t.Error == nil && len(t.Partitions) == 0 {
			t.Error = kafka.LeaderNotAvailable // created a moment ago
		}
		if t.Error != nil {
			return nil, fmt.Errorf("metadata of %s: %w", topic, t.Error)
		}
		ids := make([]int, len(t.Partitions))
		for i := range ids {
			ids[i] = i
		}
		return ids, nil
	}
	return nil, fmt.Errorf("metadata of %s: %w", topic, kafka.UnknownTopicOrPartition)
}

// position is where a partition begins and ends now.
type position struct {
	first, end int64 // first retained offset, high watermark
}

// positions returns the bounds of the given partitions.
func (c *client) positions(ctx context.Context, topic string, ids []int) (map[int]position, error) {
	ask := func(of func(int) kafka.OffsetRequest) (*kafka.ListOffsetsResponse, error) {
		reqs := make([]kafka.OffsetRequest, len(ids))
		for i, id := range ids {
			reqs[i] = of(id)
		}
		// One request for each end: a broker refuses the same partition twice in one.
		return c.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: reqs}})
	}
	first, err := ask(kafka.FirstOffsetOf)
	if err != nil {
		return nil, fmt.Errorf("first offsets of %s: %w", topic, rootCause(err))
	}
	last, err := ask(kafka.LastOffsetOf)
	if err != nil {
		return nil, fmt.Errorf("last offsets of %s: %w", topic, rootCause(err))
	}
	out := make(map[int]position, len(ids))
	for _, p := range first.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("first offset of %s/%d: %w", topic, p.Partition, p.Error)
		}
		out[p.Partition] = position{first: p.FirstOffset}
	}
	for _, p := range last.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("last offset of %s/%d: %w", topic, p.Partition, p.Error)
		}
		out[p.Partition] = position{first: out[p.Partition].first, end: p.LastOffset}
	}
	for _, id := range ids {
		if _, ok := out[id]; !ok {
			return nil, fmt.Errorf("offsets of %s/%d: not in the answer", topic, id)
		}
	}
	return out, nil
}
