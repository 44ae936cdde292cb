package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// keep syncs what was appended and removes what is settled, until the spool closes. All
// waiting for the disk that need not delay an Append is done here, without the lock.
func (s *Spool) keep() {
	defer close(s.done)
	var pause <-chan time.Time
	for {
		work := s.work
		if pause != nil {
			work = nil
		}
		select {
		case <-s.stop:
			s.sync()
			return
		case <-pause:
			pause = nil
			continue
		case <-work:
		}
		synced := s.sync()
		s.reclaim()
		s.forget()
		if synced && s.opt.Sync == SyncInterval {
			pause = time.After(s.opt.SyncEvery)
		}
	}
}

// sync forces the entries so far to the disk and offers them. When the disk fails them
// they are offered all the same: the kernel still has them, and sending them now is the
// best that is left. The segment is not written any further. It reports whether there was
// anything to force.
func (s *Spool) sync() bool {
	s.mu.Lock()
	full, active, upto := s.full, s.active, s.next
	renamed := s.renamed
	dirty := upto > s.visible && s.opt.Sync != SyncNone
	s.full, s.renamed = nil, false
	s.mu.Unlock()

	begin := time.Now()
	var err error
	for _, f := range full {
		if s.opt.Sync != SyncNone {
			err = errors.Join(err, f.Sync())
		}
		err = errors.Join(err, f.Close())
	}
	if dirty && active != nil {
		err = errors.Join(err, active.Sync())
	}
	if dirty && renamed {
		err = errors.Join(err, syncDir(s.dir))
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if dirty {
		s.m.syncSeconds.Observe(time.Since(begin).Seconds())
	}
	if err != nil {
		err = fmt.Errorf("sync spool: %w", err)
		s.m.syncFailed.Inc()
		if s.active != nil && s.active == active {
			s.rotate()
		}
		if s.syncErr == nil {
			s.log.Error("spool cannot be synced: a power cut would lose entries", "dir", s.dir, "err", err)
		}
	}
	if err == nil && s.syncErr != nil {
		s.log.Info("spool can be synced again", "dir", s.dir)
	}
	s.syncErr = err
	if upto > s.visible {
		s.visible = upto
		s.notify()
	}
	s.synced.Broadcast()
	return dirty
}

// reclaim removes the segments of which every entry is settled. The journal has to be on
// the disk before: otherwise a power cut would leave numbers that count as dropped. Only a
// disk that is too full for the journal is given its room first.
func (s *Spool) reclaim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := s.reclaimable()
	if len(gone) == 0 {
		return
	}
	if s.journal.broken && s.journal.rewrite() != nil {
		s.m.journalFailed.Inc()
		defer func() { _ = s.journal.rewrite() }() // with the room that there is now
	} else if err := s.syncJournal(); err != nil {
		s.log.Warn("spool journal cannot be synced, segments stay", "dir", s.dir, "err", err)
		return
	}
	if err := s.unlink(s.reclaimable()); err != nil {
		s.log.Warn("spool segment cannot be removed", "dir", s.dir, "err", err)
	}
}

// syncJournal syncs the journal without holding mu meanwhile. A journal that was rewritten
// in between has synced itself.
func (s *Spool) syncJournal() error {
	f := s.journal.f
	if f == nil || s.opt.Sync == SyncNone {
		return nil
	}
	s.mu.Unlock()
	err := f.Sync()
	s.mu.Lock()
	if s.journal.f != f {
		return nil
	}
	return err
}

// forget closes the removed segments that were open for reading, so that their bytes leave
// the disk.
func (s *Spool) forget() {
	s.mu.Lock()
	gone := s.gone
	s.gone = nil
	s.mu.Unlock()
	for _, path := range gone {
		s.reader.forget(path)
	}
}

// reclaimable are the segments that hold nothing unsettled, the one that is written
// excepted.
func (s *Spool) reclaimable() []*segment {
	var gone []*segment
	for i, seg := range s.segs {
		if s.active != nil && i == len(s.segs)-1 {
			break
		}
		if s.journal.settled.missing(span{seg.first, seg.end}) == 0 {
			gone = append(gone, seg)
		}
	}
	return gone
}

// unlink removes segments from the directory and from the spool.
func (s *Spool) unlink(gone []*segment) error {
	for _, seg := range gone {
		if err := os.Remove(seg.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.bytes -= seg.size
		s.gone = append(s.gone, seg.path)
		s.segs = slices.DeleteFunc(s.segs, func(have *segment) bool { return have == seg })
	}
	return nil
}
