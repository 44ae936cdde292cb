package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kfake"
)

var silent = slog.New(slog.DiscardHandler)

// reading returns a partition that is being read from offset 0 of topic t, and what stops
// the reading.
func reading(t testing.TB, addrs []string) (*Partition, *consumerMetrics, func()) {
	t.Helper()
	c, err := newClient(Config{Brokers: addrs})
	if err != nil {
		t.Fatal(err)
	}
	m, err := newConsumerMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	p := newPartition("t", 0, membership{client: c}, start{}, m)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&readAhead{p: p, log: silent, clientID: "test"}).run(ctx)
	}()
	return p, m, func() { cancel(); <-done; c.Close() }
}

// The leader moves to another broker in mid-stream, and back.
func TestTheLeaderMoves(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(1, "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cfg := Config{Brokers: c.ListenAddrs()}
	prod, err := NewProducer(cfg, ProducerOptions{Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	defer prod.Close()
	p, _, stop := reading(t, cfg.Brokers)
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	want := 0
	for move := range 4 {
		if err := c.MoveTopicPartition("t", 0, int32(move%3)); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			msg := []Message{{Value: []byte(fmt.Sprint(want))}}
			for prod.Send(ctx, msg)[0] != nil {
				if !sleep(ctx, 50*time.Millisecond) {
					t.Fatal("the producer does not find the new leader")
				}
			}
			want++
		}
		for got := want - 5; got < want; {
			rs, err := p.Fetch(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rs {
				if string(r.Value) != fmt.Sprint(got) {
					t.Errorf("read %s, want %d", r.Value, got)
				}
				got++
			}
		}
	}
}

// A batch that stays corrupt is skipped after a few tries, counted, and what follows is
// read.
func TestACorruptBatchIsSkipped(t *testing.T) {
	bad := batch(t, 0, 3, 0)
	bad[len(bad)-1] ^= 1
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "t"), kfake.SyntheticFetch(kfake.SyntheticBatch{Batch: bad}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p, m, stop := reading(t, c.ListenAddrs())
	defer stop()
	deadline := time.Now().Add(20 * time.Second)
	for testutil.ToFloat64(m.lost.WithLabelValues("corrupt")) < 6 {
		if rs, err := p.Fetch(t.Context()); err != nil || len(rs) > 0 {
			t.Fatalf("%d records, %v", len(rs), err)
		}
		if time.Now().After(deadline) {
			t.Fatal("the reader does not pass the corrupt batch")
		}
	}
}

// BenchmarkDrain reads 8 KiB records, zstd, in batches of about 1 MiB.
func BenchmarkDrain(b *testing.B) {
	const perBatch, size = 120, 8 << 10
	one := largeBatch(b, perBatch, size)
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "t"), kfake.SyntheticFetch(kfake.SyntheticBatch{Batch: one}))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	b.Run("Partition.Fetch", func(b *testing.B) {
		p, _, stop := reading(b, c.ListenAddrs())
		defer stop()
		b.SetBytes(size)
		b.ReportAllocs()
		defer cpuPerOp(b)()
		for n := 0; n < b.N; {
			rs, err := p.Fetch(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			n += len(rs)
		}
	})
	b.Run("kafka-go Reader", func(b *testing.B) { drainReader(b, c.ListenAddrs(), size) })
}

var sinkOffset atomic.Int64

// BenchmarkDecode is the decoder alone.
func BenchmarkDecode(b *testing.B) {
	one := largeBatch(b, 120, 8<<10)
	var (
		d decoder
		p page
	)
	b.SetBytes(8 << 10)
	b.ReportAllocs()
	for n := 0; n < b.N; n += len(p.records) {
		next, err := d.decode(&p, one, 0, 0)
		if err != nil {
			b.Fatal(err)
		}
		sinkOffset.Store(next)
	}
}

// largeBatch is a compressed batch of n records of size bytes each, half of them noise.
func largeBatch(t testing.TB, n, size int) []byte {
	var body []byte
	value := make([]byte, size)
	x := uint64(1)
	for i := 0; i < size; i += 16 {
		x = x*6364136223846793005 + 1442695040888963407
		binary.LittleEndian.PutUint64(value[i:], x)
	}
	for range n {
		body = append(body, value...)
	}
	return batchOf(t, n, body)
}

func batchOf(t testing.TB, n int, body []byte) []byte {
	t.Helper()
	size := len(body) / n
	recs := make([]protocol.Record, n)
	for i := range recs {
		recs[i] = protocol.Record{
			Time: time.UnixMilli(1_000_000), Key: protocol.NewBytes([]byte("node-1")), Value: protocol.NewBytes(body[i*size : (i+1)*size]),
			Headers: []protocol.Header{
				{Key: "sx-v", Value: []byte("1")}, {Key: "sx-node", Value: []byte("node-1")}, {Key: "sx-agent", Value: []byte("5f3759df")},
				{Key: "sx-target", Value: []byte("node/node-1:9100")}, {Key: "sx-seq", Value: []byte("123456")}, {Key: "sx-oldest", Value: []byte("123456")},
				{Key: "sx-dropped", Value: []byte("0")}, {Key: "sx-scrape", Value: []byte("1700000000000")}, {Key: "sx-state", Value: []byte("ok")},
			},
		}
	}
	var buf bytes.Buffer
	rs := protocol.RecordSet{Version: 2, Attributes: protocol.Attributes(kafka.Zstd), Records: protocol.NewRecordReader(recs...)}
	if _, err := rs.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()[4:]
}

// cpuPerOp reports the processor time of the whole process, the broker included, which is
// what counts where many partitions share a machine.
func cpuPerOp(b *testing.B) func() {
	before := cpu(b)
	return func() { b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op") }
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// drainReader is the same with kafka-go's own reader, as a measure.
func drainReader(b *testing.B, addrs []string, size int64) {
	r := kafka.NewReader(kafka.ReaderConfig{
		Brokers: addrs, Topic: "t", Partition: 0, MaxWait: time.Second, MinBytes: fetchMinBytes, MaxBytes: fetchMaxBytes,
		QueueCapacity: 1000, ReadLagInterval: -1,
	})
	defer r.Close()
	if err := r.SetOffset(0); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	defer cpuPerOp(b)()
	for range b.N {
		if _, err := r.ReadMessage(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
