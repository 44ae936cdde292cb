package scrape

import (
	"fmt"
	"time"

	"sextant/schema/wire"
)

// note counts the scrape and keeps what /targets shows. It logs only when the target's
// state turns.
func (t *target) note(p page, c counts, state wire.State, took time.Duration, err error) {
	t.job.counted(c)
	t.job.read.badLines.Add(float64(p.badLines))
	t.job.read.bytes.Add(float64(max(p.bytes, 0)))
	if p.truncated {
		t.job.read.truncated.Inc()
	}
	t.job.ok[state].Inc()
	if err != nil {
		t.job.failed(reason(err))
	}
	was, now := t.keep(p, c, state, took, err)
	if was.State == now.State && was.root == now.root {
		return
	}
	log := t.log.With("target", t.name)
	switch {
	case state == wire.StateFailed:
		log.Warn("scrape failed", "err", now.Error)
	case state == wire.StatePartial && was.State != now.State:
		log.Warn("scrape is partial", "why", now.Error)
	case state == wire.StateOK && was.State != "unknown":
		log.Info("scrape is whole again", "samples", now.Samples)
	}
}

func (t *target) keep(p page, c counts, state wire.State, took time.Duration, err error) (was, now Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was = t.status
	s := &t.status
	s.State, s.LastScrape, s.Duration = state.String(), time.UnixMilli(t.cache.start).UTC(), took.Seconds()
	s.Samples, s.BadLines, s.Error, s.root = c.kept, p.badLines, "", rootOf(err)
	switch {
	case err != nil:
		s.Error = err.Error()
	case state == wire.StatePartial:
		s.Error = why(p, c)
	}
	return was, *s
}

// why says in words what a partial scrape lacks.
func why(p page, c counts) string {
	switch {
	case p.badLines == 0 && p.firstBad != "":
		return p.firstBad
	case p.badLines > 0:
		return fmt.Sprintf("bad lines: %d, the first is %s", p.badLines, p.firstBad)
	case p.truncated:
		return "the body ended inside a line"
	case c.conflicts > 0:
		return fmt.Sprintf("series with two values for one time: %d", c.conflicts)
	case len(c.refused) > 0:
		return fmt.Sprintf("series left out: %v", c.refused)
	}
	panic("BUG: a scrape is partial for no reason")
}

func (t *target) snapshot() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status
}
