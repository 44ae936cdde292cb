// Package snapshot serves the whole cluster at one moment: a feature service as a dense
// matrix, the cluster as a graph, and what changes from one moment to the next. A moment is
// named by its tick, and means the same on every replica and in the past.
package snapshot

import "time"

// Step is the distance of two versions.
const Step = 10 * time.Second

const stepMillis = int64(Step / time.Millisecond)

// Moment is one version of the cluster.
type Moment struct {
	Tick int64 // unix ms, a multiple of Step: the version
	At   int64 // unix ms: its rows are those that were known by then, and as old as they were then
}

// momentAt is the version that is served at now, in unix ms: the newest tick that was settled
// by then. Settle is below Step, so that by Moment.At no row of a later tick can be known.
func momentAt(now int64, settle time.Duration) Moment {
	s := settle.Milliseconds()
	since := now - s
	tick := since - since%stepMillis
	return Moment{Tick: tick, At: tick + s}
}

// deadline is when the version is published in any case: from then on there may be rows of
// the next tick.
func (m Moment) deadline() int64 { return m.Tick + stepMillis }
