package ship

import "time"

// A batch of backlog is in the way of the fresh entries that arrive while it is sent. Its
// size follows how long the last one took, so that this stays near backlogTime on any
// link: a fast one carries large batches, a slow one small ones.
const (
	backlogTime     = 100 * time.Millisecond
	minBacklogBatch = 32 << 10
)

type pace struct {
	bytes int // of the next batch
	limit int
}

func newPace(limit int) pace { return pace{bytes: min(4*minBacklogBatch, limit), limit: limit} }

// sent learns from a batch of about p.bytes that took d.
func (p *pace) sent(d time.Duration) {
	switch {
	case d > backlogTime:
		p.bytes = max(p.bytes/2, minBacklogBatch)
	case d < backlogTime/2:
		p.bytes = min(p.bytes*3/2, p.limit)
	}
}
