// Package events finds events in what exporters tell of them: the code of the last one,
// which stays, and counts that grow. It is pure: all that it knows of time comes with the
// scrapes, and what it says hangs on the scrapes of the last Memory alone, so that a
// replay of them says it again.
package events

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Memory is how long a scrape is compared with. After a longer pause the first scrape is
// a state: when its events happened is not known. It spans four scrapes of the exporter
// that is asked least often, at 30 s.
const Memory = 2 * time.Minute

const memory = int64(Memory / time.Millisecond)

// Thing is what is known of one device or switch. The zero value knows nothing. Times are
// unix ms.
type Thing struct {
	seen    int64     // the newest scrape that told of it; 0 before the first
	codes   []float64 // that stood in the scrape of codesAt
	codesAt int64
	counts  map[string]count
	heard   []half
}

// count is a count of events as it was last seen.
type count struct {
	value float64
	at    int64
}

// half is an event that was told of by its code and not yet by its count, or the reverse:
// an exporter does not read both in one moment. What tells of it next is no other event.
type half struct {
	code    string
	byCount bool
	until   int64
}

// Scrape is all that a scrape tells of a thing.
type Scrape struct {
	At     int64     // unix ms
	Coded  bool      // the exporter said which code stands, if only that none does
	Codes  []float64 // those that stand; 0 is none
	Counts []Count
}

// Count is the number of events of a code, in a sliding window or since the exporter
// started.
type Count struct {
	Key   string // names the count among those of the thing
	Label string // what Code is a value of: code, event
	Code  string
	Value float64
	Total bool // since the start: it falls only when the exporter starts again
	Ended bool // the exporter has the count no more
}

// Event is one or several events of a code that came since the scrape before.
type Event struct {
	Label, Code string
	N           float64
	ByCode      bool // only the code of the last one changed: there may have been more
}

// Step compares a scrape with what was known and appends the events that came since.
// A scrape that is not newer than one before tells nothing. What is not known for a
// state's want of a scrape before it is no event.
func (t *Thing) Step(s *Scrape, out []Event) []Event {
	if s.At <= t.seen || !s.alive() {
		return out
	}
	before := t.seen
	t.seen = s.At
	t.heard = slices.DeleteFunc(t.heard, func(h half) bool { return h.until < s.At })
	first := len(out)
	for i := range s.Counts {
		out = t.count(s, &s.Counts[i], before, first, out)
	}
	if s.Coded {
		out = t.code(s, first, out)
	}
	return out
}

// alive says whether the thing is there. When all its series end at once, its exporter
// did not answer: that says nothing of the events.
func (s *Scrape) alive() bool {
	return s.Coded || slices.ContainsFunc(s.Counts, func(c Count) bool { return !c.Ended })
}

func recent(at, before int64) bool { return before != 0 && at-before <= memory }

// count finds the growth of one count. One that falls slid on, or began again.
func (t *Thing) count(s *Scrape, c *Count, before int64, first int, out []Event) []Event {
	was, ok := t.counts[c.Key]
	if c.Ended {
		delete(t.counts, c.Key)
		return out
	}
	if math.IsInf(c.Value, 0) {
		return out // no number of events; and what grows from it is no number at all
	}
	if t.counts == nil {
		t.counts = map[string]count{}
	}
	t.counts[c.Key] = count{c.Value, s.At}
	if ok = ok && recent(s.At, was.at); !ok && !recent(s.At, before) {
		return out
	}
	if !ok {
		was.value = 0 // an exporter has no count of a code without events
	}
	n := c.Value - was.value
	if n < 0 && c.Total {
		n = c.Value
	}
	if n > 0 && t.take(c.Code, false) {
		n--
	}
	if n <= 0 {
		return out
	}
	for i := first; i < len(out); i++ {
		if e := &out[i]; e.Code == c.Code && e.Label == c.Label {
			e.N = max(e.N, n) // two counts of one code tell of the same events
			return out
		}
	}
	if s.Coded && !slices.ContainsFunc(s.Codes, func(v float64) bool { return codeText(v) == c.Code }) {
		t.heard = append(t.heard, half{c.Code, true, before + memory})
	}
	return append(out, Event{Label: c.Label, Code: c.Code, N: n})
}

// code finds the codes that did not stand in the scrape before.
func (t *Thing) code(s *Scrape, first int, out []Event) []Event {
	if recent(s.At, t.codesAt) {
		counted := out[first:]
		for _, v := range s.Codes {
			code := codeText(v)
			if v == 0 || slices.Contains(t.codes, v) ||
				slices.ContainsFunc(counted, func(e Event) bool { return e.Code == code }) || t.take(code, true) {
				continue
			}
			out = append(out, Event{Label: "code", Code: code, N: 1, ByCode: true})
			if len(s.Counts) > 0 {
				t.heard = append(t.heard, half{code, false, t.codesAt + memory})
			}
		}
	}
	t.codes, t.codesAt = append(t.codes[:0], s.Codes...), s.At
	return out
}

// take finds an event that was half told of, and forgets it.
func (t *Thing) take(code string, byCount bool) bool {
	i := slices.IndexFunc(t.heard, func(h half) bool { return h.code == code && h.byCount == byCount })
	if i >= 0 {
		t.heard = slices.Delete(t.heard, i, i+1)
	}
	return i >= 0
}

// codeText is a code as a label has it.
func codeText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
