package receive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	promconfig "github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage/remote"
	promagent "github.com/prometheus/prometheus/tsdb/agent"

	"sextant/collectors/ship"
	"sextant/collectors/spool"
	"sextant/internal/embedded/broker"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

const topic = "telemetry.test"

// TestPrometheusToKafka joins the agent-mode storage of Prometheus (its write-ahead log,
// its queue, its client) with the receiver, the spool, the shipper and a broker. The disk
// is full at first, so Prometheus has to send again. Every sample has to be in the topic,
// under its own labels, time and bits.
func TestPrometheusToKafka(t *testing.T) {
	both(t, func(t *testing.T, p protocol) {
		b, err := broker.Start(t.Context(), broker.Config{Dir: t.TempDir(), Logger: quiet,
			Topics: []topics.Topic{{Name: topic, Partitions: 1, Replication: 1, Config: map[string]string{"max.message.bytes": "2097152", "message.timestamp.type": "LogAppendTime"}}}})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		queue, err := spool.Open(t.TempDir(), spool.Options{Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		defer queue.Close()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		shipTo(ctx, t, &wg, queue, b.Addr())
		full := &fullAtFirst{Sink: queue, times: 2}
		addr := serve(ctx, t, &wg, full)

		want := sendFromPrometheus(t, addr, p)
		consume(t, b.Addr(), want)
		if full.times != 0 {
			t.Fatalf("the sender met a full disk %d times less than it should", full.times)
		}
	})
}

// fullAtFirst is a spool that cannot keep its first entries.
type fullAtFirst struct {
	Sink
	mu    sync.Mutex
	times int // guarded by mu
}

func (f *fullAtFirst) Append(e spool.Entry) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.times > 0 {
		f.times--
		return 0, fmt.Errorf("%w: no space left on device", spool.ErrNotDurable)
	}
	return f.Sink.Append(e)
}

func shipTo(ctx context.Context, t *testing.T, wg *sync.WaitGroup, queue *spool.Spool, addr string) {
	t.Helper()
	producer, err := kafka.NewProducer(kafka.Config{Brokers: []string{addr}}, kafka.ProducerOptions{Topic: topic})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { producer.Close() })
	shipper, err := ship.New(queue, producer, ship.Options{Logger: quiet, Topic: topic})
	if err != nil {
		t.Fatal(err)
	}
	wg.Go(func() {
		if err := shipper.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

// serve runs a receiver on any port.
func serve(ctx context.Context, t *testing.T, wg *sync.WaitGroup, sink Sink) (addr string) {
	t.Helper()
	cfg := Defaults()
	cfg.Listen = "127.0.0.1:0"
	r, err := Listen(cfg, options(sink))
	if err != nil {
		t.Fatal(err)
	}
	wg.Go(func() {
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return r.Addr()
}

// sendFromPrometheus appends samples to an agent-mode storage that writes to addr, waits
// until it has sent them, and returns a line for each.
func sendFromPrometheus(t *testing.T, addr string, p protocol) map[string]bool {
	t.Helper()
	dir, reg := t.TempDir(), prometheus.NewRegistry()
	cfg, err := promconfig.Load(fmt.Sprintf(`
global: {external_labels: {cluster: c1}}
remote_write:
- url: http://%s/api/v1/write
  protobuf_message: %s
  metadata_config: {send: false}
  queue_config: {batch_send_deadline: 50ms, max_samples_per_send: 100, min_backoff: 10ms, max_shards: 2}
`, addr, map[protocol]string{v1: messageV1, v2: messageV2}[p]), quiet)
	if err != nil {
		t.Fatal(err)
	}
	store := remote.NewStorage(quiet, reg, func() (int64, error) { return 0, nil }, dir, 10*time.Second, nil, false)
	db, err := promagent.Open(quiet, reg, store, dir, promagent.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	db.SetWriteNotified(store)
	if err := store.ApplyConfig(cfg); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	begin := time.Now().Add(time.Second).UnixMilli() // what is older than the queue is not sent
	for tick := range 20 {
		app := db.Appender(t.Context())
		for s := range 30 {
			ls := labels.FromStrings("__name__", fmt.Sprintf("m%d", s%10), "instance", fmt.Sprintf("n%d:9100", s/10), "job", "node")
			at, v := begin+int64(tick)*10, float64(tick*s)
			if tick == 19 && s%3 == 0 {
				v = math.Float64frombits(value.StaleNaN)
			}
			if _, err := app.Append(0, ls, at, v); err != nil {
				t.Fatal(err)
			}
			sent := labels.NewBuilder(ls).Set("cluster", "c1").Labels()
			want[line(fmt.Sprintf("n%d", s/10), fmt.Sprintf("node/n%d:9100", s/10), sent, at, v)] = true
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all is sent", func() bool {
		store.Notify() // the reader of the log may not have been there at the commits
		return sum(t, reg, "prometheus_remote_storage_samples_total") >= float64(len(want)) && sum(t, reg, "prometheus_remote_storage_samples_pending") == 0
	})
	failed, retried := sum(t, reg, "prometheus_remote_storage_samples_failed_total"), sum(t, reg, "prometheus_remote_storage_samples_retried_total")
	if failed != 0 || retried == 0 {
		t.Errorf("the sender counts %v samples as failed and %v as sent again", failed, retried)
	}
	if err := errors.Join(db.Close(), store.Close()); err != nil {
		t.Fatal(err)
	}
	return want
}

// sum adds up a metric over its labels.
func sum(t *testing.T, reg *prometheus.Registry, name string) (total float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				total += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return total
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); <-tick.C {
		if ok() {
			return
		}
	}
	t.Fatalf("not within a minute: %s", what)
}

// consume reads the topic until every wanted line was there. A line may come twice, other
// lines may not come.
func consume(t *testing.T, addr string, want map[string]bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	missing := len(want)
	err := kafka.Consume(ctx, kafka.Config{Brokers: []string{addr}}, kafka.ConsumerOptions{Group: "reader", Topic: topic, Logger: quiet},
		func(ctx context.Context, p *kafka.Partition) error {
			for ctx.Err() == nil {
				records, err := p.Fetch(ctx)
				if err != nil {
					return err
				}
				for _, r := range records {
					e, err := wire.ParseEnvelope(r.Headers, nil)
					if err != nil || string(r.Key) != e.Node || e.State != wire.StateOK {
						return fmt.Errorf("record %d with key %s: %+v: %w", r.Offset, r.Key, e, err)
					}
					for _, l := range linesOf(t, e.Node, e.Target, r.Value) {
						fresh, ok := want[l]
						if !ok {
							return fmt.Errorf("nobody sent %s", l)
						}
						if fresh {
							want[l] = false
							missing--
						}
					}
				}
				if missing == 0 {
					cancel()
				}
			}
			return nil
		})
	if err != nil || missing > 0 {
		var lost []string
		for l, open := range want {
			if open {
				lost = append(lost, l)
			}
		}
		slices.Sort(lost)
		t.Fatalf("%d of %d samples are not in the topic: %v\n%s", missing, len(want), err, strings.Join(lost[:min(5, len(lost))], "\n"))
	}
}
