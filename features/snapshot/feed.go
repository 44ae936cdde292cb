package snapshot

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Bounds of a feed.
const (
	queueChanges = 2        // that a reader may be behind
	keepChanges  = 12       // that a reader may have missed, and
	keepBytes    = 64 << 20 // of them together
	keepIdle     = time.Minute
)

// feed is the changes of one service from version to version, for those who watch it. It works
// while somebody does, and a minute longer, for who comes back.
type feed struct {
	plan *plan

	mu      sync.Mutex
	last    *matrix              // guarded by mu: the version that all readers have or will have; nil: nobody watches
	whole   *change              // guarded by mu: all of last; nil: nobody asked
	past    []*change            // guarded by mu: those that led to last, without a gap
	readers map[*reader]struct{} // guarded by mu
	left    time.Time            // guarded by mu: when the last reader went
}

// reader takes the changes of a feed, in order.
type reader struct {
	changes chan *change
	ended   chan struct{} // closed when nothing more will come, after reason is set
	reason  string
}

// end tells the reader why nothing more comes. Feed.mu is held.
func (f *feed) end(r *reader, reason string) {
	if _, ok := f.readers[r]; ok {
		delete(f.readers, r)
		r.reason = reason
		close(r.ended)
	}
}

// feedAll sends each version's changes, until ctx is done.
func (s *Server) feedAll(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			for _, f := range s.feeds {
				f.endAll("the server ends: ask again")
			}
			return context.Cause(ctx)
		case <-s.fed:
			s.feedVersion(s.current.Load())
		}
	}
}

func (s *Server) feedVersion(e *edition) {
	for _, f := range s.feeds {
		if !f.awake(s.opts.Now()) {
			continue
		}
		x, err := s.matrix(e, f.plan)
		if err != nil {
			_, why := statusOf(err)
			f.endAll(why)
			continue
		}
		if n := f.advance(x); n > 0 {
			s.metrics.dropped.Add(float64(n))
		}
	}
}

// awake says whether anybody watches or did a while ago. A feed that falls asleep forgets.
func (f *feed) awake(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.readers) == 0 && now.Sub(f.left) > keepIdle {
		f.last, f.whole, f.past = nil, nil, nil
	}
	return f.last != nil
}

func (f *feed) endAll(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.readers {
		f.end(r, reason)
	}
}

// advance sends what x changes to all readers, and drops those that are too far behind. It
// waits for none.
func (f *feed) advance(x *matrix) (dropped int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil || f.last.header.Version >= x.header.Version {
		return 0
	}
	c := changeBetween(f.last, x)
	f.last, f.whole, f.past = x, nil, append(f.past, c)
	bytes := 0
	for i := len(f.past) - 1; i >= 0; i-- {
		if bytes += f.past[i].size; bytes > keepBytes || len(f.past)-i > keepChanges {
			f.past = append([]*change(nil), f.past[i+1:]...)
			break
		}
	}
	for r := range f.readers {
		select {
		case r.changes <- c:
		default:
			f.end(r, fmt.Sprintf("too slow: version %d came while %d before it were not read", c.version, queueChanges))
			dropped++
		}
	}
	return dropped
}

// join adds a reader that has version since, 0 for none, and says what it lacks. x is the
// version to begin with where nobody watches yet.
func (f *feed) join(since int64, x *matrix) (*reader, []*change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil || f.last.header.Version < x.header.Version && len(f.readers) == 0 {
		f.last, f.whole, f.past = x, nil, nil
	}
	r := &reader{changes: make(chan *change, queueChanges), ended: make(chan struct{})}
	f.readers[r] = struct{}{}
	if since == f.last.header.Version {
		return r, nil
	}
	for i, c := range f.past {
		if c.since == since {
			return r, append([]*change(nil), f.past[i:]...)
		}
	}
	if f.whole == nil {
		f.whole = whole(f.last)
	}
	return r, []*change{f.whole}
}

// leave takes a reader out.
func (f *feed) leave(r *reader, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.readers, r)
	f.left = now
}
