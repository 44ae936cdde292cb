// Package crosscheck finds readings that cannot be right, though each is within its range:
// a device that is busy and does nothing, a counter or a page that stands still, an
// exporter that is slower than its scraper.
//
// It is pure, and its memory is bounded: what it says of a scrape hangs on the scrapes of
// the last Memory alone. So a pipeline that starts again and reads those anew says the
// same.
package crosscheck

// Times in ms of event time.
const (
	// Memory is how far back the scrapes lie that an answer hangs on.
	Memory = judged + maxGap
	judged = 240_000 // scrapes that are looked at
	maxGap = 60_000  // two scrapes farther apart are not compared
	hold   = 30_000  // how long a flag stays in force after its cause was last seen
	minute = 60_000  // how long a device must contradict itself
)

// span is how long a condition has held.
type span struct {
	since, until int64 // of the present run; since is 0 when the condition does not hold
	raised       int64 // when the run was last a minute long; 0: never
}

// observe notes whether the condition holds at t, and reports whether it is in force: it
// has held for a minute, or did so lately.
func (s *span) observe(t int64, holds bool) bool {
	switch {
	case !holds:
		s.since = 0
	case s.since == 0 || t-s.until > maxGap:
		s.since = t
	case t-s.since >= minute:
		s.raised = t
	}
	s.until = t
	return s.raised != 0 && t-s.raised <= hold
}
