package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Sideline settles a record that the broker will never take. Its payload is kept in the
// directory oversize, beside a text file with the reason, until newer ones need the room;
// it counts as dropped whether or not that succeeds.
func (s *Spool) Sideline(it Item, reason error) error {
	s.mu.Lock()
	if it.Agent == s.memory.agent {
		s.memory.drop(it.Seq)
	} else {
		s.taken.remove(span{it.Seq, it.Seq + 1})
		s.record(recordDrop, span{it.Seq, it.Seq + 1})
	}
	s.m.dropped.WithLabelValues("oversize").Inc()
	s.wake()
	s.mu.Unlock()

	s.sideMu.Lock()
	defer s.sideMu.Unlock()
	if err := s.keepAside(it, reason); err != nil {
		return fmt.Errorf("side-line record %d of %s: %w", it.Seq, it.Target, err)
	}
	return nil
}

func (s *Spool) keepAside(it Item, reason error) error {
	dir := s.path("oversize")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := trim(dir, s.opt.MaxOversize-int64(len(it.Payload))); err != nil {
		return err
	}
	if int64(len(it.Payload)) > s.opt.MaxOversize {
		return fmt.Errorf("%d bytes, cap %d", len(it.Payload), s.opt.MaxOversize)
	}
	base := filepath.Join(dir, fmt.Sprintf("%s-%020d", it.Agent, it.Seq))
	text := fmt.Sprintf("reason: %v\nnode: %s\ntarget: %s\nscrape: %s\nbytes: %d\n", reason,
		it.Node, it.Target, time.UnixMilli(it.Scrape).UTC().Format(time.RFC3339Nano), len(it.Payload))
	return errors.Join(os.WriteFile(base+".txt", []byte(text), 0o640), os.WriteFile(base+".rw2", it.Payload, 0o640))
}

// trim removes the oldest files of dir until the rest fits in room.
func trim(dir string, room int64) error {
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	files := make([]os.FileInfo, 0, len(names))
	total := int64(0)
	for _, n := range names {
		info, err := n.Info()
		if err != nil {
			return err
		}
		files = append(files, info)
		total += info.Size()
	}
	slices.SortStableFunc(files, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= max(room, 0) {
			return nil
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
		total -= f.Size()
	}
	return nil
}
