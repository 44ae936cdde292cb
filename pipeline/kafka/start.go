package kafka

import (
	"context"
	"log/slog"
)

// starts decides where each partition is read from.
func (c *consumer) starts(ctx context.Context, ids []int) (map[int]start, error) {
	committed, err := c.client.commitments(ctx, c.opt.Group, c.opt.Topic, ids)
	if err != nil {
		return nil, err
	}
	bounds, err := c.client.positions(ctx, c.opt.Topic, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[int]start, len(ids))
	for _, id := range ids {
		at, ok := committed[id]
		if !ok {
			at.offset = -1
		}
		from, lost := startFrom(at, bounds[id])
		log := c.log.With("partition", id, "committed", at.offset, "first", from.bounds.first, "end", from.bounds.end)
		switch {
		case lost > 0:
			c.metrics.lost.WithLabelValues("retention").Add(float64(lost))
			log.Error("records expired before they were read: going on at the first that is left", "lost", lost)
		case at.offset > from.bounds.end:
			log.Error("the broker lost records that were already read: reading again all that it still has")
		default:
			log.Log(ctx, slog.LevelDebug, "partition starts", "offset", from.offset)
		}
		out[id] = from
	}
	return out, nil
}

// startFrom decides where to read from, given what was committed and what is there. lost
// counts the records that were committed to be read and have expired.
//
// A commitment above the end means that the broker came back without records that it had
// acknowledged. Its offsets will be given to other records, so both the offset and the
// checkpoint in its metadata are void, and everything that is left is read again.
func startFrom(at commitment, b position) (from start, lost int64) {
	switch {
	case at.offset < 0 || at.offset > b.end:
		return start{offset: b.first, bounds: b}, 0
	case at.offset < b.first:
		return start{offset: b.first, metadata: at.metadata, bounds: b}, b.first - at.offset
	}
	return start{offset: at.offset, metadata: at.metadata, bounds: b}, 0
}
