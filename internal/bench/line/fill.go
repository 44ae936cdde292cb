package line

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"sextant/internal/testkit/fleet"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

// fill sends what a fleet of nodes scraped in the last ticks, and returns how many samples
// that is. Several senders share the work; a node is one sender's, so its records stay in
// order.
func fill(ctx context.Context, broker string, nodes, ticks int) (int64, error) {
	const senders = 4
	base := time.Now().Add(-time.Duration(ticks+1) * fleet.Interval * time.Millisecond).Truncate(fleet.Interval * time.Millisecond).UnixMilli()
	p, err := kafka.NewProducer(kafka.Config{Brokers: []string{broker}}, kafka.ProducerOptions{Topic: topics.Samples})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	fleets := make([]*fleet.Fleet, senders)
	for s := range fleets {
		fleets[s] = fleet.NewAt(nodes, 1, base)
	}
	for tick := range ticks {
		g, ctx := errgroup.WithContext(ctx)
		for s := range senders {
			g.Go(func() error {
				var batch []kafka.Message
				for i := s; i < nodes; i += senders {
					r := fleets[s].Record(i, tick, 0)
					batch = append(batch, kafka.Message{Key: r.Key, Value: r.Value, Headers: r.Headers})
					if len(batch) == 500 || i+senders >= nodes {
						if err := errors.Join(p.Send(ctx, batch)...); err != nil {
							return err
						}
						batch = batch[:0]
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
	}
	return int64(nodes) * int64(ticks) * fleet.PerNode, nil
}
