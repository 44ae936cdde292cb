package spool

import (
	"errors"
	"os"
	"slices"
	"sync"
)

// maxReaders bounds the segments that are open for reading: the one that is written, the
// one behind it and the backlog's, and one to spare.
const maxReaders = 4

// reader keeps the segments that are being read. Its lock is never held together with
// waiting for the spool's.
type reader struct {
	maxPayload int

	mu   sync.Mutex
	open []openSegment // guarded by mu; the last used one last
}

type openSegment struct {
	path string
	f    *os.File
	scan *scanner
}

// read returns the entry seq of the segment that begins at first. A segment that is no
// longer there reads as errEnd.
func (r *reader) read(path string, first, seq uint64) (Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seg, err := r.segment(path, first)
	if errors.Is(err, os.ErrNotExist) {
		return Entry{}, errEnd
	}
	if err != nil {
		return Entry{}, err
	}
	return seg.scan.read(seq)
}

func (r *reader) segment(path string, first uint64) (openSegment, error) {
	if i := slices.IndexFunc(r.open, func(s openSegment) bool { return s.path == path }); i >= 0 {
		seg := r.open[i]
		r.open = append(slices.Delete(r.open, i, i+1), seg)
		return seg, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return openSegment{}, err
	}
	if len(r.open) == maxReaders {
		r.open[0].f.Close()
		r.open = slices.Delete(r.open, 0, 1)
	}
	seg := openSegment{path, f, newScanner(f, first, r.maxPayload)}
	r.open = append(r.open, seg)
	return seg, nil
}

// forget closes a segment that was removed, so that its bytes leave the disk.
func (r *reader) forget(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = slices.DeleteFunc(r.open, func(s openSegment) bool {
		if s.path == path {
			s.f.Close()
		}
		return s.path == path
	})
}

func (r *reader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.open {
		s.f.Close()
	}
	r.open = nil
}
