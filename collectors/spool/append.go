package spool

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// Append numbers e and keeps it; e's payload may be reused afterwards. When it returns nil
// the entry survives the death of the process, and under SyncAlways the loss of power.
// ErrNotDurable says that it was kept in memory only (or, with a number, that its fsync
// failed), ErrRefused that it breaks a limit and was not kept, ErrShare that it was received
// and there is no room for it now. A received entry is never held in memory.
func (s *Spool) Append(e Entry) (seq uint64, err error) {
	if err := e.check(s.opt.MaxPayload); err != nil {
		s.m.refused.Inc()
		return 0, err
	}
	begin := time.Now()
	defer func() { s.m.appendSeconds.Observe(time.Since(begin).Seconds()) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, ErrClosed
	}
	if e.Received && s.bytes+int64(len(e.Payload)) > s.opt.MaxBytes/2 {
		s.m.shared.Inc()
		return 0, ErrShare
	}
	if err := s.write(e); err != nil {
		s.m.failed.Inc()
		s.setFault(err)
		if !e.Received {
			s.memory.push(e)
			s.notify()
		}
		return 0, fmt.Errorf("%w: %w", ErrNotDurable, err)
	}
	s.setFault(nil)
	seq = s.next
	s.next++
	s.segs[len(s.segs)-1].end = s.next
	s.recent = append(s.recent, stamp{seq, begin})
	if len(e.Payload) <= warmBytes {
		e.Payload = slices.Clone(e.Payload)
		s.warm.put(seq, e)
	}
	s.m.appended.Inc()
	return seq, s.offer(seq)
}

// offer makes seq visible as the sync policy has it.
func (s *Spool) offer(seq uint64) error {
	if s.opt.Sync == SyncNone {
		s.visible = s.next
		s.notify()
		return nil
	}
	s.wake()
	if s.opt.Sync != SyncAlways {
		return nil
	}
	for s.visible <= seq && !s.closed {
		s.synced.Wait()
	}
	switch {
	case s.syncErr != nil:
		return fmt.Errorf("%w: %w", ErrNotDurable, s.syncErr)
	case s.visible <= seq:
		return ErrClosed
	}
	return nil
}

// write puts e behind the last entry, as number s.next.
func (s *Spool) write(e Entry) error {
	s.buf = appendEntry(s.buf[:0], s.next, e)
	size := int64(len(s.buf))
	if err := s.makeRoom(size); err != nil {
		return err
	}
	if s.active != nil && s.segs[len(s.segs)-1].size+size > s.opt.SegmentBytes {
		s.rotate()
	}
	if s.active == nil {
		if err := s.begin(); err != nil {
			return err
		}
	}
	seg := s.segs[len(s.segs)-1]
	if _, err := s.active.WriteAt(s.buf, seg.size); err != nil {
		// What stands behind seg.size is overwritten by the next entry, or found torn.
		_ = s.active.Truncate(seg.size)
		return fmt.Errorf("write %d bytes to spool: %w", size, err)
	}
	seg.size += size
	s.bytes += size
	return nil
}

// begin starts a segment at s.next. A segment that holds no entry is taken over.
func (s *Spool) begin() error {
	path := segmentPath(s.dir, s.next)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return fmt.Errorf("begin spool segment: %w", err)
	}
	if _, err := f.WriteAt(segmentHeader(s.next, s.agent), 0); err != nil {
		f.Close()
		os.Remove(path)
		return fmt.Errorf("begin spool segment: %w", err)
	}
	if n := len(s.segs); n > 0 && s.segs[n-1].first == s.next {
		s.bytes -= s.segs[n-1].size
		s.segs = s.segs[:n-1]
	}
	s.segs = append(s.segs, &segment{first: s.next, end: s.next, path: path, size: headerSize})
	s.bytes += headerSize
	s.active, s.renamed = f, true
	return nil
}

// rotate closes the last segment to writing. The keeper syncs and closes the file.
func (s *Spool) rotate() {
	s.full = append(s.full, s.active)
	s.active = nil
	s.wake()
}

// makeRoom drops the oldest segments until size fits under the cap.
func (s *Spool) makeRoom(size int64) error {
	if s.atCap && s.bytes < s.opt.MaxBytes/2 {
		s.atCap = false
		s.log.Info("spool has room again", "dir", s.dir, "dropped", s.journal.dropped)
	}
	for len(s.segs) > 0 && s.bytes+size+headerSize > s.opt.MaxBytes {
		if len(s.segs) == 1 && s.active != nil {
			s.rotate()
		}
		seg := s.segs[0]
		if n := s.giveUp(span{seg.first, seg.end}, "cap"); n > 0 && !s.atCap {
			s.atCap = true
			s.log.Warn("spool is full, the oldest entries are dropped", "dir", s.dir, "max_bytes", s.opt.MaxBytes, "dropped", s.journal.dropped)
		}
		s.wake()
		if err := s.unlink([]*segment{seg}); err != nil {
			return fmt.Errorf("make room in spool: %w", err)
		}
	}
	return nil
}

// setFault logs the turn from a disk that takes entries to one that does not, and back.
func (s *Spool) setFault(err error) {
	switch {
	case err != nil && s.fault == nil:
		s.log.Error("spool cannot be written, entries are held in memory", "dir", s.dir, "err", err, "memory_bytes", s.opt.MemoryBytes)
	case err == nil && s.fault != nil:
		s.log.Info("spool can be written again", "dir", s.dir, "held_in_memory", len(s.memory.held), "dropped_from_memory", s.memory.dropped)
	}
	s.fault = err
}

func (s *Spool) notify() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

func (s *Spool) wake() {
	select {
	case s.work <- struct{}{}:
	default:
	}
}
