package clickhouse

import (
	"context"
	"sync/atomic"
)

// slots bound how many statements run and how many requests wait for that.
type slots struct {
	free    chan struct{}
	queue   int64
	waiting atomic.Int64
}

func newSlots(n, queue int) *slots {
	return &slots{free: make(chan struct{}, n), queue: int64(queue)}
}

// acquire waits for a slot; the caller gives it back by release. A full queue is an exception at once.
func (s *slots) acquire(ctx context.Context) error {
	select {
	case s.free <- struct{}{}:
		return nil
	default:
	}
	if s.waiting.Add(1) > s.queue {
		s.waiting.Add(-1)
		return fail(codeTooManyQueries, "Too many simultaneous queries: %d run and %d wait", cap(s.free), s.queue)
	}
	defer s.waiting.Add(-1)
	select {
	case s.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slots) release() { <-s.free }
