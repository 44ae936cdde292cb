package broker

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"sextant/schema/topics"
)

// TestAcknowledgedRecordsSurviveClose closes the broker again and again while many clients send
// one record after another. What was acknowledged is there afterwards, and so is what comes
// later: a record that is taken after the last snapshot would shift all that follow it.
func TestAcknowledgedRecordsSurviveClose(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	acked := map[string]bool{}
	for round := range 12 {
		b := start(t, dir, nil)
		var senders sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		for s := range 16 {
			cl := client(t, b, kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.AllISRAcks()), kgo.RecordRetries(0), kgo.ProducerLinger(0), kgo.DisableClientMetrics())
			senders.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					text := fmt.Sprintf("%d/%d/%d", round, s, n)
					if cl.ProduceSync(ctx, &kgo.Record{Value: []byte(text)}).FirstErr() == nil {
						mu.Lock()
						acked[text] = true
						mu.Unlock()
					}
				}
			})
		}
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // any moment of the stream will do
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		stop()
		senders.Wait()
	}
	b := start(t, dir, nil)
	defer b.Close()
	mu.Lock()
	defer mu.Unlock()
	for _, text := range everything(t, b) {
		delete(acked, text)
	}
	if len(acked) > 0 {
		t.Errorf("%d acknowledged records are missing", len(acked))
	}
}

// everything is what can be read of the samples.
func everything(t *testing.T, b *Broker) []string {
	t.Helper()
	info := b.cluster.PartitionInfo(topics.Samples, 0)
	cl := client(t, b, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topics.Samples: {0: kgo.NewOffset().AtStart()}}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out []string
	for next := info.LogStartOffset; next < info.HighWatermark; {
		fs := cl.PollFetches(ctx)
		if err := fs.Err(); err != nil {
			t.Errorf("offset %d of %d: %v", next, info.HighWatermark, err)
			break
		}
		for _, r := range fs.Records() {
			out, next = append(out, string(r.Value)), r.Offset+1
		}
	}
	return out
}
