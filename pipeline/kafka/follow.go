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

// Progress reads a commit: the records below written are dealt with, and enough says that the
// partition need not come further, whatever lies behind.
type Progress func(offset int64, metadata string) (written int64, enough bool)

// Committed is the progress of a group that commits what it has dealt with.
func Committed(offset int64, _ string) (written int64, enough bool) { return offset, false }

// followEvery is how often the group's commits are looked at.
const followEvery = 250 * time.Millisecond

// Await returns when the group has dealt with all that the topic held when it was called, or
// with enough of it. The error, when ctx ends before, says how much is left.
func (f *Follower) Await(ctx context.Context, p Progress) error {
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
		left := behind(ends, committed, p)
		if left == 0 {
			return nil
		}
		if !sleep(ctx, followEvery) {
			return fmt.Errorf("group %s has %d records of %s left: %w", f.group, left, f.topic, ctx.Err())
		}
	}
}

// behind is how many records up to the ends are not dealt with. A partition that was never
// committed has all of its records left.
func behind(ends map[int]position, committed map[int]commitment, p Progress) int64 {
	var left int64
	for id, end := range ends {
		written, enough := end.first, false
		if at, ok := committed[id]; ok {
			written, enough = p(at.offset, at.metadata)
		}
		if !enough {
			left += max(end.end-max(written, end.first), 0)
		}
	}
	return left
}

// Close closes the connections.
func (f *Follower) Close() { f.client.Close() }
