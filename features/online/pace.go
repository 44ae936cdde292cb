package online

import "time"

// pace says when a view is looked at next. Its rows come at a tick, and partitions that
// are a little behind add to them in the seconds after: then every look finds something.
// Later most find nothing, and cost the source as much. So looks that find nothing make the
// pauses longer, until the rows of the next tick may be there.
type pace struct {
	quiet int       // looks in a row that found nothing new
	due   time.Time // when the rows of the next tick may be there
}

// maxQuiet bounds the pauses: a straggler is seen after 4 of the shortest.
const maxQuiet = 2

// looked notes a look that began at start, and what it found.
func (p *pace) looked(start time.Time, found, newTick bool, interval time.Duration) {
	p.quiet++
	if found {
		p.quiet = 0
	}
	if newTick {
		p.due = start.Add(interval * 9 / 10)
	}
}

// next is the time of the next look. pause is the shortest.
func (p *pace) next(now time.Time, pause time.Duration) time.Time {
	if !now.Before(p.due) {
		return now.Add(pause)
	}
	return earlier(now.Add(pause<<min(p.quiet, maxQuiet)), p.due)
}
