package kafka

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"sextant/schema/wire"
)

// Message is one record to send. Its slices must stay unchanged until Send returns.
type Message struct {
	Topic   string // empty: the producer's
	Key     []byte // decides the partition, as Kafka's own clients do (murmur2)
	Value   []byte
	Headers []wire.Header
}

// ProducerOptions are a producer's limits. A zero field takes the default.
type ProducerOptions struct {
	Topic          string                // of messages that name none
	MaxRecordBytes int                   // larger records are refused unsent; default 1 MiB
	Timeout        time.Duration         // of one Send; default 10 s
	Uncompressed   []string              // topics that take no compression: the compacted ones
	Registerer     prometheus.Registerer // nil: no metrics
}

// Defaults of ProducerOptions, and the limit of what goes into one request.
const (
	DefaultMaxRecordBytes = 1 << 20
	defaultSendTimeout    = 10 * time.Second
	batchBytes            = 1 << 20 // uncompressed; a single record may exceed it
)

// producerMetadataTTL is how long a producer believes what it knows of the cluster. A send
// that fails for a moved leader or a lost connection asks anew at once, so only a topic
// with more partitions waits so long; asking often would be most of what a quiet agent
// costs itself and its brokers.
const producerMetadataTTL = 5 * time.Minute

// Producer writes records durably: a record is acknowledged when all in-sync replicas
// have it. It is safe for concurrent use.
type Producer struct {
	client  *client
	id      string
	opt     ProducerOptions
	metrics *producerMetrics
	pack    *compressor

	mu   sync.Mutex
	free []*sender // guarded by mu: at most maxFree
}

// sender is what it takes to send to one partition at a time.
type sender struct {
	req   produceRequest
	batch batchBuilder
}

const maxFree = 2

// NewProducer returns a producer. It connects on the first Send, so a broker that is away
// is Send's error.
func NewProducer(cfg Config, opt ProducerOptions) (*Producer, error) {
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	c.transport.MetadataTTL = producerMetadataTTL
	if opt.MaxRecordBytes == 0 {
		opt.MaxRecordBytes = DefaultMaxRecordBytes
	}
	if opt.Timeout == 0 {
		opt.Timeout = defaultSendTimeout
	}
	pack, err := newCompressor()
	if err != nil {
		c.Close()
		return nil, err
	}
	m, err := newProducerMetrics(opt.Registerer)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("producer metrics: %w", err)
	}
	return &Producer{client: c, id: c.transport.ClientID, opt: opt, metrics: m, pack: pack}, nil
}

// Close drops the connections. A Send in progress fails.
func (p *Producer) Close() error {
	p.client.Close()
	return nil
}

// Send tries each message once and returns one result for each, in their order: nil
// (stored on all in-sync replicas), an error that is ErrTooLarge (will never be stored),
// or another error, after which the caller sends the message again for as long as it
// takes. Such a message may have been stored: the caller's records carry a sequence
// number, which makes the copy harmless.
func (p *Producer) Send(ctx context.Context, msgs []Message) []error {
	ctx, cancel := context.WithTimeout(ctx, p.opt.Timeout)
	defer cancel()
	errs := make([]error, len(msgs))

	routes := p.route(ctx, msgs, errs)
	var wg sync.WaitGroup
	for to, idx := range routes {
		if len(routes) == 1 { // an agent's: its records have one key
			p.sendPartition(ctx, to, msgs, idx, errs)
			continue
		}
		wg.Go(func() { p.sendPartition(ctx, to, msgs, idx, errs) })
	}
	wg.Wait()
	p.count(msgs, errs)
	if slices.ContainsFunc(errs, func(err error) bool { return err != nil && !isTooLarge(err) && stale(err) }) {
		// kafka-go keeps what it believes for as long as it was told to, whatever the
		// brokers answer: without its connections it has to ask again.
		p.client.transport.CloseIdleConnections()
	}
	return errs
}

// partition is where a message goes.
type partition struct {
	topic string
	id    int
}

// route sorts the messages by partition. What cannot be sent gets its error in errs.
func (p *Producer) route(ctx context.Context, msgs []Message, errs []error) map[partition][]int {
	balancer := kafka.Murmur2Balancer{Consistent: true}
	counts := map[string][]int{}
	routes := map[partition][]int{}
	for i := range msgs {
		if n := recordSize(&msgs[i]); n > p.opt.MaxRecordBytes {
			errs[i] = fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, n, p.opt.MaxRecordBytes)
			continue
		}
		topic := p.topic(&msgs[i])
		ids, known := counts[topic]
		if !known {
			var err error
			if ids, err = p.client.partitions(ctx, topic); err != nil {
				errs[i] = err
				continue
			}
			counts[topic] = ids
		}
		to := partition{topic, balancer.Balance(kafka.Message{Key: msgs[i].Key}, ids...)}
		routes[to] = append(routes[to], i)
	}
	return routes
}

func (p *Producer) topic(m *Message) string {
	if m.Topic != "" {
		return m.Topic
	}
	return p.opt.Topic
}

// sendPartition sends the messages at idx in as many requests as their size needs. After
// a failed request the rest is not tried: it would only wait for the same timeout.
func (p *Producer) sendPartition(ctx context.Context, to partition, msgs []Message, idx []int, errs []error) {
	for len(idx) > 0 {
		n, size := 0, 0
		for n < len(idx) && (n == 0 || size+recordSize(&msgs[idx[n]]) <= batchBytes) {
			size += recordSize(&msgs[idx[n]])
			n++
		}
		err := p.produce(ctx, to, msgs, idx[:n])
		switch {
		case err == nil:
		case tooLarge(err) && n > 1:
			// The broker refuses a whole batch for one large record, or for their sum.
			// Alone, each gets its own answer.
			for k := range n {
				errs[idx[k]] = p.classify(p.produce(ctx, to, msgs, idx[k:k+1]))
			}
		case tooLarge(err):
			errs[idx[0]] = p.classify(err)
		default:
			for _, i := range idx {
				errs[i] = err
			}
			return
		}
		idx = idx[n:]
	}
}

func (p *Producer) classify(err error) error {
	if tooLarge(err) {
		return fmt.Errorf("%w: refused by the broker: %w", ErrTooLarge, err)
	}
	return err
}

// produce sends one request and waits for all in-sync replicas.
func (p *Producer) produce(ctx context.Context, to partition, msgs []Message, idx []int) error {
	s := p.sender()
	timeout := p.opt.Timeout
	if end, ok := ctx.Deadline(); ok {
		timeout = max(min(timeout, time.Until(end)), time.Millisecond)
	}
	s.req.begin(p.id, to.topic, int32(to.id), timeout)
	at := len(s.req.out)
	// Compaction thins batches out, and clients are known to fail on compressed ones that
	// were.
	s.batch.plain = slices.Contains(p.opt.Uncompressed, to.topic)
	s.req.out = s.batch.append(s.req.out, msgs, idx, time.Now())
	s.req.end(at)
	res, err := p.client.transport.RoundTrip(ctx, p.client.Addr, &s.req)
	if err == nil {
		err = res.(*produceResponse).err()
		p.giveBack(s) // only here: after a failed round trip the transport may still use it
	}
	if err != nil {
		return fmt.Errorf("produce %d records to %s/%d: %w", len(idx), to.topic, to.id, err)
	}
	return nil
}

func (p *Producer) sender() *sender {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		return s
	}
	return &sender{batch: batchBuilder{pack: p.pack}}
}

func (p *Producer) giveBack(s *sender) {
	if cap(s.req.out) > keepBuffer {
		s.req.out = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < maxFree {
		p.free = append(p.free, s)
	}
}

func (p *Producer) count(msgs []Message, errs []error) {
	for i, err := range errs {
		switch {
		case err == nil:
			p.metrics.records.WithLabelValues("ok").Inc()
			p.metrics.bytes.Add(float64(recordSize(&msgs[i])))
		case isTooLarge(err):
			p.metrics.records.WithLabelValues("too_large").Inc()
		default:
			p.metrics.records.WithLabelValues("retry").Inc()
		}
	}
}

// recordSize is what m takes in a batch, uncompressed, at most.
func recordSize(m *Message) int {
	n := 64 + len(m.Key) + len(m.Value)
	for i := range m.Headers {
		n += 10 + len(m.Headers[i].Key) + len(m.Headers[i].Value)
	}
	return n
}
