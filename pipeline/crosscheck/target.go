package crosscheck

import "math/bits"

// Target is what is remembered of the pages of one target.
type Target struct {
	at     int64
	body   uint64
	times  [window]int64 // of the last scrapes, the newest first
	same   uint8         // bit i: the page of times[i] repeats the one before it
	raised int64         // when pages were last seen to come too seldom; 0: never
}

const (
	window  = 8 // scrapes that say how often pages are new
	repeats = 3 // of them, those that must be no news
	frozen  = 5 // pages that must be one and the same
)

// Page is one scrape of a target.
type Page struct {
	Body   uint64 // a hash of what must move
	Cached bool   // most of it has the exporter's own time, and had the same the last time
	Moves  bool   // it has something that cannot stand still
}

// Observe takes the page of a scrape at t, unix ms, later than the one before. It reports
// whether the target is frozen, and whether its pages are renewed more seldom than it is
// scraped. One that stands still is frozen, and says nothing of a period.
func (g *Target) Observe(t int64, p Page) (isFrozen, slow bool) {
	same := p.Moves && g.at != 0 && t-g.at <= maxGap && (p.Body == g.body || p.Cached)
	g.at, g.body = t, p.Body
	copy(g.times[1:], g.times[:])
	g.times[0] = t
	g.same <<= 1
	if same {
		g.same |= 1
	}
	const run = 1<<(frozen-1) - 1
	isFrozen = g.same&run == run && t-g.times[frozen-1] <= judged
	if g.slow() && t-g.times[window-1] <= judged-hold {
		g.raised = t
	}
	return isFrozen, g.raised != 0 && t-g.raised <= hold
}

// slow says that pages repeat, in more than one run: one run may be how a freeze begins.
func (g *Target) slow() bool {
	begins := g.same &^ (g.same << 1)
	return bits.OnesCount8(g.same) >= repeats && bits.OnesCount8(begins) >= 2
}

// Mix adds a value to the hash of a page.
func Mix(body, value uint64) uint64 {
	return bits.RotateLeft64(body^value, 29) * 0x9e3779b97f4a7c15
}
