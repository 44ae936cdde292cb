package snapshot

import (
	"slices"
	"sync"

	"sextant/features"
)

// aligner remembers the entities of a plan. They change when a node comes or goes, and not at
// each tick.
type aligner struct {
	plan *plan

	mu     sync.Mutex
	epochs []int64   // guarded by mu: of last, by view
	sorted [][]int32 // guarded by mu
	last   *entities // guarded by mu
}

// align is as the function of that name. Epochs number the entities of each view: see
// online.Snapshot.Epoch.
func (a *aligner) align(rows []*features.Rows, epochs []int64) *entities {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last != nil && slices.Equal(a.epochs, epochs) {
		return a.last
	}
	sorted := make([][]int32, len(rows))
	for v := range rows {
		if a.last != nil && a.epochs[v] == epochs[v] {
			sorted[v] = a.sorted[v]
		} else {
			sorted[v] = a.plan.sort(v, rows[v])
		}
	}
	a.epochs, a.sorted, a.last = slices.Clone(epochs), sorted, align(a.plan, rows, sorted)
	a.last.keyBlobs()
	return a.last
}
