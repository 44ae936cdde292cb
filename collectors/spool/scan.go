package spool

import (
	"encoding/binary"
	"errors"
	"io"
)

// scanner finds the entries of one segment by number. It reads forward once and remembers
// where each entry lies, four bytes an entry, so that an entry that comes back for a second
// attempt costs one read.
type scanner struct {
	r          io.ReaderAt
	maxPayload int
	next       uint64   // number of the entry at pos
	first      uint64   // number of offs[0]
	pos        int64    // where the next entry starts
	offs       []uint32 // offset of each entry so far; 0 marks a damaged one
	buf        []byte
}

// errEnd is the end of the segment's entries; errTorn is an entry that was cut by its end.
var (
	errEnd  = errors.New("end of segment")
	errTorn = errors.New("torn entry")
)

func newScanner(r io.ReaderAt, first uint64, maxPayload int) *scanner {
	return &scanner{r: r, maxPayload: maxPayload, next: first, first: first, pos: headerSize}
}

// read returns the entry with number seq. errDamaged means that its bytes are there but
// wrong, errEnd and errTorn that the segment stops before it; any other error is the disk's.
func (s *scanner) read(seq uint64) (Entry, error) {
	if seq < s.next {
		off := s.offs[seq-s.first]
		if off == 0 {
			return Entry{}, errDamaged
		}
		e, _, err := s.entryAt(int64(off), seq)
		return e, err
	}
	for {
		e, err := s.step()
		if err != nil && !errors.Is(err, errDamaged) {
			return Entry{}, err
		}
		if s.next > seq {
			return e, err
		}
	}
}

// step reads the next entry. Behind a damaged one it looks for the next place that holds a
// whole entry with a later number, and counts what lies between as damaged. Only when there
// is none is the segment over: torn, unless the entry is there in full and merely wrong.
func (s *scanner) step() (Entry, error) {
	e, size, err := s.entryAt(s.pos, s.next)
	switch {
	case err == nil:
		s.offs = append(s.offs, uint32(s.pos))
		s.pos += size
		s.next++
		return e, nil
	case !errors.Is(err, errDamaged) && !errors.Is(err, errTorn):
		return Entry{}, err
	}
	off, seq, rerr := s.resync()
	switch {
	case rerr != nil:
		return Entry{}, rerr
	case seq != 0:
		s.offs = append(s.offs, make([]uint32, seq-s.next)...)
		s.pos, s.next = off, seq
		return Entry{}, errDamaged
	case size == 0:
		return Entry{}, errTorn
	}
	s.offs = append(s.offs, 0)
	s.pos += size
	s.next++
	return Entry{}, errDamaged
}

// resync finds the first whole entry behind pos with a number above next; seq is 0 when
// there is none. The number has to be one that the bytes between leave room for, which
// spares nearly every place the checksum.
func (s *scanner) resync() (off int64, seq uint64, err error) {
	rest, err := io.ReadAll(io.NewSectionReader(s.r, s.pos, maxSegment-s.pos))
	if err != nil {
		return 0, 0, err
	}
	for i := 1; i+frameSize+fixedSize <= len(rest); i++ {
		size := frameSize + int(binary.LittleEndian.Uint32(rest[i:]))
		n := binary.LittleEndian.Uint64(rest[i+frameSize:])
		if size < frameSize+fixedSize || size > len(rest)-i || n <= s.next || n-s.next > uint64(i)/(frameSize+fixedSize)+1 {
			continue
		}
		if got, _, err := decodeEntry(rest[i:i+size], s.maxPayload); err == nil {
			return s.pos + int64(i), got, nil
		}
	}
	return 0, 0, nil
}

// entryAt reads the entry at off, which has to be number want. size is that of the framed
// entry when its length is believable, else 0.
func (s *scanner) entryAt(off int64, want uint64) (e Entry, size int64, err error) {
	var frame [frameSize]byte
	n, err := s.r.ReadAt(frame[:], off)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return Entry{}, 0, errEnd
	case n < frameSize && errors.Is(err, io.EOF):
		return Entry{}, 0, errTorn
	case n < frameSize:
		return Entry{}, 0, err
	}
	body := int64(binary.LittleEndian.Uint32(frame[:]))
	if body < fixedSize || body > int64(s.maxPayload)+fixedSize+maxNode+maxTarget {
		return Entry{}, 0, errDamaged
	}
	size = frameSize + body
	if int64(cap(s.buf)) < size {
		s.buf = make([]byte, size)
	}
	b := s.buf[:size]
	if n, err := s.r.ReadAt(b, off); int64(n) < size {
		if err == io.EOF {
			return Entry{}, 0, errTorn
		}
		return Entry{}, 0, err
	}
	seq, e, err := decodeEntry(b, s.maxPayload)
	if err == nil && seq != want {
		err = errDamaged
	}
	if err != nil {
		return Entry{}, size, errDamaged
	}
	return e, size, nil
}
