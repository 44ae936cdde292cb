package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/segmentio/kafka-go"
)

// Patience of a reading partition.
const (
	// A broker that does not answer, or answers without the records that it says it has,
	// for so long makes the partition fail, and the group rejoin with new connections.
	stallLimit    = 30 * time.Second
	fetchDeadline = fetchMaxWait + 5*time.Second
	fetchBackoff  = 200 * time.Millisecond
	// A corrupt batch is fetched again before it is skipped: the damage may be on the way.
	corruptTries = 3
)

var errStalled = errors.New("every fetch came back empty")

// readAhead is the goroutine that fetches and decodes one partition ahead of its caller.
type readAhead struct {
	p        *Partition
	log      *slog.Logger
	clientID string

	decoder decoder
	next    int64 // offset to fetch
	failing bool  // the last fetch failed: logged once, and once when it is over
	corrupt int   // tries of the corrupt batch at next
}

// run fills free pages until ctx ends or the partition cannot be read on. It closes
// p.full, behind a page that holds the error if there is one.
func (r *readAhead) run(ctx context.Context) {
	defer close(r.p.full)
	r.next = r.p.from.offset
	for {
		var pg *page
		select {
		case pg = <-r.p.free:
		case <-ctx.Done():
			return
		}
		pg.err = r.fill(ctx, pg)
		if ctx.Err() != nil {
			return
		}
		r.p.full <- pg // never blocks: there are two pages in all
		if pg.err != nil {
			return
		}
	}
}

// fill returns once the page holds records, or with the error that ends the partition.
func (r *readAhead) fill(ctx context.Context, pg *page) error {
	progress := time.Now() // of the last time that there was nothing to read
	for ctx.Err() == nil {
		err := r.fetch(ctx, pg)
		var bad *corruptError
		switch {
		case len(pg.records) > 0:
			r.corrupt = 0
			return nil
		case errors.As(err, &bad):
			r.skipCorrupt(bad)
		case errors.Is(err, kafka.OffsetOutOfRange):
			// Expired, or lost by the broker: the start of the next generation decides.
			return fmt.Errorf("fetch %s/%d at %d: %w", r.p.topic, r.p.id, r.next, err)
		case err == nil && r.next >= r.p.watermark.Load():
			progress = time.Now()
		}
		if stalled := time.Since(progress); stalled > stallLimit {
			return fmt.Errorf("fetch %s/%d at %d: no records for %s though the broker has some up to %d: %w",
				r.p.topic, r.p.id, r.next, stalled.Round(time.Second), r.p.watermark.Load(), cmp.Or(err, errStalled))
		}
		if err == nil {
			continue // the broker has waited already
		}
		select {
		case <-ctx.Done():
		case <-time.After(fetchBackoff):
		}
	}
	return ctx.Err()
}

// fetch makes one request and decodes what came back into pg.
func (r *readAhead) fetch(ctx context.Context, pg *page) error {
	pg.records = pg.records[:0]
	ctx, cancel := context.WithTimeout(ctx, fetchDeadline)
	defer cancel()
	req := &fetchRequest{topic: r.p.topic, partition: r.p.id, offset: r.next, clientID: r.clientID, buf: pg.response}
	// Until the request has succeeded its goroutine may still write to the buffer.
	pg.response = nil
	client := r.p.member.client
	_, err := client.transport.RoundTrip(ctx, client.Addr, req)
	if err == nil {
		pg.response = req.buf
		err = req.res.err()
	}
	r.turn(ctx, err)
	if err != nil {
		return err
	}
	r.p.metrics.bytes.Add(float64(len(req.res.batches)))
	r.p.watermark.Store(req.res.highWatermark)
	r.p.showLag()
	r.next, err = r.decoder.decode(pg, req.res.batches, r.p.id, r.next)
	return err
}

// turn counts each failed fetch and logs the first of a row, and the end of the row.
func (r *readAhead) turn(ctx context.Context, err error) {
	failed := err != nil && ctx.Err() == nil
	if failed {
		r.p.metrics.failures.Inc()
	}
	if failed == r.failing {
		return
	}
	if r.failing = failed; failed {
		r.log.Warn("fetch fails, trying on", "partition", r.p.id, "offset", r.next, "err", err)
	} else {
		r.log.Info("fetch works again", "partition", r.p.id, "offset", r.next)
	}
}

// skipCorrupt gives up a batch that stayed corrupt: one bad sector must not stop all
// nodes of a partition for good. What is skipped is counted, and shows as a gap of
// sequence numbers in the ledger.
func (r *readAhead) skipCorrupt(bad *corruptError) {
	r.corrupt++
	if r.corrupt < corruptTries {
		return
	}
	r.corrupt = 0
	to := max(min(bad.Next, r.p.watermark.Load()), bad.From+1)
	r.p.metrics.lost.WithLabelValues("corrupt").Add(float64(to - bad.From))
	r.log.Error("skipping a corrupt record batch", "partition", r.p.id, "from", bad.From, "to", to-1, "err", bad.Err)
	r.next = to
}
