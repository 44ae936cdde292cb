package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
)

// ConsumerOptions say what to consume, and as whom.
type ConsumerOptions struct {
	Group string
	Topic string

	Logger     *slog.Logger          // nil: slog.Default()
	Registerer prometheus.Registerer // nil: no metrics
}

// Times of a member of the group.
const (
	heartbeat        = time.Second      // also how soon a rebalance is noticed
	sessionTimeout   = 10 * time.Second // a dead member's partitions rest for so long
	rebalanceTimeout = 30 * time.Second // a run that has not returned by then loses its place
	rejoinBackoff    = time.Second
	maxBackoff       = 10 * time.Second
	goodRun          = time.Minute // a run of this length makes the next failure a first one
	leaveTimeout     = 2 * time.Second
)

// Run handles one partition until ctx ends, which it does when the partition goes to
// another member, the group loses this one, or Consume's own ctx ends. It must return
// soon then, after a last Commit: the whole group waits for it. Any return, with or
// without an error, makes this member rejoin.
type Run func(ctx context.Context, p *Partition) error

// Consume joins the group and calls run in a goroutine for each partition that it is
// assigned, once for each generation. It returns nil when ctx has ended and every run has
// returned, and an error only for what trying again cannot mend, before it has joined.
// A broker that is away is waited for.
func Consume(ctx context.Context, cfg Config, opt ConsumerOptions, run Run) error {
	if opt.Group == "" || opt.Topic == "" {
		return errors.New("consume: group and topic are needed")
	}
	cl, err := newClient(cfg)
	if err != nil {
		return err
	}
	defer cl.Close()
	metrics, err := newConsumerMetrics(opt.Registerer)
	if err != nil {
		return fmt.Errorf("consumer metrics: %w", err)
	}
	if opt.Logger == nil {
		opt.Logger = slog.Default()
	}
	c := &consumer{opt: opt, client: cl, metrics: metrics, run: run,
		log: opt.Logger.With("group", opt.Group, "topic", opt.Topic)}
	if !c.awaitTopic(ctx) {
		return nil
	}
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: opt.Group, Topics: []string{opt.Topic}, Brokers: cfg.Brokers, Dialer: cl.dialer,
		StartOffset: kafka.FirstOffset, HeartbeatInterval: heartbeat,
		SessionTimeout: sessionTimeout, RebalanceTimeout: rebalanceTimeout, JoinGroupBackoff: rejoinBackoff,
	})
	if err != nil {
		return fmt.Errorf("consumer group %s: %w", opt.Group, err)
	}
	c.consume(ctx, group)
	return nil
}

type consumer struct {
	opt     ConsumerOptions
	client  *client
	metrics *consumerMetrics
	run     Run
	log     *slog.Logger

	runs     sync.WaitGroup
	mu       sync.Mutex
	failures int // guarded by mu: runs in a row that failed early
}

// awaitTopic waits until a broker answers and the topic exists. kafka-go would ask for it
// to be created.
func (c *consumer) awaitTopic(ctx context.Context) bool {
	var said string
	for {
		_, err := c.client.partitions(ctx, c.opt.Topic)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if said != err.Error() {
			said = err.Error()
			c.log.Warn("waiting for the broker and the topic", "err", err)
		}
		if !sleep(ctx, rejoinBackoff) {
			return false
		}
	}
}

// consume follows the group from generation to generation until ctx ends.
func (c *consumer) consume(ctx context.Context, group *kafka.ConsumerGroup) {
	left := make(chan struct{})
	go func() {
		defer close(left)
		<-ctx.Done()
		// Ends the generation, waits for the runs and leaves the group, in this order.
		_ = group.Close()
	}()
	var said string // of an outage: each failure is told once
	for ctx.Err() == nil {
		gen, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			if said != err.Error() {
				said = err.Error()
				c.log.Warn("joining the group failed, trying on", "err", err)
			}
		default:
			said = ""
			sleep(ctx, c.backoff()) // the group's other members do not wait for this
			c.generation(ctx, gen)
		}
	}
	c.runs.Wait()
	// Close may hang in a join that waits for other members: a broken connection ends it.
	select {
	case <-left:
	case <-time.After(leaveTimeout):
		c.client.sockets.closeAll()
		<-left
	}
}

// generation starts a run for each assigned partition and returns; group.Next waits for
// their end.
func (c *consumer) generation(ctx context.Context, gen *kafka.Generation) {
	var ids []int
	for _, a := range gen.Assignments[c.opt.Topic] {
		ids = append(ids, a.ID)
	}
	c.metrics.generations.Inc()
	c.log.Info("joined the group", "generation", gen.ID, "partitions", ids)
	if len(ids) == 0 {
		return
	}
	starts, err := c.starts(ctx, ids)
	if err != nil {
		c.ended(0, 1)
		c.log.Warn("no place to start from, rejoining", "err", err)
		gen.Start(func(context.Context) {}) // a function that returns ends the generation
		return
	}
	m := membership{client: c.client, group: gen.GroupID, member: gen.MemberID, generation: gen.ID}
	for _, id := range ids {
		c.runs.Add(1)
		gen.Start(func(over context.Context) {
			defer c.runs.Done()
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(over, cancel)()
			c.partition(ctx, newPartition(c.opt.Topic, int32(id), m, starts[id], c.metrics))
		})
	}
}

// partition runs one partition to its end.
func (c *consumer) partition(ctx context.Context, p *Partition) {
	began := time.Now()
	reading, stop := context.WithCancel(ctx)
	var reader sync.WaitGroup
	reader.Go(func() {
		(&readAhead{p: p, log: c.log, clientID: c.client.dialer.ClientID}).run(reading)
	})
	err := c.run(ctx, p)
	interrupted := ctx.Err() != nil
	stop()
	reader.Wait()
	p.hideLag()
	log := c.log.With("partition", p.id)
	switch {
	case interrupted && (err == nil || errors.Is(err, context.Canceled)):
		c.ended(time.Since(began), 0)
	case errors.Is(err, ErrFenced):
		log.Info("partition was taken over", "err", err)
	default:
		c.ended(time.Since(began), 1)
		log.Warn("partition ended, rejoining", "err", err)
	}
}

// ended keeps count of failures in a row, over all partitions: one that fails at once
// ends the runs of its neighbours too, and their short runs are no sign of health.
func (c *consumer) ended(ran time.Duration, failures int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ran > goodRun {
		c.failures = 0
	}
	c.failures += failures
}

// backoff is how long to wait before the next generation. It is nothing after a
// rebalance, and grows with failures in a row.
func (c *consumer) backoff() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures == 0 {
		return 0
	}
	return min(rejoinBackoff<<min(c.failures-1, 4), maxBackoff)
}

// sleep waits for d and says whether ctx is still live.
func sleep(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
