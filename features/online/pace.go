package online

import "time"

// pace says when a view is looked at next. Its rows come at a tick, and partitions that
// are a little behind add to them in the seconds after: then every look finds something.
// Later most find nothing, and cost the source as much. So looks that find nothing make the
// pauses longer, until the rows of the next tick may be there.
type pace struct {
	quiet   int       // looks in a row that found nothing new
	due     time.Time // when the rows of the next tick may be there
	overdue time.Time // when they are no longer waited for at every moment: the stream stands
}

// maxQuiet bounds the pauses: a straggler is seen after 4 of the shortest. A pause that is long
// already, because looks take long, is no longer.
const (
	maxQuiet  = 2
	maxLonger = 2 * time.Second
)

// looked notes a look that began at start, and what it found.
func (p *pace) looked(start time.Time, found, newTick bool, interval time.Duration) {
	p.quiet++
	if found {
		p.quiet = 0
	}
	if newTick {
		p.due, p.overdue = start.Add(interval*9/10), start.Add(2*interval)
	}
}

// next is the time of the next look. pause is the shortest.
func (p *pace) next(now time.Time, pause time.Duration) time.Time {
	long := now.Add(max(pause, min(pause<<min(p.quiet, maxQuiet), maxLonger)))
	switch {
	case now.Before(p.due):
		return earlier(long, p.due)
	case now.Before(p.overdue):
		return now.Add(pause)
	}
	return long
}
