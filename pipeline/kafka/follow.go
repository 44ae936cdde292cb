package kafka

import (
	"context"
	"fmt"
	"time"
)

// Follower tells how far a consumer group has come, whoever its members are.
type Follower struct {
	client       *client
	group, topic string
}

// NewFollower follows group on topic. It does not join.
func NewFollower(cfg Config, group, topic string) (*Follower, error) {
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	return &Follower{client: c, group: group, topic: topic}, nil
}

// followEvery is how often the group's commits are looked at.
const followEvery = 250 * time.Millisecond

// Await returns when the group has committed all that the topic held when it was called.
// The error, when ctx ends before, says how much is left.
func (f *Follower) Await(ctx context.Context) error {
	ids, err := f.client.partitions(ctx, f.topic)
	if err != nil {
		return err
	}
	ends, err := f.client.positions(ctx, f.topic, ids)
	if err != nil {
		return err
	}
	for {
		committed, err := f.client.commitments(ctx, f.group, f.topic, ids)
		if err != nil {
			return err
		}
		left := behind(ends, committed)
		if left == 0 {
			return nil
		}
		if !sleep(ctx, followEvery) {
			return fmt.Errorf("group %s has %d records of %s left: %w", f.group, left, f.topic, ctx.Err())
		}
	}
}

// behind is how many records up to the ends are not committed. A partition that was never
// committed has all of its records left.
func behind(ends map[int]position, committed map[int]commitment) int64 {
	var left int64
	for id, end := range ends {
		at, ok := committed[id]
		if !ok || at.offset < end.first {
			at.offset = end.first
		}
		left += max(end.end-at.offset, 0)
	}
	return left
}

// Close closes the connections.
func (f *Follower) Close() { f.client.Close() }
