package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// recover brings the directory's files to one truth: which numbers were given out, which
// of them are settled, and where the others lie.
func (s *Spool) recover() error {
	leftovers, _ := filepath.Glob(s.path("*.new"))
	for _, f := range leftovers {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	segs, err := listSegments(s.dir)
	if err != nil {
		return err
	}
	s.segs = segs
	if s.agent, _, err = agentID(s.dir, segs); err != nil {
		return err
	}
	journal, fresh, why := openJournal(s.dir, s.agent, s.opt.Sync != SyncNone)
	if why != nil {
		s.log.Warn("spool journal is unreadable: its entries are sent again", "dir", s.dir, "err", why)
	}
	s.journal = journal
	if err := s.closeTail(); err != nil {
		return err
	}
	s.next = max(s.journal.next, 1)
	if n := len(segs); n > 0 {
		s.next = max(s.next, segs[n-1].end)
	}
	s.visible = s.next
	s.journal.next = s.next
	s.settleHoles(fresh)
	for _, seg := range s.segs {
		s.bytes += seg.size
	}
	// A full disk must not keep the agent down: the journal in memory is right, and the
	// next record tries again.
	if err := s.journal.rewrite(); err != nil {
		s.log.Warn("spool journal cannot be written", "dir", s.dir, "err", err)
	} else if err := s.unlink(s.reclaimable()); err != nil {
		s.log.Warn("spool segment cannot be removed", "dir", s.dir, "err", err)
	}
	s.log.Info("spool open", "dir", s.dir, "agent", s.agent, "next", s.next,
		"pending", s.journal.settled.missing(span{1, s.next}), "bytes", s.bytes, "dropped", s.journal.dropped)
	return nil
}

// closeTail finds the end of the last segment and cuts a torn entry off it: the process
// died while writing it, before its number was given to anyone.
func (s *Spool) closeTail() error {
	if len(s.segs) == 0 {
		return nil
	}
	last := s.segs[len(s.segs)-1]
	f, err := os.OpenFile(last.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	sc := newScanner(f, last.first, s.opt.MaxPayload)
	for err == nil || errors.Is(err, errDamaged) {
		_, err = sc.step()
	}
	last.end = sc.next
	switch {
	case errors.Is(err, errEnd):
		return nil
	case !errors.Is(err, errTorn):
		return fmt.Errorf("read %s: %w", last.path, err)
	}
	s.log.Warn("spool segment ends in a torn entry, cut off", "segment", last.path, "entry", sc.next, "bytes", last.size-sc.pos)
	s.torn = 1
	if err := f.Truncate(sc.pos); err != nil {
		return err
	}
	last.size = sc.pos
	return f.Sync()
}

// settleHoles settles the numbers that no segment holds. They were dropped with a segment,
// unless the journal was lost too: then those before the first segment were most likely
// acknowledged, and a count that is too low is taken for one that is made up.
func (s *Spool) settleHoles(journalLost bool) {
	at := uint64(1)
	for i, seg := range s.segs {
		if i == 0 && journalLost {
			s.settle(recordAck, span{at, seg.first})
		} else {
			s.settle(recordDrop, span{at, seg.first})
		}
		at = seg.end
	}
	s.settle(recordDrop, span{at, s.next})
}

// settle changes the standing without touching the file.
func (s *Spool) settle(kind byte, sp span) {
	if sp.from >= sp.to {
		return
	}
	if err := s.journal.apply(kind, sp.from, sp.to); err != nil {
		panic("BUG: " + err.Error())
	}
}
