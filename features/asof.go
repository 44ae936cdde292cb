package features

import "time"

// Asks are questions of one view: what was known of an entity at a time. They may repeat.
type Asks struct {
	Keys [][]string // Keys[k][i] is the value of View.Keys[k] in ask i
	At   []int64    // unix ms

	// AsCorrected asks for what is known today of the time before At: no cut-off by known
	// time, and a corrected row stands over the one that was served.
	AsCorrected bool
}

// Answers are one row, or none, for each ask: of the entity's rows with a tick at or before
// the ask's time, and known by then, the one with the highest tick. Of several of one tick
// that with the higher known time stands, as in the store. Its age is for the reader to
// judge: see View.RowStatus.
type Answers struct {
	Rows *Rows
	Row  []int32 // of each ask; -1 where nothing is known, or only what is older than View.Memory
}

// minMemory is how long a row is remembered, however short its TTL.
const minMemory = 10 * time.Minute

// Memory is how far back a row is looked for, before an entity counts as not found rather
// than as too old: twice the TTL, and ten minutes at least.
func (v *View) Memory() time.Duration { return max(2*v.TTL, minMemory) }

// RowStatus says what the existence and age of an entity's row mean at now, in unix ms:
// Present, NotFound or OutsideMaxAge. Live traffic and training sets both ask it.
func (v *View) RowStatus(found bool, tick, now int64) Status {
	switch {
	case !found || now-tick > v.Memory().Milliseconds():
		return NotFound
	case v.Expired(tick, now):
		return OutsideMaxAge
	}
	return Present
}

// Status of ask i, which was at now.
func (a *Answers) Status(i int, now int64) Status {
	row := a.Row[i]
	if row < 0 {
		return NotFound
	}
	return a.Rows.View.RowStatus(true, a.Rows.Tick[row], now)
}
