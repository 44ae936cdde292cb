package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
)

// Time limits of a commit: while the partition is held, and when it is being given up.
const (
	commitTimeout = 8 * time.Second
	partingCommit = 1500 * time.Millisecond
	commitBackoff = 200 * time.Millisecond
)

// membership is the identity under which a generation commits.
type membership struct {
	client     *client
	group      string
	member     string
	generation int32
}

// commit stores offset and metadata for one partition. kafka-go's own Generation can
// commit an offset only, and a checkpoint is more than that, so the request is made here.
// A broker that is restarting is asked again until the time limit.
func (m membership) commit(ctx context.Context, topic string, id int32, offset int64, metadata string) error {
	held := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(held), commitTimeout)
	defer cancel()
	defer context.AfterFunc(held, func() { time.AfterFunc(partingCommit, cancel) })()
	for {
		err := m.commitOnce(ctx, topic, id, offset, metadata)
		switch {
		case err == nil:
			return nil
		case fenced(err):
			return fmt.Errorf("commit %s/%d at %d: %w: %w", topic, id, offset, ErrFenced, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("commit %s/%d at %d: %w", topic, id, offset, err)
		case <-time.After(commitBackoff):
		}
	}
}

func (m membership) commitOnce(ctx context.Context, topic string, id int32, offset int64, metadata string) error {
	res, err := m.client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
		GroupID: m.group, GenerationID: int(m.generation), MemberID: m.member,
		Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: int(id), Offset: offset, Metadata: metadata}}},
	})
	if err != nil {
		return rootCause(err)
	}
	for _, p := range res.Topics[topic] {
		if p.Partition == int(id) {
			return p.Error
		}
	}
	return errors.New("the answer names another partition")
}

func commitResult(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrFenced):
		return "fenced"
	}
	return "failed"
}

// commitment is an offset as the group committed it; offset is -1 when it never did.
type commitment struct {
	offset   int64
	metadata string
}

// commitments returns what the group committed for the given partitions.
func (c *client) commitments(ctx context.Context, group, topic string, ids []int) (map[int]commitment, error) {
	res, err := c.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: ids}})
	if err == nil {
		err = res.Error
	}
	if errors.Is(err, kafka.GroupIdNotFound) {
		return nil, nil // some brokers know a group only once it has members or commits
	}
	if err != nil {
		return nil, fmt.Errorf("committed offsets of group %s: %w", group, rootCause(err))
	}
	out := make(map[int]commitment, len(ids))
	for _, p := range res.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("committed offset of group %s at %s/%d: %w", group, topic, p.Partition, p.Error)
		}
		out[p.Partition] = commitment{p.CommittedOffset, p.Metadata}
	}
	return out, nil
}
