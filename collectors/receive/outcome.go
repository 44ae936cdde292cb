package receive

import (
	"fmt"
	"strings"
)

// reason is why something was refused.
type reason uint8

const (
	badSeries   reason = iota // its labels do not make a series, or exceed a limit
	tooOld                    // sample
	tooNew                    // sample
	conflict                  // second value of a series for the same time
	unstorable                // the spool will never take it
	noHistogram               // native histograms are not collected
	noExemplar
	reasons
)

func (r reason) String() string {
	return [...]string{"series", "too_old", "too_new", "conflict", "spool", "histogram", "exemplar"}[r]
}

// says is the reason in the words of an answer.
func (r reason) says() string {
	return [...]string{"samples of series that cannot be stored", "samples that are too old", "samples of the future",
		"samples with another value for the same time", "samples that the spool refused",
		"native histograms, which are not collected", "exemplars, which are not collected"}[r]
}

// outcome is what became of a decoded request.
type outcome struct {
	samples int // of the request
	written int // samples that are durable, and those that a rule drops
	entries int
	refused [reasons]int
	first   error // what was wrong first
}

func (o *outcome) refuse(r reason, n int, err error) {
	o.refused[r] += n
	if o.first == nil && n > 0 {
		o.first = err
	}
}

// bad says that a part of the request was not written and never will be. The first
// version does not know exemplars as something that has to be stored.
func (o *outcome) bad(p protocol) bool {
	for r, n := range o.refused {
		if n > 0 && (reason(r) != noExemplar || p == v2) {
			return true
		}
	}
	return false
}

func (o *outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d samples written; refused:", o.written, o.samples)
	sep := " "
	for r, n := range o.refused {
		if n > 0 {
			fmt.Fprintf(&b, "%s%d %s", sep, n, reason(r).says())
			sep = ", "
		}
	}
	if o.first != nil {
		fmt.Fprintf(&b, "; first: %v", o.first)
	}
	return b.String()
}
