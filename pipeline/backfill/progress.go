package backfill

import "sync"

// teller adds up what the parts do, and tells of it.
type teller struct {
	told func(Progress)

	mu  sync.Mutex
	sum Progress // guarded by mu
}

func newTeller(told func(Progress)) *teller {
	if told == nil {
		told = func(Progress) {}
	}
	return &teller{told: told}
}

func (t *teller) total(ticks int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Ticks += ticks
}

// moved adds what was done. The callback runs under the lock: its calls come one by one.
func (t *teller) moved(p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Done += p.Done
	t.sum.Samples += p.Samples
	t.sum.Counts.add(p.Counts)
	t.told(t.sum)
}

func (t *teller) progress() Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sum
}
